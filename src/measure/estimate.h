// What a set of timed samples says: their median, and an interval that holds the true median in 95 of 100 cases. The
// interval comes from the samples' order alone, so one slow outlier moves neither.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kw::measure {

struct Estimate {
  double median = 0;  // seconds
  double low = 0, high = 0;
  int samples = 0;

  // The interval's width as a share of the median: what the stop rule looks at.
  double width() const { return median > 0 ? (high - low) / median : 0; }
};

Estimate estimate(std::span<const double> seconds);

// How often something is faster than something else, sample by sample as they were taken in turn: the estimate of the
// ratios. What drifts during the run meets both and cancels.
Estimate ratio(std::span<const double> slower, std::span<const double> faster);

// Whether two are different at all: their intervals do not overlap.
bool differ(const Estimate& a, const Estimate& b);

std::string microseconds(const Estimate& estimate);  // "12.3 µs ± 1.2%"

}  // namespace kw::measure
