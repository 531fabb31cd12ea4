// Sixteen neighbouring elements at once, where the machine has registers for them: the body of an innermost loop is
// written once, and is called with a Lane for up to sixteen elements or with an index for a single one. What a compiler
// would not make of the single conversions, the instructions that convert and round 16-bit floats, is written out here;
// the results are the same to the bit.
#pragma once

#include <cstdint>
#include <type_traits>

#include "element.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define KW_HAS_LANES 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12 warns of what these leave open on purpose
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#else
#define KW_HAS_LANES 0
#endif

// A body that is a function of its own would find its variables in memory.
#define KW_INLINE __attribute__((always_inline))

namespace kw {

inline constexpr int64_t kLanes = 16;

// Of the elements [at, at + kLanes) of the innermost axis those whose bit is set. What is computed of the others is
// computed of zeros, and written nowhere.
struct Lane {
  int64_t at;
  uint16_t mask;
  static constexpr uint16_t kWhole = 0xffff;
  friend Lane operator+(Lane lane, int64_t n) { return {lane.at + n, lane.mask}; }
  friend Lane operator+(int64_t n, Lane lane) { return {lane.at + n, lane.mask}; }
  friend Lane operator-(Lane lane, int64_t n) { return {lane.at - n, lane.mask}; }
};

template <class Element>
inline constexpr bool kFitsLane =
    std::is_same_v<Element, float> || std::is_same_v<Element, bf16> || std::is_same_v<Element, f16>;
// Whether a loop over elements of these types goes by lanes.
template <bool kUnit, class... Elements>
inline constexpr bool kByLanes = KW_HAS_LANES&& kUnit && (kFitsLane<Elements> && ...);

#if KW_HAS_LANES
struct Floats {
  __m512 v;
  KW_INLINE Floats() = default;
  KW_INLINE Floats(__m512 values) : v(values) {}
  KW_INLINE Floats(float value) : v(_mm512_set1_ps(value)) {}
};
struct Truths {
  __mmask16 m;
};
struct Words {
  __m512i v;
};

KW_INLINE inline Floats operator+(Floats a, Floats b) { return _mm512_add_ps(a.v, b.v); }
KW_INLINE inline Floats operator-(Floats a, Floats b) { return _mm512_sub_ps(a.v, b.v); }
KW_INLINE inline Floats operator*(Floats a, Floats b) { return _mm512_mul_ps(a.v, b.v); }
KW_INLINE inline Floats operator/(Floats a, Floats b) { return _mm512_div_ps(a.v, b.v); }
KW_INLINE inline Floats operator-(Floats a) { return _mm512_xor_ps(a.v, _mm512_set1_ps(-0.0f)); }
KW_INLINE inline Truths operator<(Floats a, Floats b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
KW_INLINE inline Truths operator<=(Floats a, Floats b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)}; }
KW_INLINE inline Truths operator>(Floats a, Floats b) { return b < a; }
KW_INLINE inline Truths operator>=(Floats a, Floats b) { return b <= a; }
KW_INLINE inline Truths operator==(Floats a, Floats b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)}; }
KW_INLINE inline Truths operator!=(Floats a, Floats b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_NEQ_UQ)}; }
KW_INLINE inline Truths operator&(Truths a, Truths b) { return {static_cast<__mmask16>(a.m & b.m)}; }
KW_INLINE inline Truths operator|(Truths a, Truths b) { return {static_cast<__mmask16>(a.m | b.m)}; }
KW_INLINE inline Truths operator^(Truths a, Truths b) { return {static_cast<__mmask16>(a.m ^ b.m)}; }
KW_INLINE inline Truths all_are(bool a) { return {static_cast<__mmask16>(a ? 0xffff : 0)}; }
KW_INLINE inline Truths operator&(Truths a, bool b) { return a & all_are(b); }
KW_INLINE inline Truths operator&(bool a, Truths b) { return all_are(a) & b; }
KW_INLINE inline Truths operator|(Truths a, bool b) { return a | all_are(b); }
KW_INLINE inline Truths operator|(bool a, Truths b) { return all_are(a) | b; }
KW_INLINE inline Truths operator^(Truths a, bool b) { return a ^ all_are(b); }
KW_INLINE inline Truths operator^(bool a, Truths b) { return all_are(a) ^ b; }
KW_INLINE inline Truths operator!(Truths a) { return {static_cast<__mmask16>(~a.m)}; }
KW_INLINE inline Words operator+(Words a, Words b) { return {_mm512_add_epi32(a.v, b.v)}; }
KW_INLINE inline Words operator<<(Words a, unsigned n) { return {_mm512_slli_epi32(a.v, n)}; }

KW_INLINE inline Floats choose(Truths which, Floats a, Floats b) { return _mm512_mask_mov_ps(b.v, which.m, a.v); }
KW_INLINE inline Floats choose(bool which, Floats a, Floats b) { return which ? a : b; }
KW_INLINE inline Truths choose(Truths which, Truths a, Truths b) { return (which & a) | (!which & b); }
KW_INLINE inline Floats abs(Floats a) { return _mm512_abs_ps(a.v); }
KW_INLINE inline Floats sqrt(Floats a) { return _mm512_sqrt_ps(a.v); }
KW_INLINE inline Floats rsqrt(Floats a) { return Floats(1.0f) / sqrt(a); }
KW_INLINE inline Floats maximum(Floats a, Floats b) { return choose((a > b) | (a != a), a, b); }
KW_INLINE inline Floats minimum(Floats a, Floats b) { return choose((a < b) | (a != a), a, b); }

