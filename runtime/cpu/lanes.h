// Thirty-two neighbouring elements at once, in two registers each, where the machine has such: the body of an innermost
// loop is written once, and is called with a Lane for up to thirty-two elements or with an index for a single one. What
// a compiler would not make of the single conversions, the instructions that convert and round 16-bit floats, is
// written out here; the results are the same to the bit. Two registers, because most bodies are one long chain of
// operations, of which the machine has two under way.
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

inline constexpr int64_t kLanes = 32;

// Of the elements [at, at + kLanes) of the innermost axis those whose bit is set. What is computed of the others is
// computed of zeros, and written nowhere.
struct Lane {
  int64_t at;
  uint32_t mask;
  static constexpr uint32_t kWhole = 0xffffffff;
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
  __m512 low, high;
  KW_INLINE Floats() = default;
  KW_INLINE Floats(__m512 first, __m512 second) : low(first), high(second) {}
  KW_INLINE Floats(float value) : low(_mm512_set1_ps(value)), high(low) {}
};
struct Truths {
  __mmask16 low, high;
};
struct Words {
  __m512i low, high;
};

#define KW_OF_HALVES(Result, name, Operand, call_low, call_high) \
  KW_INLINE inline Result name(Operand a, Operand b) { return {call_low, call_high}; }
