"""A number divided by a tensor rounds twice in PyTorch, the reciprocal and its product with the number; both readers
say so, to the bit."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import torch
from example_eval import NAMES
from graph_eval import array, run_both

TOOL = Path(__file__).resolve().parents[2] / os.environ.get("BUILD", "build") / "example_eval"
QUOTIENTS = ["3.0 / x", "0.3 / x", "1 / x", "1.0 / (1.0 + x)", "x.shape[0] / x", "7 / x / x"]
both_types = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=lambda d: NAMES[d])


def numbers(dtype):
    return torch.linspace(0.51, 9.7, 509).to(dtype)


def differs_from_one_rounding(x):
    return int((3.0 / x != (3.0 / x.float()).to(x.dtype)).sum())


@both_types
def test_one_rounding_and_two_differ_on_these_numbers(dtype):
    assert differs_from_one_rounding(numbers(dtype)) > 50


@both_types
@pytest.mark.parametrize("quotient", QUOTIENTS)
def test_the_static_reader_rounds_where_pytorch_does(quotient, dtype, tmp_path):
    x = numbers(dtype)
    path = tmp_path / "op.py"
    path.write_text(
        f"import torch\n\nn = {len(x)}\n\n\ndef op(x):\n    return {quotient}\n\n\n"
        f"def get_inputs():\n    return [torch.randn(n, dtype={dtype})]\n"
    )
    call = {"inputs": {"x": array(x)}, "sizes": {}}
    run = subprocess.run([TOOL, f"{path}:op", "rounded"], input=json.dumps(call), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    (ours,) = json.loads(run.stdout)["outputs"].values()
    assert ours["values"] == eval(quotient).double().tolist()


@both_types
@pytest.mark.parametrize("quotient", QUOTIENTS)
def test_the_exported_graph_rounds_where_pytorch_does(quotient, dtype, tmp_path):
    function = eval(f"lambda x: {quotient}")
    (ours, _), (theirs, _) = run_both(function, [numbers(dtype)], "rounded", tmp_path)
    assert torch.equal(ours[0], theirs[0])