// By the names of math_bits.h.
KW_INLINE inline Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a.v, b.v, c.v); }
KW_INLINE inline Words bits_of(Floats a) { return {_mm512_castps_si512(a.v)}; }
KW_INLINE inline Floats float_of(Words a) { return _mm512_castsi512_ps(a.v); }
KW_INLINE inline Floats magnitude_of(Floats a) { return abs(a); }
KW_INLINE inline Floats with_sign_of(Floats magnitude, Floats x) {
  constexpr int kSelect = 0xca;  // of the first where the bit is set, else of the second
  const __m512i sign = _mm512_set1_epi32(INT32_MIN);
  return _mm512_castsi512_ps(
      _mm512_ternarylogic_epi32(sign, _mm512_castps_si512(x.v), _mm512_castps_si512(magnitude.v), kSelect));
}

// ---- elements ----
KW_INLINE inline Floats load_lane(const float* from, uint16_t mask) { return _mm512_maskz_loadu_ps(mask, from); }
KW_INLINE inline Floats load_lane(const bf16* from, uint16_t mask) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, from)), 16));
}
KW_INLINE inline Floats load_lane(const f16* from, uint16_t mask) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, from));
}

// To nearest, ties to even; in the upper half of each word, with zeros below. A NaN whose last bits are not zero may
// become something else.
KW_INLINE inline Floats round_own_bf16(Floats a) {
  const __m512i word = _mm512_castps_si512(a.v);
  const __m512i odd = _mm512_and_epi32(_mm512_srli_epi32(word, 16), _mm512_set1_epi32(1));
  const __m512i up = _mm512_add_epi32(_mm512_add_epi32(word, _mm512_set1_epi32(0x7fff)), odd);
  return _mm512_castsi512_ps(_mm512_and_epi32(up, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
}
KW_INLINE inline __m256i half_words(Floats a, f16) {
  return _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
KW_INLINE inline __m256i half_words(Floats a, bf16) {
#if defined(__AVX512BF16__)
  // The machine's own conversion, which takes a subnormal for 0 and keeps some of a NaN's bits.
  constexpr int kSubnormalOrNan = 0x20 | 0x01 | 0x80;
  if (__builtin_expect(_mm512_fpclass_ps_mask(a.v, kSubnormalOrNan) == 0, 1))
    return __builtin_bit_cast(__m256i, _mm512_cvtneps_pbh(a.v));
#endif
  const Floats rounded = choose(a != a, Floats(__builtin_nanf("")), round_own_bf16(a));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_castps_si512(rounded.v), 16));
}
KW_INLINE inline void store_lane(float* to, Floats a, uint16_t mask) { _mm512_mask_storeu_ps(to, mask, a.v); }
template <class Element>
KW_INLINE inline void store_lane(Element* to, Floats a, uint16_t mask) {
  _mm256_mask_storeu_epi16(to, mask, half_words(a, Element()));
}
// Past the cache, all sixteen, to an address that is a multiple of their bytes.
KW_INLINE inline void stream_lane(float* to, Floats a) { _mm512_stream_ps(to, a.v); }
template <class Element>
KW_INLINE inline void stream_lane(Element* to, Floats a) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), half_words(a, Element()));
}

template <class T>
KW_INLINE inline Floats round_to(Floats a) {
  static_assert(kFitsLane<T>);
  if constexpr (std::is_same_v<T, f16>)
    return _mm512_cvtph_ps(half_words(a, f16()));
  else if constexpr (std::is_same_v<T, bf16>)
    return choose(a != a, Floats(__builtin_nanf("")), round_own_bf16(a));
  else
    return a;
}
template <class T>
KW_INLINE inline Floats round_own(Floats a) {
  if constexpr (std::is_same_v<T, bf16>)
    return round_own_bf16(a);
  else
    return round_to<T>(a);
}
template <class Via, class T>
KW_INLINE inline Floats round_via(Floats a) {
  return round_to<T>(round_to<Via>(a));
}
template <class Via, class Next>
KW_INLINE inline Floats round_before(Floats a) {
  if constexpr (std::is_same_v<Via, Next>)
    return a;
  else
    return round_to<Via>(a);
}
template <class T>
KW_INLINE inline Floats round_multiple(Floats a) {
  if constexpr (std::is_same_v<T, bf16>)
    return a;
  else
    return round_to<T>(a);
}

// Floats in memory that are read, written and added to.
struct LaneOf {
  float* data;
  uint16_t mask;
  KW_INLINE operator Floats() const { return load_lane(data, mask); }
  KW_INLINE void operator=(Floats a) const { store_lane(data, a, mask); }
  KW_INLINE void operator+=(Floats a) const { store_lane(data, load_lane(data, mask) + a, mask); }
};
#endif

// ---- what a body asks for, of sixteen elements and of one ----
template <class T>
KW_INLINE inline T choose(bool which, T a, T b) {
  return which ? a : b;
}
template <class T>
KW_INLINE inline T to(T value) {
  return value;
}
#if KW_HAS_LANES
template <class T>
KW_INLINE inline Floats to(Floats value) {
  return value;
}
template <class T>
KW_INLINE inline Floats to(Truths value) {
  return choose(value, Floats(1.0f), Floats(0.0f));
}
#endif

// body(i) for the elements [first, last).
template <bool kLanesFit, class Body>
KW_INLINE inline void for_lanes(int64_t first, int64_t last, Body body) {
  if constexpr (kLanesFit) {
    for (; first + kLanes <= last; first += kLanes) body(Lane{first, Lane::kWhole});
    if (first < last) body(Lane{first, static_cast<uint16_t>((1u << (last - first)) - 1)});
  } else {
#ifdef _OPENMP
#pragma omp simd
#endif
    for (int64_t i = first; i < last; ++i) body(i);
  }
}

}  // namespace kw
