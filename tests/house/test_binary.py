"""build/kw must run on any machine with a C library from 2022 on: nothing else is needed at start."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("BUILD", "build")) / "kw"
C_LIBRARY = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
NEWEST = (2, 36)


def readelf(path: Path, *options: str) -> str:
    return subprocess.run(
        ["readelf", "-W", *options, path], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def needed(path: Path) -> set[str]:
    return set(re.findall(r"\(NEEDED\).*\[(.+?)\]", readelf(path, "-d")))


def foreign(libraries: set[str]) -> set[str]:
    return {name for name in libraries - C_LIBRARY if not name.startswith("ld-linux")}


def too_new(symbols: str) -> set[str]:
    found = re.findall(r"(\S+)@+GLIBC_(\d+)\.(\d+)", symbols)
    return {f"{name}@GLIBC_{major}.{minor}" for name, major, minor in found if (int(major), int(minor)) > NEWEST}


def test_the_binary_needs_no_library_but_the_c_library():
    assert "libc.so.6" in needed(BINARY)
    assert foreign(needed(BINARY)) == set()


def test_the_binary_needs_no_symbol_newer_than_glibc_2_36():
    symbols = readelf(BINARY, "--dyn-syms")
    assert "@GLIBC_" in symbols
    assert too_new(symbols) == set()


def test_a_binary_that_needs_more_is_found(tmp_path):
    source = tmp_path / "x.cpp"
    source.write_text("#include <iostream>\nint main() { std::cout << 1; }\n")
    subprocess.run(["g++", source, "-o", tmp_path / "x"], check=True)
    assert "libstdc++.so.6" in foreign(needed(tmp_path / "x"))


@pytest.mark.parametrize("version", ["2.37", "2.38", "3.0"])
def test_a_symbol_that_is_too_new_is_found(version):
    line = f"   3: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND fmod@GLIBC_{version} (4)\n"
    assert too_new(line) == {f"fmod@GLIBC_{version}"}
    assert too_new(line.replace(version, "2.36")) == set()


def test_the_binary_starts_in_an_empty_environment():
    finished = subprocess.run([ROOT / BINARY, "--version"], env={}, capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert re.fullmatch(r"kw \d+\.\d+\.\d+\n", finished.stdout)
