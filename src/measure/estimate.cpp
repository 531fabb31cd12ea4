#include "measure/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kw::measure {
namespace {

double median_of(const std::vector<double>& sorted) {
  const size_t n = sorted.size();
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

// The largest k such that the k-th smallest and the k-th largest of n samples enclose the median with at least 95%:
// the number of samples below the median is binomial with p = 1/2. Counted from zero; with too few samples, 0.
size_t enclosing_rank(size_t n) {
  double term = std::pow(0.5, static_cast<double>(n)), below = 0;
  for (size_t k = 0; k < n / 2; ++k) {
    below += term;
    if (2 * below > 0.05) return k == 0 ? 0 : k - 1;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return n / 2;
}

}  // namespace

Estimate estimate(std::span<const double> seconds) {
  Estimate out;
  if (seconds.empty()) return out;
  std::vector<double> sorted(seconds.begin(), seconds.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t k = enclosing_rank(sorted.size());
  out.median = median_of(sorted);
  out.low = sorted[k];
  out.high = sorted[sorted.size() - 1 - k];
  out.samples = static_cast<int>(sorted.size());
  return out;
}

Estimate ratio(std::span<const double> slower, std::span<const double> faster) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(slower.size(), faster.size()); ++i)
    if (faster[i] > 0) ratios.push_back(slower[i] / faster[i]);
  return estimate(ratios);
}

bool differ(const Estimate& a, const Estimate& b) { return a.high < b.low || b.high < a.low; }

std::string microseconds(const Estimate& e) {
  return fmt::format("{:.1f} µs ± {:.1f}%", e.median * 1e6, 50 * e.width());
}

}  // namespace kw::measure
