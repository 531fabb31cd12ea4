#include "ir/interpreter/compare.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ir/interpreter/rounding.h"

namespace kw::ir {
namespace {

using interpreter::gap;
using interpreter::kInfinity;

double share_of(double error, double bound) {
  if (error == 0) return 0;
  if (std::isinf(bound)) return 0;  // anything goes
  return bound == 0 ? kInfinity : error / bound;
}

double in_ulps(DType type, double error, double at) {
  if (error == 0) return 0;
  const double unit = ulp(type, at);
  return unit == 0 ? kInfinity : error / unit;  // an infinite or undefined value, or no floating type
}

// The smallest number that at least 99.9 % of the values do not exceed.
double most(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t rank = (values.size() * 999 + 999) / 1000 - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  return values[rank];
}

std::vector<int64_t> index_of(size_t linear, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  auto rest = static_cast<int64_t>(linear);
  for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
  return index;
}

}  // namespace

ErrorReport compare(const Array& expected, std::span<const double> got, DType type) {
  KW_ASSERT(expected.values.size() == got.size(), "the two results have one shape");
  ErrorReport report;
  report.elements = static_cast<int64_t>(got.size());
  std::vector<double> errors, ulps;
  errors.reserve(got.size());
  ulps.reserve(got.size());
  size_t worst = 0;
  double worst_share = -1;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = gap(got[i], expected.values[i]), bound = expected.bounds.empty() ? 0 : expected.bounds[i];
    errors.push_back(error);
    ulps.push_back(in_ulps(type, error, expected.values[i]));
    if (error > bound) ++report.beyond;
    const double share = share_of(error, bound);
    if (share <= 1) ++report.by_share[static_cast<size_t>(std::ceil(10 * share))];
    if (share > worst_share || (share == worst_share && error > errors[worst])) {
      worst_share = share;
      worst = i;
    }
    report.max_error = std::max(report.max_error, error);
    report.max_ulps = std::max(report.max_ulps, ulps.back());
  }
  if (got.empty()) return report;
  report.max_share = worst_share;
  report.worst = {index_of(worst, expected.shape),
                  got[worst],
                  expected.values[worst],
                  errors[worst],
                  expected.bounds.empty() ? 0 : expected.bounds[worst],
                  ulps[worst]};
  report.error_99_9 = most(std::move(errors));
  report.ulps_99_9 = most(std::move(ulps));
  return report;
}

std::string describe(const ErrorReport& report) {
  std::string text = report.within() ? "all " + std::to_string(report.elements) + " elements are within their bound"
                                     : std::to_string(report.beyond) + " of " + std::to_string(report.elements) +
                                           " elements are beyond their bound";
  if (report.elements == 0) return text;
  std::vector<std::string> index;
  for (int64_t i : report.worst.index) index.push_back(std::to_string(i));
  const ElementError& worst = report.worst;
  return text + "; worst at [" + join(index, ", ") + "]: got " + number_text(worst.got) + ", expected " +
         number_text(worst.expected) + " ± " + number_text(worst.bound) + "; largest error " +
         number_text(report.max_error) + ", 99.9 % within " + number_text(report.ulps_99_9) + " ulps";
}

}  // namespace kw::ir
