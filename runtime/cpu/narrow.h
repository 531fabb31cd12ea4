// Rounding a run of values to the type of a tensor, many at a time. The single conversions are in element.h; these give
// the same bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "element.h"

#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#endif

namespace kw {

// Whether kernels compute values of this type in a wider one.
template <class Element>
inline constexpr bool kIsNarrow = std::is_class_v<Element> && !std::is_same_v<wide<Element>, Element>;

// The type that values of an output are computed in.
template <class Element>
using Computed = std::conditional_t<kIsNarrow<Element>, wide<Element>, Element>;

#if defined(__AVX512F__)
// Sixteen at once.
inline __m256i narrowed(const float* from, bf16) {
  const __m512 values = _mm512_loadu_ps(from);
  const __m512i words = _mm512_castps_si512(values);
  const __mmask16 odd = _mm512_test_epi32_mask(words, _mm512_set1_epi32(0x10000));
  const __mmask16 nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
  const __m512i up = _mm512_add_epi32(words, _mm512_set1_epi32(0x7fff));
  const __m512i rounded = _mm512_mask_add_epi32(up, odd, words, _mm512_set1_epi32(0x8000));
  return _mm512_cvtepi32_epi16(
      _mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, nan, _mm512_set1_epi32(0x7fc00000)), 16));
}
inline __m256i narrowed(const float* from, f16) {
  return _mm512_cvtps_ph(_mm512_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
template <class Element>
inline constexpr bool kNarrowsBySixteen = std::is_same_v<Element, bf16> || std::is_same_v<Element, f16>;
#else
template <class Element>
inline constexpr bool kNarrowsBySixteen = false;
#endif

template <class Element>
inline void narrow(Element* to, const Computed<Element>* from, int64_t n) {
  if constexpr (kIsNarrow<Element>) {
    int64_t i = 0;
#if defined(__AVX512F__)
    if constexpr (kNarrowsBySixteen<Element>)
      for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), narrowed(from + i, Element()));
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
#if defined(__AVX512F__)
  if constexpr (kNarrowsBySixteen<Element>) {
    const __m512i both =
        _mm512_inserti64x4(_mm512_castsi256_si512(narrowed(from, Element())), narrowed(from + 16, Element()), 1);
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
