"""The benchmarks' medians (bench/median.py): how often an interval holds the true one, and when sampling ends."""

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from median import FEWEST, MOST, WIDTH, Median, enclosing_rank, until_narrow  # noqa: E402


def coverage(n, rank):
    """How often the rank-th smallest and the rank-th largest of n samples enclose the median."""
    return 1 - 2 * sum(math.comb(n, k) for k in range(rank + 1)) / 2**n


def test_the_interval_holds_the_median_in_95_of_100_cases_and_no_narrower_one_does():
    for n in [*range(FEWEST, 400), 1000]:
        rank = enclosing_rank(n)
        assert coverage(n, rank) >= 0.95 > coverage(n, rank + 1), n


def test_of_fewer_samples_it_is_the_range_which_says_less():
    assert all(enclosing_rank(n) == 0 for n in range(1, FEWEST + 1))
    assert coverage(FEWEST - 1, 0) == 0.9375
    assert coverage(FEWEST, 0) > 0.95


def test_thousands_of_samples_have_an_interval_too():
    n = 5000
    assert enclosing_rank(n) == pytest.approx(n / 2 - 0.98 * math.sqrt(n), abs=2)


def test_one_slow_sample_moves_neither_the_median_nor_its_interval():
    usual, disturbed = Median(range(100, 120)), Median([*range(100, 119), 10**6])
    assert (usual, usual.low, usual.high) == (disturbed, disturbed.low, disturbed.high) == (109.5, 105, 114)
    assert usual.width() == pytest.approx(9 / 109.5)


def test_a_median_is_a_number():
    assert Median([3, 1, 2]) * 2 == 4
    assert (Median([0, 0]).width(), Median([7]).low, Median([7]).high) == (0, 7, 7)


class Rounds:
    """Gives what it is made of, round by round, and takes some seconds for each."""

    def __init__(self, *rounds, seconds=0.0):
        self.rounds, self.seconds, self.taken = rounds, seconds, 0

    def __call__(self):
        self.taken += 1
        return [list(one) for one in self.rounds[min(self.taken, len(self.rounds)) - 1]]

    def clock(self):
        return self.taken * self.seconds


NARROW, WIDE = [100.0] * 10, [50.0, 150.0] * 5


def test_sampling_ends_when_every_interval_is_narrow():
    take = Rounds([NARROW, WIDE], [NARROW, NARROW * 5])
    first, second = until_narrow(take, 2)
    assert take.taken == 2
    assert (first.samples, second.samples) == (20, 60)
    assert max(first.width(), second.width()) <= WIDTH


def test_samples_that_agree_but_are_too_few_are_not_enough():
    take = Rounds([[100.0] * (FEWEST - 1)])
    assert until_narrow(take, 1)[0].samples == 2 * (FEWEST - 1)


def test_sampling_ends_after_the_most_rounds():
    take = Rounds([NARROW, WIDE])
    assert until_narrow(take, 2)[1].width() > WIDTH
    assert take.taken == MOST
    take = Rounds([NARROW, WIDE])
    until_narrow(take, 2, most=1)
    assert take.taken == 1


def test_no_round_begins_that_would_end_after_the_budget():
    take = Rounds([WIDE], seconds=1.0)
    until_narrow(take, 1, most=math.inf, budget=7.5, clock=take.clock)
    assert take.taken == 7


def test_one_round_is_taken_whatever_it_costs():
    take = Rounds([WIDE], seconds=100.0)
    assert until_narrow(take, 1, budget=1.0, clock=take.clock)[0].samples == len(WIDE)
