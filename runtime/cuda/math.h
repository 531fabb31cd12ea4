// The functions of a kernel on a GPU, by the names of the math, for float and double. Those that hot loops are made of
// are written here in a few instructions, to an error of two or three units in the last place.
#pragma once

#include "element.h"

namespace kw {

#define KW_FUNCTION(name)                                \
  KW_DEVICE float name(float x) { return ::name##f(x); } \
  KW_DEVICE double name(double x) { return ::name(x); }
KW_FUNCTION(acos)
KW_FUNCTION(acosh)
KW_FUNCTION(asin)
KW_FUNCTION(asinh)
KW_FUNCTION(atan)
KW_FUNCTION(atanh)
KW_FUNCTION(ceil)
KW_FUNCTION(cos)
KW_FUNCTION(cosh)
KW_FUNCTION(erf)
KW_FUNCTION(erfc)
KW_FUNCTION(erfinv)
KW_FUNCTION(exp)
KW_FUNCTION(exp2)
KW_FUNCTION(expm1)
KW_FUNCTION(floor)
KW_FUNCTION(log)
KW_FUNCTION(log1p)
KW_FUNCTION(log2)
KW_FUNCTION(rsqrt)
KW_FUNCTION(sin)
KW_FUNCTION(sinh)
KW_FUNCTION(sqrt)
KW_FUNCTION(tan)
KW_FUNCTION(trunc)
#undef KW_FUNCTION
KW_DEVICE float abs(float x) { return ::fabsf(x); }
KW_DEVICE double abs(double x) { return ::fabs(x); }
template <class T>
KW_DEVICE T abs(T x) {
  return static_cast<T>(x < 0 ? -x : x);
}
KW_DEVICE float atan2(float y, float x) { return ::atan2f(y, x); }
KW_DEVICE double atan2(double y, double x) { return ::atan2(y, x); }
KW_DEVICE float round_half_even(float x) { return ::rintf(x); }
KW_DEVICE double round_half_even(double x) { return ::rint(x); }

KW_DEVICE double reciprocal(double x) { return 1 / x; }

// a / b by a reciprocal, to two units in the last place: where b is the same for many a, it is found once. The product
// is rounded before it is added to anything, as a quotient is: one beyond the largest number is infinite.
KW_DEVICE float divide(float a, float b) {
  const float size = ::fabsf(b);  // a reciprocal must neither be subnormal nor that of a subnormal
  const float scale = size < 0x1p-100f ? 0x1p64f : size > 0x1p100f ? 0x1p-64f : 1.0f;
  const float divisor = b * scale, dividend = a * scale;
  return unfused(dividend * reciprocal(divisor));
}
KW_DEVICE double divide(double a, double b) { return a / b; }

template <class T>
KW_DEVICE T sigmoid(T x) {
  return reciprocal(1 + exp(-x));
}

// Without a branch: near zero by its series, elsewhere by an exponential.
KW_DEVICE float tanh(float x) {
  const float magnitude = ::fabsf(x), square = x * x;
  constexpr float kTwoLog2E = 2.885390082f;
  const float far = ::copysignf(::fmaf(-2.0f, reciprocal_from_one(1 + power_of_two(kTwoLog2E * magnitude)), 1.0f), x);
  float series = -0.005542794708f;
  series = ::fmaf(series, square, 0.02049864829f);
  series = ::fmaf(series, square, -0.05369878188f);
  series = ::fmaf(series, square, 0.1333098859f);
  series = ::fmaf(series, square, -0.3333326876f);
  return magnitude < 0.65f ? ::fmaf(series * square, x, x) : far;
}
KW_DEVICE double tanh(double x) { return ::tanh(x); }

template <class T>
KW_DEVICE T sign(T x) {
  return static_cast<T>((x > 0) - (x < 0));
}
template <class T>
KW_DEVICE T square(T x) {
  return x * x;
}
template <class T>
KW_DEVICE T cube(T x) {
  return x * x * x;
}

template <class T>
inline constexpr bool is_whole = T(1) / T(2) == T(0);

KW_DEVICE float pow(float x, float y) { return ::powf(x, y); }
KW_DEVICE double pow(double x, double y) { return ::pow(x, y); }
// Whole numbers wrap around, as their products do; to a negative power none but 1 and -1 remain.
template <class T>
KW_DEVICE T pow(T x, T y) {
  static_assert(is_whole<T>, "of a narrow float its wide value is the operand");
  if (y < 0) return static_cast<T>(x == 1 ? 1 : x != T(-1) ? 0 : y % 2 == 0 ? 1 : -1);
  uint64_t result = 1, factor = static_cast<uint64_t>(x);
  for (uint64_t left = static_cast<uint64_t>(y); left != 0; left >>= 1, factor *= factor)
    if (left & 1) result *= factor;
  return static_cast<T>(result);
}

// Whole numbers are rounded already.
#define KW_FUNCTION(name)                                                          \
  template <class T>                                                               \
  KW_DEVICE T name(T x) {                                                          \
    static_assert(is_whole<T>, "of a narrow float its wide value is the operand"); \
    return x;                                                                      \
  }
KW_FUNCTION(ceil)
KW_FUNCTION(floor)
KW_FUNCTION(round_half_even)
KW_FUNCTION(trunc)
#undef KW_FUNCTION

KW_DEVICE float fmod(float a, float b) { return ::fmodf(a, b); }
KW_DEVICE double fmod(double a, double b) { return ::fmod(a, b); }
KW_DEVICE float copysign(float size, float sign) { return ::copysignf(size, sign); }
KW_DEVICE double copysign(double size, double sign) { return ::copysign(size, sign); }

// The machine's own division by it may overflow.
template <class T>
KW_DEVICE bool is_minus_one(T x) {
  return T(-1) < T(0) && x == T(-1);
}

// Towards minus infinity, and what then remains: as Python's // and %.
template <class T>
KW_DEVICE T floor_div(T a, T b) {
  if constexpr (is_whole<T>) {
    if (b == 0) return 0;
    if (is_minus_one(b)) return static_cast<T>(0 - static_cast<uint64_t>(a));
    return static_cast<T>(a / b - ((a % b != 0) & ((a < 0) != (b < 0))));
  } else {
    if (b == 0) return a / b;
    const T rest = fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return copysign(T(0), a / b);
    const T whole = floor(quotient);
    return quotient - whole > T(0.5) ? whole + 1 : whole;
  }
}
template <class T>
KW_DEVICE T modulo(T a, T b) {
  if constexpr (is_whole<T>) {
    if (b == 0 || is_minus_one(b)) return 0;
    const T rest = static_cast<T>(a % b);
    return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
  } else {
    const T rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
}
template <class T>
KW_DEVICE T shift_left(T x, T by) {
  constexpr T kBits = 8 * sizeof(T);
  return by < 0 || by >= kBits ? T(0) : static_cast<T>(static_cast<uint64_t>(x) << by);
}
template <class T>
KW_DEVICE T shift_right(T x, T by) {
  constexpr T kBits = 8 * sizeof(T);
  return by < 0 || by >= kBits ? static_cast<T>(x < 0 ? -1 : 0) : static_cast<T>(x >> by);
}

}  // namespace kw
