"""`kw verify --kernel FILE.cu --reference ref.py`: CUDA by hand, as docs/contract.md has it, in the emulation."""

import json
import os

import pytest

REFERENCE = """import torch
def relu(x):
    return torch.relu(x)
def get_inputs():
    return [torch.randn(64, 48)]
"""
RELU = """// relu and its gradient, element by element.
#include "kw/memory.h"

KW_KERNEL(256, 1)
void relu_forward(const float* x, float* y, int64_t n) {
  const int64_t i = static_cast<int64_t>(kw::block()) * kw::threads() + kw::thread();
  if (i >= n) return;
  const float value = kw::load(x + i);
  kw::store(y + i, value <= 0 ? 0.0f : value);
}

KW_KERNEL(256, 1)
void relu_backward(const float* x, const float* d_y, float* grad_x, int64_t n) {
  const int64_t i = static_cast<int64_t>(kw::block()) * kw::threads() + kw::thread();
  if (i >= n) return;
  kw::store(grad_x + i, kw::load(x + i) <= 0 ? 0.0f : kw::load(d_y + i));
}
"""
MATRIX = {"type": "T", "shape": ["rows", "cols"]}


def one_pass(name, output, **inputs):
    """A pass of one kernel over dense matrices, with what its buffers say beside their shape."""
    ((out, said_of_it),) = output.items()
    entry = {
        "symbol": f"relu_{name}",
        "file": "relu.cu",
        "arguments": [
            *({"kind": "read", "of": of} for of in inputs),
            {"kind": "write", "of": out},
            {"kind": "size", "of": "rows * cols"},
        ],
        "guards": [f"dense({of})" for of in inputs],
        "launch": {"grid": ["ceil_div(rows * cols, 256)"], "block": ["256"]},
    }
    buffers = [{"name": of, "role": "input", **MATRIX, **said} for of, said in inputs.items()]
    return {
        "name": name,
        "buffers": [*buffers, {"name": out, "role": "output", **MATRIX, **said_of_it}],
        "steps": [{"kind": "kernel", "entries": [entry]}],
    }


MANIFEST = {
    "schema": 1, "name": "relu", "target": "cuda", "sizes": ["rows", "cols"], "types": {"T": ["f32"]},
    "passes": [
        one_pass("forward", {"y": {}}, x={}),
        one_pass("backward", {"grad_x": {"gradient_of": "x"}}, x={}, d_y={"gradient_of": "y"}),
    ],
}  # fmt: skip


@pytest.fixture
def judge(kw, tmp_path):
    """Gives the exit code and the report of a CUDA file, on a machine that shows no GPU."""
    (tmp_path / "relu.manifest.json").write_text(json.dumps(MANIFEST))
    (tmp_path / "ref.py").write_text(REFERENCE)

    def call(text):
        (tmp_path / "relu.cu").write_text(text)
        run = kw(
            "verify", "--kernel", "relu.cu", "--reference", "ref.py", "--own-types", "--no-timing", "--json",
            env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
        )  # fmt: skip
        assert run.returncode in (0, 1), run.stdout + run.stderr
        return run.returncode, json.loads(run.stdout)

    return call


def outcomes(report):
    return {gate["name"]: gate["outcome"] for gate in report["gates"]}


def test_a_right_kernel_is_verified_in_the_emulation(judge):
    code, report = judge(RELU)
    assert code == 0 and report["passed"], report["gates"]
    assert report["target"] == "cuda" and "emulated" in report["device"]
    hard = {gate["name"] for gate in report["gates"] if gate["hard"]}
    unasked = {name for name in hard if outcomes(report)[name] != "passed"}
    assert unasked <= {"casting", "sanitized", "torch", "strides"}, report["gates"]  # not here, or not without torch


@pytest.mark.parametrize(
    ("right", "wrong", "caught_by"),
    [
        ("value <= 0 ? 0.0f : value", "value > 0 ? value : 0.0f", "error"),  # loses NaN
        ("? 0.0f : kw::load(d_y + i)", "? 0.0f : 1.0f", "error"),
        ("  if (i >= n) return;\n  const", "  const", "outside"),
        ("  if (i >= n) return;\n  const", "  if (i >= n - 1) return;\n  const", "written"),
    ],
    ids=["nan", "gradient", "past the end", "short of the end"],
)
def test_a_wrong_kernel_is_refused_in_the_emulation(judge, right, wrong, caught_by):
    assert RELU.count(right) == 1
    code, report = judge(RELU.replace(right, wrong))
    assert code == 1 and not report["passed"]
    assert outcomes(report)[caught_by] == "failed", report["gates"]
