"""`kw verify --target triton` judges Triton kernels as it judges any: what act generates passes every gate in Triton's
interpreter, and files that were made wrong by hand are caught by the gate that should catch them."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KW = ROOT / os.environ.get("BUILD", "build") / "kw"


def kw(workspace, *arguments, code=0):
    finished = subprocess.run(
        [KW, *arguments, "--workspace", workspace, "--json"], capture_output=True, text=True, cwd=ROOT, timeout=900
    )
    assert finished.returncode == code, f"{arguments}: {finished.stdout}\n{finished.stderr}"
    return json.loads(finished.stdout)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workspace")
    for example in ("relu_squared", "rms_norm_llama"):
        kw(folder, "understand", ROOT / "examples" / f"{example}.py", "--name", example)
        kw(folder, "act", example, "--target", "triton", "--yes")
    return folder


def gates(report):
    return {verdict["name"]: verdict["outcome"] for verdict in report["gates"]}


def test_generated_kernels_pass_every_gate(workspace):
    report = kw(workspace, "verify", "relu_squared", "--target", "triton", "--own-types", "--no-timing")
    assert "interpreter of Triton" in report["device"] or "Triton" in report["device"]
    assert "failed" not in gates(report).values()
    assert gates(report)["error"] == "passed"


# what is written in the place of what, and the gate that must fail
WRONG = {
    "a_tail_is_not_written": (" < rows_cols", " < rows_cols - 1", "written"),
    "a_store_without_a_mask": ("chosen * chosen, mask=mask)", "chosen * chosen)", "outside"),
    "another_function": ("chosen * chosen", "chosen * chosen * 1.01", "error"),
    "not_python": ("@triton.jit", "@triton.jit(", "builds"),
    "an_unknown_name": ("tl.load", "tl.laod", "runs"),
    "all_memory": ("import triton\n", "import triton\n\nKEPT = [bytearray(1 << 26) for _ in range(64)]\n", "runs"),
    "no_end": ("import triton\n", "import triton\n\nwhile True:\n    pass\n", "runs"),
}


# What never ends takes as long as a kernel may.
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n == "no_end" else n for n in WRONG])
def test_a_wrong_kernel_is_caught_by_its_gate(workspace, tmp_path, name):
    old, new, gate = WRONG[name]
    folder = tmp_path / "kernels"
    subprocess.run(["cp", "-r", workspace / "kernels", folder], check=True)
    file = folder / "relu_squared" / "act" / "triton" / "relu_squared.py"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    report = kw(tmp_path, "verify", "relu_squared", "--target", "triton", "--own-types", "--no-timing", code=1)
    assert gates(report)[gate] == "failed", gates(report)
