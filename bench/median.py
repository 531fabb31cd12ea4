"""Medians of timed samples, with an interval for the true one, and when there are enough of them: what
src/measure/estimate.h and clock.h are to `kw`, for the benchmarks that time with PyTorch's clocks."""

import statistics
import time

WIDTH = 0.02  # of every interval, as a share of its median
FEWEST = 6  # samples whose whole range holds the true median in 95 of 100 cases: in 96.9, that of five in 93.8
MOST = 4  # rounds of samples, where the intervals stay wider
BUDGET = 2.0  # seconds for all rounds


class Median(float):
    """With `low` and `high`, which hold the true median between them in 95 of 100 cases or more, if there are FEWEST
    samples; of fewer it is the range, and says less. (Of a number of samples that was fixed before: where sampling
    stops as soon as the interval is narrow, it is in somewhat fewer.) It comes from the samples' order alone, so that
    one slow outlier moves neither."""

    def __new__(cls, samples):
        ordered = sorted(samples)
        self = super().__new__(cls, statistics.median(ordered))
        rank = enclosing_rank(len(ordered))
        self.low, self.high, self.samples = ordered[rank], ordered[-1 - rank], len(ordered)
        return self

    def width(self):
        return (self.high - self.low) / self if self > 0 else 0.0

    def is_narrow(self):
        return self.samples >= FEWEST and self.width() <= WIDTH


def enclosing_rank(n):
    """The largest k such that the k-th smallest and the k-th largest of n samples, counted from zero, enclose the
    median with at least 95%; 0 where there is none. How many samples lie below the median is binomial."""
    term, below = 1, 0  # in units of 1 / 2^n: exact for any n
    for k in range(n // 2):
        below += term
        if 2 * below * 20 > 1 << n:  # outside, on either side, in more than one of 20 cases
            return max(0, k - 1)
        term = term * (n - k) // (k + 1)
    return 0


def until_narrow(take, count, most=MOST, budget=BUDGET, clock=time.monotonic):
    """The medians of `count` things. `take()` gives some samples of each: a round. It is asked again until every
    interval is narrow, `most` times at most, and not where one more round would likely end after `budget` seconds."""
    samples, start, rounds = [[] for _ in range(count)], clock(), 0
    while True:
        for all_, more in zip(samples, take(), strict=True):
            all_ += more
        medians, rounds = [Median(one) for one in samples], rounds + 1
        one_more = (clock() - start) * (rounds + 1) / rounds
        if all(m.is_narrow() for m in medians) or rounds >= most or one_more > budget:
            return medians