#define KW_FLOATS(name, function) \
  KW_OF_HALVES(Floats, name, Floats, _mm512_##function##_ps(a.low, b.low), _mm512_##function##_ps(a.high, b.high))
KW_FLOATS(operator+, add)
KW_FLOATS(operator-, sub)
KW_FLOATS(operator*, mul)
KW_FLOATS(operator/, div)
#undef KW_FLOATS
#define KW_COMPARE(name, how)                                                      \
  KW_OF_HALVES(Truths, name, Floats, _mm512_cmp_ps_mask(a.low, b.low, _CMP_##how), \
               _mm512_cmp_ps_mask(a.high, b.high, _CMP_##how))
KW_COMPARE(operator<, LT_OQ)
KW_COMPARE(operator<=, LE_OQ)
KW_COMPARE(operator==, EQ_OQ)
KW_COMPARE(operator!=, NEQ_UQ)
#undef KW_COMPARE
#define KW_LOGIC(name, sign)                                                     \
  KW_OF_HALVES(Truths, name, Truths, static_cast<__mmask16>(a.low sign b.low),   \
               static_cast<__mmask16>(a.high sign b.high))                       \
  KW_INLINE inline Truths name(Truths a, bool b) { return name(a, all_are(b)); } \
  KW_INLINE inline Truths name(bool a, Truths b) { return name(all_are(a), b); }
KW_INLINE inline Truths all_are(bool a) {
  return {static_cast<__mmask16>(a ? 0xffff : 0), static_cast<__mmask16>(a ? 0xffff : 0)};
}
KW_LOGIC(operator&, &)
KW_LOGIC(operator|, |)
KW_LOGIC(operator^, ^)
#undef KW_LOGIC
#undef KW_OF_HALVES
KW_INLINE inline Truths operator>(Floats a, Floats b) { return b < a; }
KW_INLINE inline Truths operator>=(Floats a, Floats b) { return b <= a; }
KW_INLINE inline Truths operator!(Truths a) { return a ^ true; }
KW_INLINE inline Floats operator-(Floats a) {
  const __m512 sign = _mm512_set1_ps(-0.0f);
  return {_mm512_xor_ps(a.low, sign), _mm512_xor_ps(a.high, sign)};
}
KW_INLINE inline Words operator+(Words a, Words b) {
  return {_mm512_add_epi32(a.low, b.low), _mm512_add_epi32(a.high, b.high)};
}
KW_INLINE inline Words operator<<(Words a, unsigned n) {
  return {_mm512_slli_epi32(a.low, n), _mm512_slli_epi32(a.high, n)};
}

KW_INLINE inline Floats choose(Truths which, Floats a, Floats b) {
  return {_mm512_mask_mov_ps(b.low, which.low, a.low), _mm512_mask_mov_ps(b.high, which.high, a.high)};
}
KW_INLINE inline Floats choose(bool which, Floats a, Floats b) { return which ? a : b; }
KW_INLINE inline Truths choose(Truths which, Truths a, Truths b) { return (which & a) | ((!which) & b); }
KW_INLINE inline Floats abs(Floats a) { return {_mm512_abs_ps(a.low), _mm512_abs_ps(a.high)}; }
KW_INLINE inline Floats sign(Floats a) { return choose(a > 0.0f, 1.0f, choose(a < 0.0f, -1.0f, 0.0f)); }
KW_INLINE inline Floats sqrt(Floats a) { return {_mm512_sqrt_ps(a.low), _mm512_sqrt_ps(a.high)}; }
KW_INLINE inline Floats rsqrt(Floats a) { return Floats(1.0f) / sqrt(a); }
KW_INLINE inline Floats maximum(Floats a, Floats b) { return choose((a > b) | (a != a), a, b); }
KW_INLINE inline Floats minimum(Floats a, Floats b) { return choose((a < b) | (a != a), a, b); }

// By the names of math_bits.h.
KW_INLINE inline Floats fma(Floats a, Floats b, Floats c) {
  return {_mm512_fmadd_ps(a.low, b.low, c.low), _mm512_fmadd_ps(a.high, b.high, c.high)};
}
KW_INLINE inline Words bits_of(Floats a) { return {_mm512_castps_si512(a.low), _mm512_castps_si512(a.high)}; }
KW_INLINE inline Floats float_of(Words a) { return {_mm512_castsi512_ps(a.low), _mm512_castsi512_ps(a.high)}; }
KW_INLINE inline Floats magnitude_of(Floats a) { return abs(a); }
KW_INLINE inline Floats with_sign_of(Floats magnitude, Floats x) {
  constexpr int kSelect = 0xca;  // of the second where the bit of the first is set, else of the third
  const __m512i sign = _mm512_set1_epi32(INT32_MIN);
  const Words m = bits_of(magnitude), s = bits_of(x);
  return float_of({_mm512_ternarylogic_epi32(sign, s.low, m.low, kSelect),
                   _mm512_ternarylogic_epi32(sign, s.high, m.high, kSelect)});
}

// ---- elements ----
KW_INLINE inline __mmask16 low_half(uint32_t mask) { return static_cast<__mmask16>(mask); }
KW_INLINE inline __mmask16 high_half(uint32_t mask) { return static_cast<__mmask16>(mask >> 16); }
KW_INLINE inline Floats load_lane(const float* from, uint32_t mask) {
  return {_mm512_maskz_loadu_ps(low_half(mask), from), _mm512_maskz_loadu_ps(high_half(mask), from + 16)};
}
KW_INLINE inline __m512 widened(__m256i bits, bf16) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}
KW_INLINE inline __m512 widened(__m256i bits, f16) { return _mm512_cvtph_ps(bits); }
template <class Element>
KW_INLINE inline Floats load_lane(const Element* from, uint32_t mask) {
  return {widened(_mm256_maskz_loadu_epi16(low_half(mask), from), Element()),
          widened(_mm256_maskz_loadu_epi16(high_half(mask), from + 16), Element())};
}

// To nearest, ties to even; in the upper half of each word, with zeros below. A NaN whose last bits are not zero may
// become something else.
KW_INLINE inline __m512 round_own_bf16(__m512 a) {
  const __m512i word = _mm512_castps_si512(a);
  const __m512i odd = _mm512_and_epi32(_mm512_srli_epi32(word, 16), _mm512_set1_epi32(1));
  const __m512i up = _mm512_add_epi32(_mm512_add_epi32(word, _mm512_set1_epi32(0x7fff)), odd);
  return _mm512_castsi512_ps(_mm512_and_epi32(up, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
}
KW_INLINE inline Floats round_own_bf16(Floats a) { return {round_own_bf16(a.low), round_own_bf16(a.high)}; }
KW_INLINE inline __m512i joined(__m256i low, __m256i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
KW_INLINE inline __m256i half_words(__m512 a) {
  return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
KW_INLINE inline __m512i half_words(Floats a, f16) { return joined(half_words(a.low), half_words(a.high)); }
KW_INLINE inline __m512i half_words(Floats a, bf16) {
#if defined(__AVX512BF16__)
  // The machine's own conversion, which takes a subnormal for 0 and keeps some of a NaN's bits.
  constexpr int kSubnormalOrNan = 0x20 | 0x01 | 0x80;
  const auto unlike = static_cast<__mmask16>(_mm512_fpclass_ps_mask(a.low, kSubnormalOrNan) |
                                             _mm512_fpclass_ps_mask(a.high, kSubnormalOrNan));
  if (__builtin_expect(unlike == 0, 1)) return __builtin_bit_cast(__m512i, _mm512_cvtne2ps_pbh(a.high, a.low));
#endif
  const Words rounded = bits_of(choose(a != a, Floats(__builtin_nanf("")), round_own_bf16(a)));
  return joined(_mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded.low, 16)),
                _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded.high, 16)));
}
KW_INLINE inline void store_lane(float* to, Floats a, uint32_t mask) {
  _mm512_mask_storeu_ps(to, low_half(mask), a.low);
  _mm512_mask_storeu_ps(to + 16, high_half(mask), a.high);
}
template <class Element>
KW_INLINE inline void store_lane(Element* to, Floats a, uint32_t mask) {
  _mm512_mask_storeu_epi16(to, mask, half_words(a, Element()));
}
// Past the cache, a whole lane, to an address that is a multiple of a line.
KW_INLINE inline void stream_lane(float* to, Floats a) {
  _mm512_stream_ps(to, a.low);
  _mm512_stream_ps(to + 16, a.high);
}
template <class Element>
KW_INLINE inline void stream_lane(Element* to, Floats a) {
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), half_words(a, Element()));
}

template <class T>
KW_INLINE inline Floats round_to(Floats a) {
  static_assert(kFitsLane<T>);
  if constexpr (std::is_same_v<T, f16>)
    return {_mm512_cvtph_ps(half_words(a.low)), _mm512_cvtph_ps(half_words(a.high))};
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
  uint32_t mask;
  KW_INLINE operator Floats() const { return load_lane(data, mask); }
  KW_INLINE void operator=(Floats a) const { store_lane(data, a, mask); }
  KW_INLINE void operator+=(Floats a) const { store_lane(data, load_lane(data, mask) + a, mask); }
};
#endif

// ---- what a body asks for, of a lane and of one element ----
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
    if (first < last) body(Lane{first, (1u << (last - first)) - 1});
  } else {
#ifdef _OPENMP
#pragma omp simd
#endif
    for (int64_t i = first; i < last; ++i) body(i);
  }
}

}  // namespace kw
