// Rounding a run of values to the type of a tensor, many at a time. The single conversions are in element.h; these give
// the same bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "element.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace kw {

// Whether kernels compute values of this type in a wider one.
template <class Element>
inline constexpr bool kIsNarrow = std::is_class_v<Element> && !std::is_same_v<wide<Element>, Element>;

// The type that values of an output are computed in.
template <class Element>
using Computed = std::conditional_t<kIsNarrow<Element>, wide<Element>, Element>;

#if defined(__AVX512BW__)
// Sixteen at once: rounded, in the upper halves of words.
inline __m512i rounded_words(const float* from, bf16) {
  const __m512 values = _mm512_loadu_ps(from);
  const __m512i words = _mm512_castps_si512(values);
  const __mmask16 odd = _mm512_test_epi32_mask(words, _mm512_set1_epi32(0x10000));
  const __mmask16 nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
  const __m512i up = _mm512_add_epi32(words, _mm512_set1_epi32(0x7fff));
  const __m512i rounded = _mm512_mask_add_epi32(up, odd, words, _mm512_set1_epi32(0x8000));
  return _mm512_mask_mov_epi32(rounded, nan, _mm512_set1_epi32(0x7fc00000));
}
// Thirty-two at once.
inline __m512i narrowed_by_parts(const float* from, bf16) {
  alignas(64) static constexpr uint16_t kUpper[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                                      33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  return _mm512_permutex2var_epi16(rounded_words(from, bf16()), _mm512_load_si512(kUpper),
                                   rounded_words(from + 16, bf16()));
}
inline __m512i narrowed(const float* from, bf16) {
#if defined(__AVX512BF16__)
  // The machine's own conversion, which takes a subnormal for 0 and keeps some of a NaN's bits.
  constexpr int kSubnormalOrNan = 0x20 | 0x01 | 0x80;
  const __m512 low = _mm512_loadu_ps(from), high = _mm512_loadu_ps(from + 16);
  const __mmask16 unlike = _mm512_fpclass_ps_mask(low, kSubnormalOrNan) | _mm512_fpclass_ps_mask(high, kSubnormalOrNan);
  if (__builtin_expect(unlike == 0, 1)) return __builtin_bit_cast(__m512i, _mm512_cvtne2ps_pbh(high, low));
#endif
  return narrowed_by_parts(from, bf16());
}
inline __m512i narrowed(const float* from, f16) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtps_ph(_mm512_loadu_ps(from), kNearest)),
                            _mm512_cvtps_ph(_mm512_loadu_ps(from + 16), kNearest), 1);
}
template <class Element>
inline constexpr bool kNarrowsByLines = std::is_same_v<Element, bf16> || std::is_same_v<Element, f16>;
#else
template <class Element>
inline constexpr bool kNarrowsByLines = false;
#endif

template <class Element>
inline void narrow(Element* to, const Computed<Element>* from, int64_t n) {
  if constexpr (kIsNarrow<Element>) {
    int64_t i = 0;
#if defined(__AVX512BW__)
    if constexpr (kNarrowsByLines<Element>)
      for (; i + 32 <= n; i += 32) _mm512_storeu_si512(to + i, narrowed(from + i, Element()));
#endif
    for (; i < n; ++i) to[i] = Element(from[i]);
  } else {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(Element));
  }
}

// As many as a line holds.
template <class Element, class Line>
inline Line narrowed_line(const Computed<Element>* from) {
  Line line;
#if defined(__AVX512BW__)
  if constexpr (kNarrowsByLines<Element>) {
    const __m512i both = narrowed(from, Element());
    std::memcpy(&line, &both, sizeof line);
    return line;
  }
#endif
  constexpr int64_t kElements = sizeof(Line) / sizeof(Element);
  if constexpr (kIsNarrow<Element>) {
    Element elements[kElements];
    for (int64_t i = 0; i < kElements; ++i) elements[i] = Element(from[i]);
    std::memcpy(&line, elements, sizeof line);
  } else {
    std::memcpy(&line, from, sizeof line);
  }
  return line;
}

}  // namespace kw
