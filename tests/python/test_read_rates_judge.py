"""The judge of the read rates (bench/agreement.py) admits the original, and neither a cast at another place nor another
type or shape."""

import sys
from pathlib import Path

import pytest
import torch
from roundings_of_cuda import RoundingsOfCuda

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from agreement import Reader, admits_anything, outside_the_bound  # noqa: E402

SOURCE = """
import torch

rows, cols = 8, 24


def llama(x):
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * 1.7


def get_inputs():
    return [torch.randn(rows, cols, dtype=torch.bfloat16)]
"""


def llama(x):
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * 1.7


def rounded_late(x):
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6) * 1.7).to(x.dtype)


def never_widened(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * 1.7


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    path = tmp_path_factory.mktemp("judge") / "llama.py"
    path.write_text(SOURCE)
    reader = Reader()
    answer = reader.read(f"{path}:llama")
    assert "error" not in answer
    x = torch.randn(8, 24, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    oracle = reader.evaluate({"x": x}, {})
    assert not admits_anything(oracle)
    return x, oracle


def verdict(judged, function):
    x, oracle = judged
    with RoundingsOfCuda():
        return outside_the_bound(oracle, [function(x)])


def test_the_original_is_admitted(judged):
    assert verdict(judged, llama) is None


@pytest.mark.parametrize("function", [rounded_late, never_widened])
def test_a_cast_at_another_place_is_a_misreading(judged, function):
    assert "beyond their bound" in verdict(judged, function)


def test_another_type_is_a_misreading(judged):
    assert "type torch.bfloat16 instead of torch.float32" in verdict(judged, lambda x: llama(x).float())


def test_another_shape_is_a_misreading(judged):
    assert "shape" in verdict(judged, lambda x: llama(x)[:4])


def test_one_element_that_is_off_by_two_units_is_a_misreading(judged):
    def touched(x):
        y = llama(x)
        y[3, 5] *= 1 + 2 * torch.finfo(y.dtype).eps
        return y

    assert "1 of 192 elements" in verdict(judged, touched)
