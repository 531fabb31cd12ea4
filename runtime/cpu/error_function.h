// The error function, its complement and its inverse, of floats: as in exponential.h.
#pragma once

#include "exponential.h"

namespace kw {

namespace detail {

// |x| <= 1, of x^2: erf(x) = x P(x^2), minimax, 1e-9.
[[gnu::always_inline]] inline float erf_near(float square) {
  constexpr float kNear[] = {1.1283791e+0f, -3.7612626e-1f, 1.12835854e-1f, -2.6853811e-2f,
                             5.1883273e-3f, -8.010191e-4f,  7.8538535e-5f};
  return polynomial(square, kNear);
}

}  // namespace detail

[[gnu::always_inline]] inline float erf(float x) {
  using namespace detail;
  // Beyond 1: 1 - e^-Q(|x|), minimax, 1e-9 of the result.
  constexpr float kFar[] = {2.8114716e-4f, 1.1273283e+0f, 6.37758e-1f,   1.03433624e-1f,
                            -2.199013e-2f, 2.984561e-3f,  -1.9002685e-4f};
  const float a = __builtin_fabsf(x), square = x * x;
  const float near = a * erf_near(square);
  const float inside = a > 4.0f ? 4.0f : a;
  const float far = 1.0f - exp(-polynomial(inside, kFar));
  const float magnitude = choose(a > 1.0f, far, near);
  return with_sign_of(choose(x != x, x, magnitude), x);
}

[[gnu::always_inline]] inline float erfc(float x) {
  using namespace detail;
  // e^(x^2) erfc(x) (1 + 2x) as a polynomial of (x - 2)/(x + 2): minimax, 1e-8.
  constexpr float kScaled[] = {1.2769784e+0f, -9.276398e-2f, -1.6603146e-1f, 1.6405542e-1f,  -5.4203883e-2f,
                               -8.060143e-3f, 8.630097e-3f,  1.3133092e-3f,  -1.2280014e-3f, -3.9944882e-4f};
  const float a = clamp(__builtin_fabsf(x), 0.0f, 10.2f);
  const float u = (a - 2.0f) / (a + 2.0f);
  const float scaled = polynomial(u, kScaled) / fma(2.0f, a, 1.0f);
  const double exact = static_cast<double>(a) * static_cast<double>(a);
  const float square = static_cast<float>(exact), lost = static_cast<float>(exact - static_cast<double>(square));
  const float e = exp(-square);
  const float positive = scaled * fma(e, -lost, e);
  const float far = x < 0.0f ? 2.0f - positive : positive;
  return choose(a < 0.5f, 1.0f - x * erf_near(x * x), far);
}

[[gnu::always_inline]] inline float erfinv(float x) {
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
