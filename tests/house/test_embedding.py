"""The bytes that the binary carries are the bytes of the files."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = (
    'a;b ${HOME} [[x]] ] "quoted" \\n \\\\ )" R"( ??= \u03b5 \U0001f600\n\n  #define x @y@ \t\nno newline at the end'
)


def test_every_byte_survives(tmp_path):
    files = {"empty.txt": "", "hostile.py": HOSTILE, "long.md": "0123456789abcdef\u03b5\n" * 20_000}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "manifest.txt").write_text("\n".join(files) + "\n")
    generated = tmp_path / "files.cpp"
    subprocess.run(
        ["cmake", f"-DROOT={tmp_path}", f"-DMANIFEST={tmp_path}/manifest.txt", f"-DOUTPUT={generated}", "-P",
         ROOT / "cmake" / "write_embedded.cmake"], check=True,
    )  # fmt: skip
    main = tmp_path / "main.cpp"
    main.write_text(
        '#include <iostream>\n#include "base/embedded.h"\n'
        "int main() { for (const auto& f : kw::embedded::all()) "
        "std::cout << f.path << '\\0' << f.content << '\\0'; }\n"
    )
    subprocess.run(["g++", "-std=c++20", "-I", ROOT / "src", main, generated, "-o", tmp_path / "main"], check=True)
    output = subprocess.run([tmp_path / "main"], capture_output=True, check=True).stdout.decode()
    parts = output.split("\0")[:-1]
    assert dict(zip(parts[::2], parts[1::2], strict=True)) == files
