// The error function, its complement and its inverse, of floats. The error behind each name is the largest that was
// measured, as in exponential.h.
#pragma once

#include "exponential.h"

namespace kw {
namespace detail {

// erf of 0 <= a <= 1 as a P(a^2): minimax, 1e-9.
[[gnu::always_inline]] inline float erf_near(float a) {
  constexpr float kNear[] = {1.1283791e+0f, -3.7612626e-1f, 1.12835854e-1f, -2.6853811e-2f,
                             5.1883273e-3f, -8.010191e-4f,  7.8538535e-5f};
  return a * polynomial(a * a, kNear);
}

}  // namespace detail

[[gnu::always_inline]] inline float erf(float x) {  // 6.7 ulp, where it is near 1
  using namespace detail;
  // x P(x^2)/Q(x^2) up to 3.92: minimax, 2e-8 of the result.
  constexpr float kP[] = {1.12837915e+0f, 1.90391622e-1f, 5.27468189e-2f,
                          3.76500432e-3f, 2.84872871e-4f, 2.05024556e-6f};
  constexpr float kQ[] = {1.0f, 5.02062925e-1f, 1.14103031e-1f, 1.49679767e-2f, 1.16239497e-3f, 3.80928587e-5f};
  const float square = x * x;
  const float quotient = x * polynomial(square, kP) / polynomial(square, kQ);
  return __builtin_fabsf(x) > 3.92f ? with_sign_of(1.0f, x) : quotient;
}

[[gnu::always_inline]] inline float erfc(float x) {  // 3.8 ulp
  using namespace detail;
  // e^(x^2) erfc(x) (2 + x) as a polynomial of (x - 2)/(x + 2), x >= 1/2: minimax, 9e-9.
  constexpr Working kScaled[] = {1.0215827e+0f, -6.8716073e-1f, 2.7947116e-1f,  -3.6441296e-2f, -2.1495761e-2f,
                                 6.4687268e-3f, 3.008578e-3f,   -7.9897209e-4f, -4.8150655e-4f};
  const float a = clamp(__builtin_fabsf(x), 0.0f, 10.2f);
  const Working w = a, u = (w - 2.0f) / (w + 2.0f);
  const float scaled = static_cast<float>(polynomial(u, kScaled) / (w + 2.0f));
  const float square = a * a;
  const float positive = scaled * exp_of_sum(-square, -lost_by_product(a, a, square));
  const float near = erf_near(a);
  const float central = 1.0f - (x < 0.0f ? -near : near);
  return a < 0.65f ? central : (x < 0.0f ? 2.0f - positive : positive);
}

[[gnu::always_inline]] inline float erfinv(float x) {  // 3.4 ulp
  using namespace detail;
  // x P(w - 2.5) or x P(sqrt(w) - 3), w = -ln(1 - x^2): minimax, 1e-7.
  constexpr float kCentral[] = {1.5014094e+0f,  2.4664073e-1f,  -4.1777072e-3f, -1.2537076e-3f, 2.1860194e-4f,
                                -4.3968116e-6f, -3.5288083e-6f, 3.4373238e-7f,  2.8531309e-8f};
  constexpr float kTail[] = {2.832977e+0f, 1.0016742e+0f, 9.435624e-3f, -7.625317e-3f, 5.761789e-3f,
                             -3.66009e-3f, 1.3002258e-3f, 8.605838e-5f, -1.6540672e-4f};
  const float a = __builtin_fabsf(x);
  const float w = -log((1.0f - a) * (1.0f + a));
  const bool tail = w >= 5.0f;
  const float root = __builtin_sqrtf(tail ? w : 9.0f);
  const float factor = tail ? polynomial(root - 3.0f, kTail) : polynomial(w - 2.5f, kCentral);
  const float result = a == 1.0f ? kInfinity : a * factor;
  return with_sign_of(a <= 1.0f ? result : kNan, x);
}

}  // namespace kw
