// What the functions of math.h are made of. All of it is straight-line code: every case is computed and the right one
// selected, so that a loop that calls these functions becomes vector instructions.
#pragma once

#include <cstdint>

namespace kw::detail {

[[gnu::always_inline]] inline uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }
[[gnu::always_inline]] inline float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }
[[gnu::always_inline]] inline uint64_t bits_of(double x) { return __builtin_bit_cast(uint64_t, x); }
[[gnu::always_inline]] inline double double_of(uint64_t bits) { return __builtin_bit_cast(double, bits); }

inline constexpr float kInfinity = __builtin_inff();
inline constexpr float kNan = __builtin_nanf("");

// a*b + c, rounded once where the machine can do so in one instruction.
[[gnu::always_inline]] inline float fma(float a, float b, float c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
[[gnu::always_inline]] inline double fma(double a, double b, double c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// What a long polynomial is evaluated in where its error counts: each step is rounded twice without such an
// instruction.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
using Working = float;
#else
using Working = double;
#endif

// a*b - p for p = a*b rounded: what the rounding has lost, exactly.
[[gnu::always_inline]] inline float lost_by_product(float a, float b, float p) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, -p);
#else
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) - static_cast<double>(p));
#endif
}
[[gnu::always_inline]] inline double lost_by_product(double a, double b, double p) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fma(a, b, -p);
#else
  constexpr double kSplit = 134217729.0;  // 2^27 + 1: each factor in two halves, whose products are exact
  const double ah = a * kSplit - (a * kSplit - a), al = a - ah;
  const double bh = b * kSplit - (b * kSplit - b), bl = b - bh;
  return ((ah * bh - p) + ah * bl + al * bh) + al * bl;
#endif
}

// c[0] + c[1] x + c[2] x^2 + …
template <class X, class T, int N>
[[gnu::always_inline]] inline X polynomial(X x, const T (&c)[N]) {
  X sum = c[N - 1];
#pragma GCC unroll 16
  for (int i = N - 2; i >= 0; --i) sum = fma(sum, x, c[i]);
  return sum;
}

// Where NaN must come out as it went in: a comparison with NaN is false.
[[gnu::always_inline]] inline float clamp(float x, float least, float most) {
  x = x < least ? least : x;
  return x > most ? most : x;
}

[[gnu::always_inline]] inline float magnitude_of(float x) { return __builtin_fabsf(x); }
[[gnu::always_inline]] inline float with_sign_of(float magnitude, float x) { return __builtin_copysignf(magnitude, x); }

// 2^n for -126 <= n <= 127.
[[gnu::always_inline]] inline float power_of_two(int32_t n) { return float_of(static_cast<uint32_t>(n + 127) << 23); }
[[gnu::always_inline]] inline double power_of_two_double(int64_t n) {
  return double_of(static_cast<uint64_t>(n + 1023) << 52);
}

// The nearest whole number of |x| < 2^22, and x as an integer: added to 1.5*2^23, the fraction falls off at the end.
struct Nearest {
  float number;
  int32_t integer;
};
[[gnu::always_inline]] inline Nearest nearest(float x) {
  constexpr float kShift = 12582912.0f;
  const float shifted = x + kShift;
  return {shifted - kShift, static_cast<int32_t>(bits_of(shifted) - bits_of(kShift))};
}

// The nearest whole number of a*b, |a*b| < 2^22, and the last nine bits of it, under others.
template <class F, class Word>
struct NearestBits {
  F number;
  Word bits;
};
template <class F>
[[gnu::always_inline]] inline auto nearest_product(F a, float b) {
  constexpr float kShift = 12582912.0f;
  const F shifted = fma(a, b, kShift);
  return NearestBits<F, decltype(bits_of(shifted))>{shifted - kShift, bits_of(shifted)};
}

// x 2^n, where both are normal numbers. Of n the last nine bits count.
template <class F, class Word>
[[gnu::always_inline]] inline F times_power_of_two(F x, Word n) {
  return float_of(bits_of(x) + (n << 23));
}

struct NearestDouble {
  double number;
  int64_t integer;
};
[[gnu::always_inline]] inline NearestDouble nearest(double x) {  // of |x| < 2^51
  constexpr double kShift = 6755399441055744.0;
  const double shifted = x + kShift;
  return {shifted - kShift, static_cast<int64_t>(bits_of(shifted) - bits_of(kShift))};
}

}  // namespace kw::detail
