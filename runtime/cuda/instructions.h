// What the language has no word for: single instructions of the machine. The emulation has a twin of this header; the
// headers above it are the same there.
#pragma once

#include "thread.h"

namespace kw {

KW_DEVICE uint32_t bits_of(float value) { return __float_as_uint(value); }
KW_DEVICE float float_of(uint32_t bits) { return __uint_as_float(bits); }

// The same number, of which no sum makes one instruction with the product that it is.
KW_DEVICE float unfused(float value) {
  asm("" : "+f"(value));
  return value;
}
KW_DEVICE double unfused(double value) {
  asm("" : "+d"(value));
  return value;
}

// To nearest, ties to even. Beside a neighbour the compiler makes one instruction of both.
KW_DEVICE uint16_t bf16_bits(float value) {
  uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
// As a float again, in the upper half of its bits: one instruction, and a fast one.
KW_DEVICE float bf16_rounded(float value) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(value), "f"(0.0f));
  return __uint_as_float(pair);
}
KW_DEVICE uint16_t f16_bits(float value) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
KW_DEVICE float f16_value(uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

// Products, sums and differences of both halves of two words, each rounded once.
KW_DEVICE uint32_t bf16_products(uint32_t a, uint32_t b) {
  uint32_t result;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(0x80008000u));  // and -0: the product
  return result;
}
KW_DEVICE uint32_t f16_products(uint32_t a, uint32_t b) {
  uint32_t result;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}

KW_DEVICE uint32_t bf16_sums(uint32_t a, uint32_t b) {
  uint32_t result;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(0x3f803f80u), "r"(b));  // a * 1 + b
  return result;
}
KW_DEVICE uint32_t bf16_differences(uint32_t a, uint32_t b) {
  uint32_t result;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(b), "r"(0xbf80bf80u), "r"(a));  // b * -1 + a
  return result;
}
KW_DEVICE uint32_t f16_sums(uint32_t a, uint32_t b) {
  uint32_t result;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
KW_DEVICE uint32_t f16_differences(uint32_t a, uint32_t b) {
  uint32_t result;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}

// 1 / x, to one unit in the last place.
KW_DEVICE float reciprocal(float x) {
  float result;
  asm("rcp.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
// Likewise for x of at least 1.
KW_DEVICE float reciprocal_from_one(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
// 2^x for x of at least 0, to two units in the last place.
KW_DEVICE float power_of_two(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// The greater and the lesser; NaN if either is.
KW_DEVICE float greater_of(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
KW_DEVICE float lesser_of(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

}  // namespace kw
