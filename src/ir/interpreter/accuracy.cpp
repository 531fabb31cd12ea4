#include "ir/interpreter/accuracy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kw::ir::interpreter {

double ulps_exp(DType, double x, double) { return 2 + 1.173 * std::min(std::fabs(x), 128.0); }

// 1 / (1 + exp(-x)): the share of exp's error that survives the sum, the sum's rounding, the division.
double ulps_sigmoid(DType computed, double x, double) {
  const double share = 1 / (1 + std::exp(x));
  return share * (2 + 2 * ulps_exp(computed, x, 0)) + 3;
}

double ulps_erf(DType computed, double x, double) {
  const double absolute = computed == DType::F32 ? 7e-7 : 0;
  return 2 + absolute / ulp(computed, std::erf(x));
}

double ulps_hyperbolic(DType computed, double x, double) {
  return std::exp(std::fabs(x)) > info(computed).max_finite ? std::numeric_limits<double>::infinity() : 3;
}

double ulps_pow(DType, double, double exponent) {
  if (exponent == 0 || exponent == 1 || exponent == 2) return 0.5;
  const double magnitude = std::fabs(exponent);
  return magnitude <= 4 && 2 * magnitude == std::floor(2 * magnitude) ? 3 : 4;
}

}  // namespace kw::ir::interpreter
