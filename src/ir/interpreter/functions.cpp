#include "ir/interpreter/functions.h"

namespace kw::ir::interpreter {

// A rational start (Winitzki), then Halley's method on erf or, near the ends, on erfc, which keeps its digits there.
double erfinv(double x) {
  if (!(std::fabs(x) <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (std::fabs(x) == 1) return std::copysign(kInfinity, x);
  if (x == 0) return x;
  const double magnitude = std::fabs(x), rest = 1 - magnitude;  // exact: both are multiples of one ulp below 1
  const double log_term = std::log(rest * (1 + magnitude));
  constexpr double kShape = 0.147;
  const double half = 2 / (kPi * kShape) + log_term / 2;
  double y = std::sqrt(std::sqrt(half * half - log_term / kShape) - half);
  for (int i = 0; i < 4; ++i) {
    const double error = magnitude < 0.5 ? std::erf(y) - magnitude : rest - std::erfc(y);
    const double newton = error / (2 / std::sqrt(kPi) * std::exp(-y * y));
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

int64_t pow_of_integers(double base, double exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return std::fmod(exponent, 2) == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(static_cast<int64_t>(base));
  for (uint64_t left = static_cast<uint64_t>(exponent); left; left >>= 1, factor *= factor)
    if (left & 1) result *= factor;
  return static_cast<int64_t>(result);
}

double pow_spread(double a, double ea, double b, double eb, double v) {
  const bool whole_exponent = eb == 0 && b == std::floor(b);
  if (a - ea < 0 && !whole_exponent) return kInfinity;
  double widest = 0;
  for (double ca : {a - ea, a + ea})
    for (double cb : {b - eb, b + eb}) widest = std::max(widest, gap(std::pow(ca, cb), v));
  // Monotone in each operand on either side of zero, so that only zero itself can exceed the corners.
  if (std::fabs(a) <= ea) widest = b - eb > 0 ? std::max(widest, std::fabs(v)) : kInfinity;
  return widest;
}

}  // namespace kw::ir::interpreter
