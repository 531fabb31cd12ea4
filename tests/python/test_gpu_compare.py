"""What the GPU benchmarks compare with the reference before anything is timed (bench/gpu_manifest.py)."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import gpu_manifest  # noqa: E402
from gpu_manifest import ENOUGH, compare  # noqa: E402


class Results:
    """Of draws of an op that has `y`, `rstd`, which no reference returns, and, as asked, a gradient that is one number:
    a sum that is small beside its terms in the first draw alone. Ours is off by as much in each."""

    def __init__(self, monkeypatch, one_number):
        self.one_number, self.draws, self.seen = one_number, 0, []
        monkeypatch.setattr(gpu_manifest, "results_of", self)

    def __call__(self, op, sizes):
        self.draws += 1
        y = torch.randn(sizes["rows"], 4)
        self.seen.append(float(y[0, 0]))
        exact, ours = {"y": y.double()}, {"y": y, "rstd": y}
        if self.one_number:
            exact["grad_alpha"] = torch.tensor([1e-3 if self.draws == 1 else 1.0], dtype=torch.float64)
            ours["grad_alpha"] = exact["grad_alpha"] + 1e-3
        return ours, exact, exact


def test_tensors_of_many_numbers_are_drawn_once(monkeypatch):
    results = Results(monkeypatch, one_number=False)
    assert compare(None, {"rows": ENOUGH}) == {"y": (0, 0)}
    assert results.draws == 1


def test_one_number_is_compared_over_several_draws(monkeypatch):
    results = Results(monkeypatch, one_number=True)
    errors = compare(None, {"rows": ENOUGH})
    assert results.draws == ENOUGH
    assert errors["grad_alpha"] == (pytest.approx(1e-3 * (ENOUGH / (ENOUGH - 1)) ** 0.5, rel=1e-3), 0)


def test_every_run_draws_the_same(monkeypatch):
    first, second = (Results(monkeypatch, one_number=True) for _ in range(2))
    for results in (first, second):
        monkeypatch.setattr(gpu_manifest, "results_of", results)
        compare(None, {"rows": 3})
    assert first.seen == second.seen and len(set(first.seen)) == ENOUGH
