"""The kernels of every example, whole, to the byte. tools/codegen_diff.py shows differences and updates."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import codegen_diff


@pytest.mark.parametrize("example", codegen_diff.EXAMPLES)
def test_the_kernels_are_as_recorded_to_the_byte(example):
    diffs = codegen_diff.difference(codegen_diff.golden(example), codegen_diff.generate(example))
    text = "\n".join(line for lines in diffs.values() for line in lines)
    assert not diffs, f"{text}\nif that is right: tools/codegen_diff.py --update"


def test_a_commit_has_golden_files_of_its_own():
    files = codegen_diff.golden("swiglu", targets=("cpu",), commit="HEAD")
    assert "cpu/swiglu/manifest.json" in files
    for path, text in files.items():
        shown = ["git", "show", f"HEAD:tests/golden/{path}"]
        assert text == subprocess.run(shown, cwd=codegen_diff.ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("change", [False, True])
def test_the_tool_says_how_many_lines_of_how_many_files_differ(change, monkeypatch, capsys):
    generated = {"cpu/swiglu/a.cpp": "one\n" + "two\n" * change}
    monkeypatch.setattr(codegen_diff, "EXAMPLES", ["swiglu"])
    monkeypatch.setattr(codegen_diff, "generate", lambda example: generated)
    monkeypatch.setattr(codegen_diff, "golden", lambda example, commit: {"cpu/swiglu/a.cpp": "one\n"})
    monkeypatch.setattr(sys, "argv", ["codegen_diff.py", "--stat"])
    assert codegen_diff.main() == int(change)
    said = capsys.readouterr()
    assert said.out == ("cpu/swiglu/a.cpp: +1 -0\n" if change else "")
    assert said.err == f"{int(change)} files differ, +{int(change)} -0 lines\n"


def test_every_golden_folder_is_of_an_example():
    for target in codegen_diff.TARGETS:
        assert sorted(path.name for path in (codegen_diff.GOLDEN / target).iterdir()) == codegen_diff.EXAMPLES


@pytest.mark.parametrize("example", codegen_diff.EXAMPLES)
@pytest.mark.parametrize(
    "env", [{"LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1"}, {"LC_ALL": "C", "OMP_NUM_THREADS": "7", "TZ": "Asia/Tokyo"}]
)
def test_neither_locale_nor_threads_nor_time_zone_reach_the_bytes(example, env):
    assert codegen_diff.generate(example, env={**os.environ, **env}) == codegen_diff.golden(example)


def other_shapes(example, tmp_path):
    """What is measured as the only shape to test, and the largest that is tested as the only one to measure."""
    codegen_diff.kw(tmp_path, "understand", codegen_diff.ROOT / "examples" / f"{example}.py", "--name", example)
    shapes = yaml.safe_load((tmp_path / "kernels" / example / "profile.yaml").read_text())["shapes"]
    text = [
        " ".join(f"{axis}={size}" for axis, size in shape.items())
        for shape in (shapes["measure"][0], max(shapes["test"], key=lambda shape: math.prod(shape.values())))
    ]
    return [f"shapes.test={text[0]}", f"shapes.measure={text[1]}"]


@pytest.mark.parametrize("example", codegen_diff.EXAMPLES)
def test_a_list_of_shapes_does_not_reach_the_bytes(example, tmp_path):
    changes = other_shapes(example, tmp_path)
    assert codegen_diff.generate(example, changes=changes) == codegen_diff.golden(example)
