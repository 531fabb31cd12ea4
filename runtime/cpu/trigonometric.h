// Trigonometric functions of floats and their inverses. The error behind each name is the largest that was measured, as
// in exponential.h.
#pragma once

#include "angle_table.h"
#include "math_bits.h"

namespace kw {
namespace detail {

struct Angle {
  float r, lost;     // r + lost, of which r is the nearest float; |r| <= pi/4
  int32_t quadrant;  // x = quadrant pi/2 + r, up to whole turns
};

// In double, and exact enough for every float: beyond 2^24 a float is a whole number m times 2^e, and m times the angle
// of 2^e is its angle.
[[gnu::always_inline]] inline Angle angle_of(float x) {
  const uint32_t bits = bits_of(x);
  const int32_t e = static_cast<int32_t>((bits >> 23) & 255u) - 150;
  const bool large = e > 0;
  const int64_t row = e < 0 ? 0 : (e > 104 ? 104 : e);
  const float m = with_sign_of(float_of((bits & 0x007fffffu) | 0x4b000000u), x);
  const double factor = large ? m : x;
  const double high = factor * kAngleHigh[row];  // 2^0 is its own angle: 1
  const double low = lost_by_product(factor, kAngleHigh[row], high) + factor * kAngleLow[row];
  const NearestDouble n = nearest(high * 0x1.45f306dc9c883p-1);
  const double turns = n.number * 0x1.921fb54442d18p+0;
  double r = (high - turns) - lost_by_product(n.number, 0x1.921fb54442d18p+0, turns);
  r = fma(n.number, -0x1.1a62633145c07p-54, r) + low;
  const float nearest_r = static_cast<float>(r);
  return {nearest_r, static_cast<float>(r - nearest_r), static_cast<int32_t>(n.integer)};
}

[[gnu::always_inline]] inline float sin_small(float r) {  // minimax, 4e-9
  constexpr float kRest[] = {-1.6666655e-1f, 8.332156e-3f, -1.9514633e-4f};
  const float square = r * r;
  return fma(r * square, polynomial(square, kRest), r);
}
[[gnu::always_inline]] inline float cos_small(float r) {  // minimax, 1e-10
  constexpr float kRest[] = {4.1666646e-2f, -1.388731e-3f, 2.4432415e-5f};
  const float square = r * r, most = fma(-0.5f, square, 1.0f);
  const float lost = fma(-0.5f, square, 1.0f - most) - 0.5f * lost_by_product(r, r, square);
  return most + fma(square * square, polynomial(square, kRest), lost);
}

[[gnu::always_inline]] inline float not_infinite(float x, float result) {
  return __builtin_fabsf(x) < kInfinity ? result : kNan;
}

[[gnu::always_inline]] inline float atan_unit(float x) {  // of 0 <= x <= 1: minimax, 3e-9
  constexpr float kRest[] = {-3.33333e-1f, 1.9998547e-1f,  -1.4264241e-1f, 1.095218e-1f,  -8.4034346e-2f,
                             5.795736e-2f, -3.1177636e-2f, 1.09145045e-2f, -1.7936014e-3f};
  const float square = x * x;
  return fma(x * square, polynomial(square, kRest), x);
}

// The arc of a sine 0 <= s <= 1/2, less s: minimax, 3e-10. For a = |x| beyond 1/2 the sine is that of half the arc that
// is left to a quarter turn; what its root has lost is put back.
struct Arc {
  float s, rest;
};
[[gnu::always_inline]] inline Arc arc_of(float a) {
  constexpr float kRest[] = {1.666666e-1f, 7.50051e-2f, 4.451572e-2f, 3.1818684e-2f, 1.4394804e-2f, 3.758103e-2f};
  const bool large = a > 0.5f;
  const float half = 0.5f * (1.0f - a);
  const float s = large ? __builtin_sqrtf(half) : a;  // NaN beyond 1
  const float square = large ? half : a * a;
  const float lost = large && s > 0.0f ? ((half - s * s) - lost_by_product(s, s, s * s)) / (2.0f * s) : 0.0f;
  return {s, fma(s * square, polynomial(square, kRest), lost)};
}

inline constexpr float kHalfPi = 1.57079637f, kHalfPiLow = -4.37113883e-8f;
inline constexpr float kPi = 3.14159274f, kPiLow = -8.74227766e-8f;

}  // namespace detail

[[gnu::always_inline]] inline float sin(float x) {  // 1.6 ulp
  const detail::Angle angle = detail::angle_of(x);
  const float value = (angle.quadrant & 1) != 0 ? detail::cos_small(angle.r) : detail::sin_small(angle.r);
  const float result = (angle.quadrant & 2) != 0 ? -value : value;
  return detail::not_infinite(x, x == 0.0f ? x : result);
}

[[gnu::always_inline]] inline float cos(float x) {  // 1.6 ulp
  const detail::Angle angle = detail::angle_of(x);
  const float value = (angle.quadrant & 1) != 0 ? detail::sin_small(angle.r) : detail::cos_small(angle.r);
  return detail::not_infinite(x, ((angle.quadrant + 1) & 2) != 0 ? -value : value);
}

[[gnu::always_inline]] inline float tan(float x) {  // 3.0 ulp
  const detail::Angle angle = detail::angle_of(x);
  const float s_r = detail::sin_small(angle.r), c_r = detail::cos_small(angle.r);
  const float s = detail::fma(angle.lost, c_r, s_r), c = detail::fma(-angle.lost, s_r, c_r);
  const bool odd = (angle.quadrant & 1) != 0;
  const float result = (odd ? -c : s) / (odd ? s : c);
  return detail::not_infinite(x, x == 0.0f ? x : result);
}

[[gnu::always_inline]] inline float atan(float x) {  // 1.3 ulp
  const float a = __builtin_fabsf(x);
  const bool large = a > 1.0f;
  const float inner = detail::atan_unit(large ? 1.0f / a : a);
  const float result = large ? detail::kHalfPi - (inner - detail::kHalfPiLow) : inner;
  return detail::with_sign_of(result, x);
}

[[gnu::always_inline]] inline float atan2(float y, float x) {  // 1.5 ulp
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y);
  const bool steep = ay > ax;
  const float most = steep ? ay : ax, least = steep ? ax : ay;
  const float ratio = most == least ? (most == 0.0f ? 0.0f : 1.0f) : least / most;
  float angle = detail::atan_unit(ratio);
  angle = steep ? detail::kHalfPi - (angle - detail::kHalfPiLow) : angle;
  angle = (detail::bits_of(x) >> 31) != 0 ? detail::kPi - (angle - detail::kPiLow) : angle;
  return x != x || y != y ? detail::kNan : detail::with_sign_of(angle, y);
}

[[gnu::always_inline]] inline float asin(float x) {  // 1.5 ulp
  const float a = __builtin_fabsf(x);
  const detail::Arc arc = detail::arc_of(a);
  const float near_one = (detail::kHalfPi - 2.0f * arc.s) - (2.0f * arc.rest - detail::kHalfPiLow);
  return detail::with_sign_of(a > 0.5f ? near_one : arc.s + arc.rest, x);
}

[[gnu::always_inline]] inline float acos(float x) {  // 0.9 ulp
  const float a = __builtin_fabsf(x);
  const detail::Arc arc = detail::arc_of(a);
  const float inner = arc.s + arc.rest;
  const float middle = detail::kHalfPi - (detail::with_sign_of(inner, x) - detail::kHalfPiLow);
  const float near_one = 2.0f * inner;
  const float near_minus_one = detail::kPi - (2.0f * inner - detail::kPiLow);
  return a > 0.5f ? (x < 0.0f ? near_minus_one : near_one) : middle;
}

}  // namespace kw
