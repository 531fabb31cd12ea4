// Products, sums and differences of vectors, each element rounded to the vector's type; an operand may be one number
// for all. Those of two narrow numbers are exact in the wide type, or as good as that: rounding them to it first
// changes nothing, and a pair of neighbours takes one instruction.
#pragma once

#include "memory.h"

namespace kw {

template <class T, int N>
KW_DEVICE wide<T> operand_of(const Vector<T, N>& vector, int k) {
  return vector[k];
}
template <class T>
KW_DEVICE wide<T> operand_of(T all, int) {
  return all;
}
template <class T, int N>
KW_DEVICE uint32_t pair_of(const Vector<T, N>& vector, int i) {
  return vector.pair(i);
}
template <class T>
KW_DEVICE uint32_t pair_of(T all, int) {
  return all.bits * 0x10001u;
}

#define KW_OF_VECTORS(names, sign)                                                                         \
  KW_DEVICE uint32_t pair_##names(bf16, uint32_t a, uint32_t b) { return bf16_##names(a, b); }             \
  KW_DEVICE uint32_t pair_##names(f16, uint32_t a, uint32_t b) { return f16_##names(a, b); }               \
  template <class T, int N, class A, class B>                                                              \
  KW_DEVICE Vector<T, N> names(const A& a, const B& b, bool whole) {                                       \
    Vector<T, N> result;                                                                                   \
    if constexpr (is_half<T> && N % 2 == 0) {                                                              \
      KW_UNROLL                                                                                            \
      for (int i = 0; i < N / 2; ++i) result.set_pair(i, pair_##names(T(), pair_of(a, i), pair_of(b, i))); \
    } else {                                                                                               \
      KW_UNROLL                                                                                            \
      for (int k = 0; k < (whole ? N : 1); ++k)                                                            \
        result[k] = T(static_cast<wide<T>>(operand_of(a, k)) sign static_cast<wide<T>>(operand_of(b, k))); \
    }                                                                                                      \
    return result;                                                                                         \
  }
KW_OF_VECTORS(products, *)
KW_OF_VECTORS(sums, +)
KW_OF_VECTORS(differences, -)
#undef KW_OF_VECTORS

// To another type, which is often the same.
template <class T, int N, class From>
KW_DEVICE Vector<T, N> rounded(const Vector<From, N>& vector, bool whole) {
  if constexpr (is_same<T, From>) {
    return vector;
  } else {
    Vector<T, N> result;
    KW_UNROLL
    for (int k = 0; k < (whole ? N : 1); ++k) result[k] = T(static_cast<wide<T>>(wide<From>(vector[k])));
    return result;
  }
}

}  // namespace kw
