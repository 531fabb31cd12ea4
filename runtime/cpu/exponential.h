// Exponentials, logarithms, hyperbolic functions and powers of floats. The error behind each name is the largest that
// was measured against the C library's double function, in units in the last place of the result, over the floats of
// every exponent (tests/unit/device/math_test.cpp); where results are subnormal it counts units of the least number.
#pragma once

#include "lanes.h"
#include "math_bits.h"

namespace kw {
namespace detail {

inline constexpr float kLog2E = 1.44269504f;
inline constexpr float kLn2High = 0.693359375f;  // few bits, so that its product with an exponent is exact
inline constexpr float kLn2Low = -2.12194440e-4f;

struct Reduced {
  float r;    // |r| <= ln(2)/2
  int32_t n;  // x = n ln(2) + r
};
[[gnu::always_inline]] inline Reduced reduce_exponent(float x) {
  const Nearest n = nearest(x * kLog2E);
  return {fma(n.number, -kLn2Low, fma(n.number, -kLn2High, x)), n.integer};
}

// (e^r - 1 - r)/r^2, r in [-ln(2)/2, ln(2)/2]: minimax, 3e-9 of e^r.
template <class F>
[[gnu::always_inline]] inline F exp_rest(F r) {
  constexpr float kRest[] = {4.9999994e-1f, 1.6666515e-1f, 4.1668456e-2f, 8.369419e-3f, 1.3813134e-3f};
  return polynomial(r, kRest);
}
// e^r - 1, likewise: 2e-10.
[[gnu::always_inline]] inline float expm1_small(float r) {
  constexpr float kRest[] = {5.0e-1f, 1.6666666e-1f, 4.166628e-2f, 8.333504e-3f, 1.3945752e-3f, 1.9789266e-4f};
  return fma(r * r, polynomial(r, kRest), r);
}
template <class F>
[[gnu::always_inline]] inline F exp_small(F r) {
  return 1.0f + fma(r * r, exp_rest(r), r);
}

// e^x 2^extra. The power of two is applied in two halves, so that a subnormal result is rounded once.
[[gnu::always_inline]] inline float exp_times_power(float x, int32_t extra) {
  const Reduced reduced = reduce_exponent(clamp(x, -110.0f, 95.0f));
  const int32_t n = reduced.n + extra, half = n >> 1;
  return exp_small(reduced.r) * power_of_two(half) * power_of_two(n - half);
}

// e^(x + rest), rest far smaller than x. What sums lose is carried along: within 0.6 ulp.
[[gnu::always_inline]] inline float exp_of_sum(float x, float rest) {
  const Nearest n = nearest(clamp(x, -110.0f, 95.0f) * kLog2E);
  const float high = fma(n.number, -kLn2High, clamp(x, -110.0f, 95.0f)), low = fma(n.number, -kLn2Low, rest);
  const float r = high + low, r_lost = low - (r - high);
  const float sum = 1.0f + r, sum_lost = r - (sum - 1.0f);
  const float e = sum + (sum_lost + fma(r * r, exp_rest(r), r_lost));
  const int32_t half = n.integer >> 1;
  return e * power_of_two(half) * power_of_two(n.integer - half);
}

// (e^x - 1)/2, which overflows where e^x/2 does.
[[gnu::always_inline]] inline float half_expm1(float x) {
  const Reduced reduced = reduce_exponent(clamp(x, -30.0f, 95.0f));
  const float r = reduced.r;
  const float small = expm1_small(r);
  const int32_t n = reduced.n > 129 ? 129 : reduced.n;
  const float quarter = power_of_two(n - 2);  // of 2^n, which itself may be too large
  const float over = reduced.n > 129 ? kInfinity : 0.0f;
  return 2.0f * fma(small, quarter, quarter - 0.25f) + over;
}

struct Parts {
  float f;  // x = (1 + f) 2^exponent, 1 + f between sqrt(1/2) and sqrt(2)
  float exponent;
};
[[gnu::always_inline]] inline Parts parts_of(float x) {  // of a positive, finite x
  const bool subnormal = x < 1.17549435e-38f;
  const uint32_t bits = bits_of(subnormal ? x * 33554432.0f : x);
  const uint32_t from_root = bits - 0x3f3504f3u;  // sqrt(1/2)
  const int32_t exponent = static_cast<int32_t>(from_root) >> 23;
  const float m = float_of((from_root & 0x007fffffu) + 0x3f3504f3u);
  return {m - 1.0f, static_cast<float>(exponent - (subnormal ? 25 : 0))};
}

// ln(1 + f) - f, for 1 + f between sqrt(1/2) and sqrt(2): minimax, 6e-9 of the logarithm.
[[gnu::always_inline]] inline float log_rest(float f) {
  constexpr float kRest[] = {3.333333e-1f,  -2.5000826e-1f, 2.0001236e-1f, -1.6623147e-1f,
                             1.4201382e-1f, -1.3161993e-1f, 1.2765336e-1f, -7.634303e-2f};
  const float square = f * f;
  return fma(-0.5f, square, f * square * polynomial(f, kRest));
}

// What a logarithm gives outside the positive, finite numbers.
[[gnu::always_inline]] inline float log_special(float x, float result) {
  result = x == kInfinity ? kInfinity : result;
  result = x == 0.0f ? -kInfinity : result;
  return x >= 0.0f ? result : kNan;
}

// Of a float, and of a lane of them. Cases are settled at the end, by two selections: to limit x first would make a
// compiler compute each case by itself.
template <class F>
[[gnu::always_inline]] inline F exp_of(F x) {
  const auto n = nearest_product(x, kLog2E);
  const F r = fma(n.number, -kLn2Low, fma(n.number, -kLn2High, x));
  const F e = times_power_of_two(exp_small(r), n.bits);
  const F finite = choose(x < -87.33654f, F(0.0f), e);
  return choose(x <= 88.72283f, finite, x + kInfinity);  // NaN stays NaN
}
#if KW_HAS_LANES
// The machine scales by a power of two in one instruction, which settles the cases too.
[[gnu::always_inline]] inline Floats exp_of(Floats x) {
  const Floats inside = clamp(x, -105.0f, 89.0f), n = nearest_product(inside, kLog2E).number;
  const Floats r = fma(n, -kLn2Low, fma(n, -kLn2High, inside));
  return scaled(exp_small(r), n);
}
#endif

template <class F>
[[gnu::always_inline]] inline F tanh_of(F x) {
  // |x| < 0.6: x + x^3 P(x^2), minimax, 4e-9. Beyond: 1 - 2/(e^2x + 1), of which the quotient needs few digits.
  constexpr float kNear[] = {-3.3333287e-1f, 1.3331549e-1f, -5.3749118e-2f, 2.0671478e-2f, -5.7430025e-3f};
  const F a = magnitude_of(x), square = x * x;
  const F near = fma(a * square, polynomial(square, kNear), a);
  const auto n = nearest_product(a, 2.0f * kLog2E);
  const F r = fma(n.number, -0.693147182f, a + a);
  const F e = times_power_of_two(exp_small(r), n.bits);
  const F far = 1.0f - 2.0f / (e + 1.0f);
  const F magnitude = choose(a >= 0.6f, far, near);  // NaN stays NaN
  return with_sign_of(choose(a > 10.0f, F(1.0f), magnitude), x);
}

}  // namespace detail

[[gnu::always_inline]] inline float exp(float x) { return detail::exp_of(x); }  // 1.0 ulp; 0 below the normal numbers

[[gnu::always_inline]] inline float exp2(float x) {  // 1.0 ulp
  const float inside = detail::clamp(x, -160.0f, 130.0f);
  const detail::Nearest n = detail::nearest(inside);
  const float r = inside - n.number, half_power = r * 0.693147182f;
  // The product's rounding, and what the constant lacks, are put back by the derivative.
  const float rest = detail::lost_by_product(r, 0.693147182f, half_power) + r * -1.90465421e-9f;
  const float e = detail::exp_small(half_power);
  const int32_t half = n.integer >> 1;
  return detail::fma(e, rest, e) * detail::power_of_two(half) * detail::power_of_two(n.integer - half);
}

[[gnu::always_inline]] inline float expm1(float x) {  // 1.4 ulp
  const float result = detail::with_sign_of(2.0f * detail::half_expm1(x), x);
  return __builtin_fabsf(x) < 1e-30f ? x : result;  // a quarter of a subnormal is not exact
}

[[gnu::always_inline]] inline float log(float x) {  // 0.9 ulp
  const detail::Parts parts = detail::parts_of(x);
  const float low = detail::fma(parts.exponent, detail::kLn2Low, detail::log_rest(parts.f));
  return detail::log_special(x, detail::fma(parts.exponent, detail::kLn2High, low + parts.f));
}

[[gnu::always_inline]] inline float log2(float x) {  // 1.4 ulp
  const detail::Parts parts = detail::parts_of(x);
  const float rest = detail::log_rest(parts.f);
  // (f + rest) log2(e), with log2(e) = 1 + 0.44…, so that the larger part is not rounded.
  const float low = detail::fma(rest, 0.442695041f, detail::fma(parts.f, 0.442695041f, rest));
  return detail::log_special(x, low + parts.f + parts.exponent);
}

[[gnu::always_inline]] inline float log1p(float x) {  // 0.9 ulp
  const float u = 1.0f + x;
  const float lost = x - (u - 1.0f);
  const detail::Parts parts = detail::parts_of(u);
  const float low = detail::fma(parts.exponent, detail::kLn2Low, detail::log_rest(parts.f)) + lost / u;
  const float result = detail::fma(parts.exponent, detail::kLn2High, low + parts.f);
  const float special = detail::log_special(u, result);
  return detail::with_sign_of(x == 0.0f ? 0.0f : special, special != special ? special : x);
}

[[gnu::always_inline]] inline float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }  // 2.5 ulp

