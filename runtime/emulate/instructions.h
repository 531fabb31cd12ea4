// The emulated twin of runtime/cuda/instructions.h.
#pragma once

#include "thread.h"

// What CUDA's math has beside C's.
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline double erfinv(double x) {
  if (!(x > -1 && x < 1)) return x == 1 ? INFINITY : x == -1 ? -INFINITY : NAN;
  // A first guess from the logarithm's series, then Newton's steps with the second derivative.
  const double l = std::log((1 - x) * (1 + x)), t = 2 / (M_PI * 0.147) + l / 2;
  double y = std::copysign(std::sqrt(std::sqrt(t * t - l / 0.147) - t), x);
  for (int step = 0; step < 4; ++step) {
    const double error = x > 0.5 ? (1 - x) - std::erfc(y) : x < -0.5 ? std::erfc(-y) - (1 + x) : std::erf(y) - x;
    const double newton = error * std::sqrt(M_PI) / 2 * std::exp(y * y);
    y -= newton / (1 + y * newton);
  }
  return y;
}
inline float erfinvf(float x) { return static_cast<float>(erfinv(static_cast<double>(x))); }
// Rounded by themselves: no multiplication and addition of which one is such a call become one.
#define KW_ROUNDED(name, type, expression) \
  [[gnu::noinline]] static type name(type a, type b) { return expression; }
KW_ROUNDED(__fmul_rn, float, a* b)
KW_ROUNDED(__fadd_rn, float, a + b)
KW_ROUNDED(__fsub_rn, float, a - b)
KW_ROUNDED(__fdiv_rn, float, a / b)
KW_ROUNDED(__dmul_rn, double, a* b)
KW_ROUNDED(__dadd_rn, double, a + b)
KW_ROUNDED(__dsub_rn, double, a - b)
KW_ROUNDED(__ddiv_rn, double, a / b)
#undef KW_ROUNDED
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

namespace kw {

KW_DEVICE uint32_t bits_of(float value) { return __builtin_bit_cast(uint32_t, value); }
KW_DEVICE float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }

template <typename F>
KW_DEVICE F unfused(F value) {
  asm("" : "+m"(value));
  return value;
}

KW_DEVICE uint16_t bf16_bits(float value) {
  const uint32_t word = bits_of(value);
  return static_cast<uint16_t>(value != value ? 0x7fffu : (word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
}
KW_DEVICE float bf16_rounded(float value) { return float_of(static_cast<uint32_t>(bf16_bits(value)) << 16); }
KW_DEVICE uint16_t f16_bits(float value) {
  const uint32_t word = bits_of(value), magnitude = word & 0x7fffffffu;
  const uint32_t sign = (word >> 16) & 0x8000u;
  if (magnitude > 0x7f800000u) return 0x7fffu;
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u)  // beside 0.5 the last place of an f32 is that of a subnormal f16: the sum rounds there
    return static_cast<uint16_t>(sign | (bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u));
  return static_cast<uint16_t>(sign | ((magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13));
}
KW_DEVICE float f16_value(uint16_t bits) {
  const uint32_t shifted = (bits & 0x7fffu) << 13;
  const uint32_t magnitude =
      shifted >= (0x7c00u << 13) ? (shifted | 0x7f800000u) : bits_of(float_of(shifted) * 0x1p112f);
  return float_of(magnitude | (bits & 0x8000u) << 16);
}

KW_DEVICE float bf16_value(uint16_t bits) { return float_of(static_cast<uint32_t>(bits) << 16); }

#define KW_PAIRS(name, type, sign)                                                                         \
  KW_DEVICE uint32_t name(uint32_t a, uint32_t b) {                                                        \
    const auto half = [&](int shift) {                                                                     \
      return static_cast<uint32_t>(type##_bits(type##_value(static_cast<uint16_t>(a >> shift))             \
                                                   sign type##_value(static_cast<uint16_t>(b >> shift)))); \
    };                                                                                                     \
    return half(16) << 16 | half(0);                                                                       \
  }
KW_PAIRS(bf16_products, bf16, *)
KW_PAIRS(bf16_sums, bf16, +)
KW_PAIRS(bf16_differences, bf16, -)
KW_PAIRS(f16_products, f16, *)
KW_PAIRS(f16_sums, f16, +)
KW_PAIRS(f16_differences, f16, -)
#undef KW_PAIRS

KW_DEVICE float reciprocal(float x) { return 1 / x; }
// Beyond what they are for, a GPU answers otherwise.
KW_DEVICE float reciprocal_from_one(float x, emulate::Place place = KW_PLACE) {
  if (x < 1) emulate::engine->wrong("reciprocal_from_one of a number below 1", place);
  return 1 / x;
}
KW_DEVICE float power_of_two(float x, emulate::Place place = KW_PLACE) {
  if (x < 0) emulate::engine->wrong("power_of_two of a number below 0", place);
  return std::exp2(x);
}

KW_DEVICE float greater_of(float a, float b) { return (a > b) | (a != a) ? a : b; }
KW_DEVICE float lesser_of(float a, float b) { return (a < b) | (a != a) ? a : b; }

}  // namespace kw
