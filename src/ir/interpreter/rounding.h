// Rounding of computed values to a node's element type, alone and together with the bound that they carry.
//
// A kernel's value lies in [v - spread, v + spread] around the oracle's unrounded v. Both are then rounded: first to
// the type that PyTorch computes in, then to the node's. Rounding is monotone, so the kernel's result lies between the
// two rounded ends, and an element whose whole interval rounds to one number has the bound 0.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "ir/type.h"

namespace kw::ir::interpreter {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// |a - b|, where equal infinities and two NaNs are equal, and NaN is infinitely far from any number.
inline double gap(double a, double b) {
  if (a == b) return 0;
  const double distance = std::fabs(a - b);
  if (std::isnan(distance)) return std::isnan(a) && std::isnan(b) ? 0 : kInfinity;
  return distance;
}

// scale * error, where no error stays none even beside an infinity.
inline double scaled(double scale, double error) { return error == 0 ? 0 : std::fabs(scale) * error; }

// The value after the type's own rounding, through the type that PyTorch computes in.
double round_through(DType type, double value);
void round_values(DType type, double* values, int64_t n);

// Half the distance from 1 to the next number of the type: the relative error of one rounding. 0 for other than floats.
double unit_roundoff(DType type);

// How a computed result relates to its exact value.
enum class Exactness : uint8_t {
  Moved,    // it is one of the operands: nothing is rounded, the bound is the spread
  Correct,  // the kernel rounds the exact function of its operands, as the oracle does
  Fusible,  // like Correct, but a kernel may never have this product: a multiply-add or a longer product takes it in
  Within,   // the kernel's value lies anywhere within the spread, evaluation error included
};

// Rounds `values` and turns `spreads` into bounds, in place.
void round_with_bounds(DType type, Exactness exactness, double* values, double* spreads, int64_t n);

}  // namespace kw::ir::interpreter