[[gnu::always_inline]] inline float tanh(float x) { return detail::tanh_of(x); }  // 1.4 ulp

#if KW_HAS_LANES
[[gnu::always_inline]] inline Floats exp(Floats x) { return detail::exp_of(x); }
[[gnu::always_inline]] inline Floats sigmoid(Floats x) { return 1.0f / (1.0f + exp(-x)); }
[[gnu::always_inline]] inline Floats tanh(Floats x) { return detail::tanh_of(x); }
#endif

[[gnu::always_inline]] inline float sinh(float x) {  // 2.2 ulp
  const float half = detail::half_expm1(__builtin_fabsf(x));
  const float share = half > 1e30f ? 0.5f : half / detail::fma(2.0f, half, 1.0f);
  const float result = detail::with_sign_of(half + share, x);
  return __builtin_fabsf(x) < 1e-30f ? x : result;
}

[[gnu::always_inline]] inline float cosh(float x) {  // 1.4 ulp
  const float half = detail::exp_times_power(__builtin_fabsf(x), -1);
  return half + 0.25f / half;
}

[[gnu::always_inline]] inline float asinh(float x) {  // 1.7 ulp
  const float a = __builtin_fabsf(x), square = a * a;
  const bool large = a > 1e9f;
  const float within = large ? a : a + square / (1.0f + __builtin_sqrtf(square + 1.0f));
  const float result = large ? log(a) + 0.693147182f : log1p(within);
  return detail::with_sign_of(result, x);
}

