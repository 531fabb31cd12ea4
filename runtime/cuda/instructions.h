// What the language has no word for: single instructions of the machine. The emulation has a twin of this header; the
// headers above it are the same there.
#pragma once

#include "thread.h"

namespace kw {

KW_DEVICE uint32_t bits_of(float value) { return __float_as_uint(value); }
KW_DEVICE float float_of(uint32_t bits) { return __uint_as_float(bits); }

// To nearest, ties to even.
KW_DEVICE uint16_t bf16_bits(float value) {
  uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
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

// 1 / x, to one unit in the last place.
KW_DEVICE float reciprocal(float x) {
  float result;
  asm("rcp.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace kw
