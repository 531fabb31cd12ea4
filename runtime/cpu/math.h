// The functions of a kernel on the CPU, by the names of the math, for float and double. Those of floats are
// straight-line code, so that a loop that calls them becomes vector instructions.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "error_function.h"
#include "exponential.h"
#include "trigonometric.h"

namespace kw {

using std::abs;
using std::sqrt;

// Whole numbers are rounded already.
#define KW_ROUNDING(name, of_floats)                    \
  inline float name(float x) { return of_floats(x); }   \
  inline double name(double x) { return of_floats(x); } \
  template <class T>                                    \
  inline T name(T x) {                                  \
    static_assert(std::is_integral_v<T>);               \
    return x;                                           \
  }
KW_ROUNDING(ceil, std::ceil)
KW_ROUNDING(floor, std::floor)
KW_ROUNDING(round_half_even, std::nearbyint)
KW_ROUNDING(trunc, std::trunc)
#undef KW_ROUNDING

// Doubles: the C library's. The same names for floats are in the headers above.
#define KW_OF_DOUBLE(name) \
  inline double name(double x) { return std::name(x); }
KW_OF_DOUBLE(acos)
KW_OF_DOUBLE(acosh)
KW_OF_DOUBLE(asin)
KW_OF_DOUBLE(asinh)
KW_OF_DOUBLE(atan)
KW_OF_DOUBLE(atanh)
KW_OF_DOUBLE(cos)
KW_OF_DOUBLE(cosh)
KW_OF_DOUBLE(erf)
KW_OF_DOUBLE(erfc)
KW_OF_DOUBLE(exp)
KW_OF_DOUBLE(exp2)
KW_OF_DOUBLE(expm1)
KW_OF_DOUBLE(log)
KW_OF_DOUBLE(log1p)
KW_OF_DOUBLE(log2)
KW_OF_DOUBLE(sin)
KW_OF_DOUBLE(sinh)
KW_OF_DOUBLE(tan)
KW_OF_DOUBLE(tanh)
#undef KW_OF_DOUBLE
inline double atan2(double y, double x) { return std::atan2(y, x); }
inline double pow(double x, double y) { return std::pow(x, y); }
// Whole numbers wrap around, as their products do; to a negative power none but 1 and -1 remain.
template <class T>
inline T pow(T x, T y) {
  static_assert(std::is_integral_v<T>);
  if (y < 0) return static_cast<T>(x == 1 ? 1 : x != T(-1) ? 0 : y % 2 == 0 ? 1 : -1);
  uint64_t result = 1, factor = static_cast<uint64_t>(x);
  for (uint64_t left = static_cast<uint64_t>(y); left != 0; left >>= 1, factor *= factor)
    if (left & 1) result *= factor;
  return static_cast<T>(result);
}

// What many numbers are divided by: x / Divisor(d) is x times the reciprocal of d, within 1.5 ulp. A d whose reciprocal
// would leave the normal numbers is brought nearer to 1 first, and x likewise.
template <class T>
class Divisor {
 public:
  explicit Divisor(T d) {
    const T magnitude = std::fabs(d);
    constexpr bool kFloat = sizeof(T) == 4;
    constexpr T kFar = kFloat ? T(0x1p125) : T(0x1p1021), kScale = kFloat ? T(0x1p64) : T(0x1p512);
    power_ = magnitude > kFar ? 1 / kScale : magnitude < 1 / kFar ? kScale : T(1);
    reciprocal_ = 1 / (d * power_);
  }
  template <class X>
  friend X operator/(X x, const Divisor& d) {
    if constexpr (!std::is_arithmetic_v<X>)
      if (d.power_ == 1) return x * d.reciprocal_;  // a branch costs a lane less than a product
    return x * d.power_ * d.reciprocal_;
  }

 private:
  T power_, reciprocal_;
};

template <class T>
inline T rsqrt(T x) {
  return 1 / std::sqrt(x);
}
inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }
inline double erfinv(double x) {
  const double magnitude = std::fabs(x), rest = 1 - magnitude;
  if (!(magnitude < 1)) return magnitude == 1 ? std::copysign(INFINITY, x) : NAN;
  const double log_term = std::log(rest * (1 + magnitude)), half = 4.330746750799873 + log_term / 2;
  double y = std::sqrt(std::sqrt(half * half - log_term / 0.147) - half);
  for (int i = 0; i < 4; ++i) {  // Halley's step, from Winitzki's approximation
    const double error = magnitude < 0.5 ? std::erf(y) - magnitude : rest - std::erfc(y);
    const double newton = error / (1.1283791670955126 * std::exp(-y * y));
    y -= newton / (1 + y * newton);
  }
  return magnitude == 0 ? x : std::copysign(y, x);
}
template <class T>
inline T sign(T x) {
  return static_cast<T>((x > 0) - (x < 0));
}

template <class T>
inline T square(T x) {
  return x * x;
}
template <class T>
inline T cube(T x) {
  return x * x * x;
}

// Towards minus infinity, and what then remains: as Python's // and %.
template <class T>
inline T floor_div(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if (b == -1) return static_cast<T>(0 - static_cast<uint64_t>(a));
    return static_cast<T>(a / b - ((a % b != 0) & ((a < 0) != (b < 0))));
  } else {
    if (b == 0) return a / b;
    const T rest = std::fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(T(0), a / b);
    const T whole = std::floor(quotient);
    return quotient - whole > T(0.5) ? whole + 1 : whole;
  }
}
template <class T>
inline T modulo(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || b == -1) return 0;
    const T rest = static_cast<T>(a % b);
    return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
  } else {
    const T rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
}
template <class T>
inline T shift_left(T x, T by) {
  constexpr T kBits = 8 * sizeof(T);
  return by < 0 || by >= kBits ? T(0) : static_cast<T>(static_cast<uint64_t>(x) << by);
}
template <class T>
inline T shift_right(T x, T by) {
  constexpr T kBits = 8 * sizeof(T);
  return by < 0 || by >= kBits ? static_cast<T>(x < 0 ? -1 : 0) : static_cast<T>(x >> by);
}

}  // namespace kw