[[gnu::always_inline]] inline float acosh(float x) {  // 1.8 ulp
  const float t = x - 1.0f;
  const bool large = x > 1e9f;
  const float within = large ? t : t + __builtin_sqrtf(detail::fma(t, t, 2.0f * t));
  const float result = large ? log(x) + 0.693147182f : log1p(within);
  return x >= 1.0f ? result : detail::kNan;
}

[[gnu::always_inline]] inline float atanh(float x) {  // 2.0 ulp
  const float a = __builtin_fabsf(x);
  return detail::with_sign_of(0.5f * log1p(2.0f * a / (1.0f - a)), x);
}

// In double inside: the error of a logarithm grows with the exponent that it is multiplied by.
[[gnu::always_inline]] inline float pow(float x, float y) {  // 0.5 ulp
  using namespace detail;
  constexpr double kLog2[] = {2.8853900817778495,  0.9617966941142779, 0.5770779420729195,
                              0.41220928396440293, 0.3199043205970835, 0.2829209039878699};
  constexpr double kExp2[] = {0.6931471805481959,     0.24022650698113046,   0.05550410935336352,
                              0.009618128615585073,   0.0013333454790840683, 0.00015403825754617623,
                              1.5309175237581057e-05, 1.3178894222265105e-06};
  const float a = __builtin_fabsf(x);
  const Parts parts = parts_of(a == kInfinity ? 1.0f : (a == 0.0f ? 1.0f : a));
  const double m = parts.f, s = m / (m + 2.0);
  const double logarithm = fma(s, polynomial(s * s, kLog2), static_cast<double>(parts.exponent));
  double power = static_cast<double>(y) * logarithm;
  power = power < -200.0 ? -200.0 : power;
  power = power > 200.0 ? 200.0 : power;
  const NearestDouble n = nearest(power);
  const double r = power - n.number;
  const float finite = static_cast<float>(fma(r, polynomial(r, kExp2), 1.0) * power_of_two_double(n.integer));

  const float whole = __builtin_truncf(y), half = 0.5f * whole;
  // 1 for a whole number, 0 for others; infinite y are whole, and even.
  const float wholeness = whole == y ? 1.0f : 0.0f;
  const float odd = half != __builtin_truncf(half) ? wholeness : 0.0f;
  // Zero and infinity, to a power that keeps or inverts them.
  const float kept = y < 0.0f ? 1.0f / a : a;
  float result = a == 0.0f ? kept : finite;
  result = a == kInfinity ? kept : result;
  // An infinite power leaves 1 alone, and sends what is smaller and what is larger apart.
  const float endless = a == 1.0f ? 1.0f : (y < 0.0f ? (a < 1.0f ? kInfinity : 0.0f) : (a < 1.0f ? 0.0f : kInfinity));
  result = __builtin_fabsf(y) == kInfinity ? endless : result;
  const float sign = with_sign_of(1.0f, x);
  // What is negative has no power that is not whole, unless it is zero or infinite.
  const float undefined = a == 0.0f ? 1.0f : (a == kInfinity ? 1.0f : kNan);
  const float factor = odd == 1.0f ? -1.0f : (wholeness == 1.0f ? 1.0f : undefined);
  result = sign < 0.0f ? result * factor : result;
  result = x != x ? x : result;
  result = y != y ? y : result;
  result = y == 0.0f ? 1.0f : result;
  return x == 1.0f ? 1.0f : result;
}

}  // namespace kw
