// How far a kernel's result is from the oracle's: the numbers of a report, and whether every element is within its
// bound.
#pragma once

#include <array>
#include <span>
#include <string>

#include "ir/interpreter/interpreter.h"

namespace kw::ir {

struct ElementError {
  std::vector<int64_t> index;
  double got = 0, expected = 0;
  double error = 0;  // |got - expected|; infinite where only one of the two is NaN or infinite
  double bound = 0;
  double ulps = 0;  // of the type at the expected value
};

// How many elements have which share of their bound: none of it, then up to each tenth. Those beyond it are not in it.
using ShareHistogram = std::array<int64_t, 11>;

struct ErrorReport {
  int64_t elements = 0;
  int64_t beyond = 0;  // of them farther off than their bound
  double max_error = 0, max_ulps = 0;
  double error_99_9 = 0, ulps_99_9 = 0;  // 99.9 % of the elements are at most this far off
  double max_share = 0;                  // the largest error / bound; infinite where an exact element differs
  ElementError worst;                    // the element with the largest share of its bound
  ShareHistogram by_share{};

  bool within() const { return beyond == 0; }
};

// `expected` comes from `interpret`; without bounds every element must be equal. `got` is row-major in the same shape.
ErrorReport compare(const Array& expected, std::span<const double> got, DType type);

// "3 of 4096 elements are beyond their bound; worst at [1, 7]: got 0.5, expected 0.25 ± 0.001 (…)"
std::string describe(const ErrorReport& report);

}  // namespace kw::ir
