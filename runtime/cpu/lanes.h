// Sixty-four neighbouring elements at once, in four registers, where the machine has such: the body of an innermost
// loop is written once, and is called with a Lane for up to sixty-four elements or with an index for a single one. What
// a compiler would not make of the single conversions, the instructions that convert and round 16-bit floats, is
// written out here; the results are the same to the bit, but for the functions of exponential.h and roots, which are as
// exact. Four registers, because most bodies are one long chain of operations: so the machine has four of them under
// way; wide_lanes.h has eight.
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

inline constexpr int64_t kLanes = 64;

// Of the elements [at, at + kLanes) of the innermost axis those whose bit is set. What is computed of the others is
// computed of zeros, and written nowhere.
struct Lane {
  int64_t at;
  using Mask = uint64_t;
  Mask mask;
  static constexpr Mask kWhole = ~Mask{0};
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
inline constexpr int kParts = static_cast<int>(kLanes / 16);
#define KW_EACH_PART _Pragma("GCC unroll 4") for (int p = 0; p < kParts; ++p)
#define KW_EACH_PAIR _Pragma("GCC unroll 2") for (int p = 0; p < kParts; p += 2)
struct Floats {
  __m512 part[kParts];  // sixteen elements each
  KW_INLINE Floats() = default;
  KW_INLINE Floats(float value) { KW_EACH_PART part[p] = _mm512_set1_ps(value); }
};
struct Truths {
  __mmask16 part[kParts];
};
struct Words {
  __m512i part[kParts];
};
#define KW_PARTS(Result, expression)        \
  Result result;                            \
  KW_EACH_PART result.part[p] = expression; \
  return result
#define KW_FLOATS(name, function) \
  KW_INLINE inline Floats name(Floats a, Floats b) { KW_PARTS(Floats, _mm512_##function##_ps(a.part[p], b.part[p])); }
KW_FLOATS(operator+, add)
KW_FLOATS(operator-, sub)
KW_FLOATS(operator*, mul)
KW_FLOATS(operator/, div)
#undef KW_FLOATS
#define KW_COMPARE(name, how)                                               \
  KW_INLINE inline Truths name(Floats a, Floats b) {                        \
    KW_PARTS(Truths, _mm512_cmp_ps_mask(a.part[p], b.part[p], _CMP_##how)); \
  }
KW_COMPARE(operator<, LT_OQ)
KW_COMPARE(operator<=, LE_OQ)
KW_COMPARE(operator==, EQ_OQ)
KW_COMPARE(operator!=, NEQ_UQ)
KW_COMPARE(exceeds, NLE_UQ)
KW_COMPARE(reaches, NLT_UQ)
#undef KW_COMPARE
KW_INLINE inline Truths all_are(bool a) { KW_PARTS(Truths, static_cast<__mmask16>(a ? 0xffff : 0)); }
#define KW_LOGIC(name, sign)                                                     \
  KW_INLINE inline Truths name(Truths a, Truths b) {                             \
    KW_PARTS(Truths, static_cast<__mmask16>(a.part[p] sign b.part[p]));          \
  }                                                                              \
  KW_INLINE inline Truths name(Truths a, bool b) { return name(a, all_are(b)); } \
  KW_INLINE inline Truths name(bool a, Truths b) { return name(all_are(a), b); }
KW_LOGIC(operator&, &)
KW_LOGIC(operator|, |)
KW_LOGIC(operator^, ^)
#undef KW_LOGIC
KW_INLINE inline Truths operator>(Floats a, Floats b) { return b < a; }
KW_INLINE inline Truths operator>=(Floats a, Floats b) { return b <= a; }
KW_INLINE inline Truths operator!(Truths a) { return a ^ true; }
KW_INLINE inline Floats operator-(Floats a) { KW_PARTS(Floats, _mm512_xor_ps(a.part[p], _mm512_set1_ps(-0.0f))); }
KW_INLINE inline Words operator+(Words a, Words b) { KW_PARTS(Words, _mm512_add_epi32(a.part[p], b.part[p])); }
KW_INLINE inline Words operator<<(Words a, unsigned n) { KW_PARTS(Words, _mm512_slli_epi32(a.part[p], n)); }

KW_INLINE inline Floats choose(Truths which, Floats a, Floats b) {
  KW_PARTS(Floats, _mm512_mask_mov_ps(b.part[p], which.part[p], a.part[p]));
}
KW_INLINE inline Floats choose(bool which, Floats a, Floats b) { return which ? a : b; }
KW_INLINE inline Truths choose(Truths which, Truths a, Truths b) { return (which & a) | ((!which) & b); }
KW_INLINE inline Floats keep(Truths which, Floats a) {
  KW_PARTS(Floats, _mm512_maskz_mov_ps(which.part[p], a.part[p]));
}
KW_INLINE inline Floats abs(Floats a) { KW_PARTS(Floats, _mm512_abs_ps(a.part[p])); }
KW_INLINE inline Floats sign(Floats a) { return choose(a > 0.0f, 1.0f, choose(a < 0.0f, -1.0f, 0.0f)); }
KW_INLINE inline Floats sqrt(Floats a) { KW_PARTS(Floats, _mm512_sqrt_ps(a.part[p])); }
// The machine's first 14 bits, and Newton's step: 1.1 ulp, in a third of the time of a root and a division. Where the
// step is undefined, at 0 and at infinity, the machine's answer is right already, and any step leaves it as it is: the
// minimum with a number that is not is the number.
KW_INLINE inline Floats rsqrt(Floats a) {
  Floats near, half, error;
  KW_EACH_PART near.part[p] = _mm512_rsqrt14_ps(a.part[p]);
  KW_EACH_PART error.part[p] = _mm512_mul_ps(a.part[p], near.part[p]);
  KW_EACH_PART half.part[p] =  // an integer operation has the choice of all pipes; of 0, any number will do
      _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_castps_si512(near.part[p]), _mm512_set1_epi32(1 << 23)));
  KW_EACH_PART error.part[p] = _mm512_fnmadd_ps(error.part[p], half.part[p], _mm512_set1_ps(0.5f));
  KW_EACH_PART error.part[p] = _mm512_min_ps(error.part[p], _mm512_set1_ps(0x1p-11f));  // above every error
  KW_PARTS(Floats, _mm512_fmadd_ps(near.part[p], error.part[p], near.part[p]));
}
// The machine's are the second operand where one of them is not a number.
KW_INLINE inline Floats maximum(Floats a, Floats b) {
  const Truths number = a == a;
  KW_PARTS(Floats, _mm512_mask_max_ps(a.part[p], number.part[p], a.part[p], b.part[p]));
}
KW_INLINE inline Floats minimum(Floats a, Floats b) {
  const Truths number = a == a;
  KW_PARTS(Floats, _mm512_mask_min_ps(a.part[p], number.part[p], a.part[p], b.part[p]));
}

// By the names of math_bits.h.
KW_INLINE inline Floats fma(Floats a, Floats b, Floats c) {
  KW_PARTS(Floats, _mm512_fmadd_ps(a.part[p], b.part[p], c.part[p]));
}
KW_INLINE inline Words bits_of(Floats a) { KW_PARTS(Words, _mm512_castps_si512(a.part[p])); }
KW_INLINE inline Floats float_of(Words a) { KW_PARTS(Floats, _mm512_castsi512_ps(a.part[p])); }
KW_INLINE inline Floats magnitude_of(Floats a) { return abs(a); }
KW_INLINE inline Floats with_sign_of(Floats magnitude, Floats x) {
  constexpr int kSelect = 0xca;  // of the second where the bit of the first is set, else of the third
  const __m512i sign = _mm512_set1_epi32(INT32_MIN);
  const Words m = bits_of(magnitude), s = bits_of(x);
  KW_PARTS(Floats, _mm512_castsi512_ps(_mm512_ternarylogic_epi32(sign, s.part[p], m.part[p], kSelect)));
}
// Between two numbers; NaN stays NaN.
KW_INLINE inline Floats clamp(Floats x, float least, float most) {
  KW_EACH_PART x.part[p] = _mm512_max_ps(_mm512_set1_ps(least), x.part[p]);
  KW_PARTS(Floats, _mm512_min_ps(_mm512_set1_ps(most), x.part[p]));
}
// x 2^n for a whole n, rounded once, whether it overflows or becomes subnormal.
KW_INLINE inline Floats scaled(Floats x, Floats n) { KW_PARTS(Floats, _mm512_scalef_ps(x.part[p], n.part[p])); }

// ---- elements ----
KW_INLINE inline __mmask16 part_of(Lane::Mask mask, int p) { return static_cast<__mmask16>(mask >> (16 * p)); }
KW_INLINE inline Floats load_lane(const float* from, Lane::Mask mask) {
  KW_PARTS(Floats, _mm512_maskz_loadu_ps(part_of(mask, p), from + 16 * p));
}
KW_INLINE inline Floats load_lane(const f16* from, Lane::Mask mask) {
  KW_PARTS(Floats, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(part_of(mask, p), from + 16 * p)));
}
// Every second word of a part is an element, the others are zero: one permutation brings sixteen there.
alignas(64) inline constexpr uint16_t kLowerToUpper[32] = {0, 0, 0, 1, 0, 2,  0, 3,  0, 4,  0, 5,  0, 6,  0, 7,
                                                           0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0, 13, 0, 14, 0, 15};
alignas(64) inline constexpr uint16_t kHigherToUpper[32] = {0, 16, 0, 17, 0, 18, 0, 19, 0, 20, 0, 21, 0, 22, 0, 23,
                                                            0, 24, 0, 25, 0, 26, 0, 27, 0, 28, 0, 29, 0, 30, 0, 31};
KW_INLINE inline Floats load_lane(const bf16* from, Lane::Mask mask) {
  constexpr __mmask32 kUpper = 0xaaaaaaaau;
  const __m512i lower = _mm512_load_si512(kLowerToUpper), higher = _mm512_load_si512(kHigherToUpper);
  Floats result;
  KW_EACH_PAIR {
    const __m512i line = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask >> (16 * p)), from + 16 * p);
    result.part[p] = _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(kUpper, lower, line));
    result.part[p + 1] = _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(kUpper, higher, line));
  }
  return result;
}

KW_INLINE inline Floats upper_half(Words word) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  KW_PARTS(Floats, _mm512_castsi512_ps(_mm512_and_epi32(word.part[p], upper)));
}
// To nearest, ties to even; in the upper half of each word, with zeros below. A NaN whose last bits are not zero may
// become something else. Half of the last place is added, less one where the last place is even.
KW_INLINE inline Floats round_own_bf16(Floats a) {
  const Words word = bits_of(a);
  Words half;
#if defined(__AVX512VNNI__)
  // 0x7fff and, in the upper half of a word, the last place: one operation adds the products of both halves with 1.
  constexpr int kBothOrThird = 0xea;
  KW_EACH_PART half.part[p] =
      _mm512_ternarylogic_epi32(word.part[p], _mm512_set1_epi32(0x10000), _mm512_set1_epi32(0x7fff), kBothOrThird);
  KW_EACH_PART half.part[p] = _mm512_dpwssd_epi32(word.part[p], half.part[p], _mm512_set1_epi32(0x10001));
#else
  // a - ~b is a + b + 1, and ~b, for b = 0x7ffe or 0x7fff, is one operation on the word's upper half.
  constexpr int kNotOfBothOrThird = 0x15;
  KW_EACH_PART half.part[p] = _mm512_srli_epi32(word.part[p], 16);
  KW_EACH_PART half.part[p] =
      _mm512_ternarylogic_epi32(half.part[p], _mm512_set1_epi32(1), _mm512_set1_epi32(0x7ffe), kNotOfBothOrThird);
  KW_EACH_PART half.part[p] = _mm512_sub_epi32(word.part[p], half.part[p]);
#endif
  return upper_half(half);
}
KW_INLINE inline __m512i joined(__m256i low, __m256i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
KW_INLINE inline __m256i half_words(__m512 a) {
  return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// Of each two parts, a line of 16-bit floats.
struct HalfWords {
  __m512i line[kParts / 2];
};
KW_INLINE inline HalfWords half_words(Floats a, f16) {
  HalfWords lines;
  KW_EACH_PAIR lines.line[p / 2] = joined(half_words(a.part[p]), half_words(a.part[p + 1]));
  return lines;
}
KW_INLINE inline HalfWords half_words(Floats a, bf16) {
  HalfWords lines;
#if defined(__AVX512BF16__)
  // The machine's own conversion, which takes a subnormal for 0 and keeps some of a NaN's bits.
  constexpr int kSubnormalOrNan = 0x20 | 0x01 | 0x80;
  __mmask16 unlike = 0;
  KW_EACH_PART unlike = static_cast<__mmask16>(unlike | _mm512_fpclass_ps_mask(a.part[p], kSubnormalOrNan));
  if (__builtin_expect(unlike == 0, 1)) {
    KW_EACH_PAIR
    lines.line[p / 2] = __builtin_bit_cast(__m512i, _mm512_cvtne2ps_pbh(a.part[p + 1], a.part[p]));
    return lines;
  }
#endif
  const Words rounded = bits_of(choose(a != a, Floats(__builtin_nanf("")), round_own_bf16(a)));
  KW_EACH_PAIR
  lines.line[p / 2] = joined(_mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded.part[p], 16)),
                             _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded.part[p + 1], 16)));
  return lines;
}
KW_INLINE inline void store_lane(float* to, Floats a, Lane::Mask mask) {
  KW_EACH_PART _mm512_mask_storeu_ps(to + 16 * p, part_of(mask, p), a.part[p]);
}
template <class Element>
KW_INLINE inline void store_lane(Element* to, Floats a, Lane::Mask mask) {
  if constexpr (std::is_same_v<Element, f16>)
    if (mask == Lane::kWhole) {  // the machine converts on the way to memory
      KW_EACH_PART _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 16 * p), half_words(a.part[p]));
      return;
    }
  const HalfWords lines = half_words(a, Element());
  KW_EACH_PAIR _mm512_mask_storeu_epi16(to + 16 * p, static_cast<__mmask32>(mask >> (16 * p)), lines.line[p / 2]);
}
// Past the cache, a whole lane, to an address that is a multiple of a line.
KW_INLINE inline void stream_lane(float* to, Floats a) { KW_EACH_PART _mm512_stream_ps(to + 16 * p, a.part[p]); }
template <class Element>
KW_INLINE inline void stream_lane(Element* to, Floats a) {
  const HalfWords lines = half_words(a, Element());
  KW_EACH_PAIR _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 16 * p), lines.line[p / 2]);
}

template <class T>
KW_INLINE inline Floats round_to(Floats a) {
  static_assert(kFitsLane<T>);
  if constexpr (std::is_same_v<T, f16>) {
    __m256i half[kParts];
    KW_EACH_PART half[p] = half_words(a.part[p]);
    KW_PARTS(Floats, _mm512_cvtph_ps(half[p]));
  } else if constexpr (std::is_same_v<T, bf16>)
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
// No tie goes up: the same is added to all.
template <class T>
KW_INLINE inline Floats round_ties_down(Floats a) {
  if constexpr (std::is_same_v<T, bf16>) {
    Words word = bits_of(a);
    KW_EACH_PART word.part[p] = _mm512_add_epi32(word.part[p], _mm512_set1_epi32(0x7fff));
    return upper_half(word);
  } else {
    return round_to<T>(a);
  }
}
// The last operation of a rounding leaves out what is not kept.
template <class T>
KW_INLINE inline Floats keep_own(Truths which, Floats a) {
  if constexpr (std::is_same_v<T, f16>) {
    __m256i half[kParts];
    KW_EACH_PART half[p] = half_words(a.part[p]);
    KW_PARTS(Floats, _mm512_maskz_cvtph_ps(which.part[p], half[p]));
  } else {
    return keep(which, round_own<T>(a));
  }
}
template <class Via, class T>
KW_INLINE inline Floats round_via(Floats a) {
  if constexpr (std::is_same_v<Via, T>)
    return round_to<T>(a);
  else
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
// Beside 2^13 times the power of two in it, 2^16 times for a bf16, the last place of an f32 is that of the number as a
// T: the sum of both rounds there. What is subnormal as a T is a multiple of the least one already, as all sums are,
// and stays as it is.
template <class T>
KW_INLINE inline Floats round_between(Floats a, wide<T> least, wide<T> most) {
  if constexpr (std::is_same_v<T, float>) {
    return choose(Floats(most) <= a, most, choose(a <= least, least, a));
  } else {
    const __m512 beside = _mm512_set1_ps(std::is_same_v<T, f16> ? 0x1p13f : 0x1p16f);
    const __m512i exponent = _mm512_set1_epi32(0x7f800000);
    const Floats held = clamp(a, least, most);
    Floats power, sum;
    KW_EACH_PART power.part[p] = _mm512_castsi512_ps(_mm512_and_epi32(_mm512_castps_si512(held.part[p]), exponent));
    KW_EACH_PART sum.part[p] = _mm512_fmadd_ps(power.part[p], beside, held.part[p]);
    KW_PARTS(Floats, _mm512_fnmadd_ps(power.part[p], beside, sum.part[p]));
  }
}

// Floats in memory that are read, written and added to.
struct LaneOf {
  float* data;
  Lane::Mask mask;
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
// Not a <= b, and not a < b: true of what is not a number.
template <class T>
KW_INLINE inline bool exceeds(T a, T b) {
  return !(a <= b);
}
template <class T>
KW_INLINE inline bool reaches(T a, T b) {
  return !(a < b);
}
// Where it holds, else 0; rounded, of `keep_own`, as round_own does.
template <class T>
KW_INLINE inline T keep(bool which, T a) {
  return which ? a : T(0);
}
template <class T>
KW_INLINE inline wide<T> keep_own(bool which, wide<T> a) {
  return which ? round_own<T>(a) : wide<T>(0);
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
    if (first < last) body(Lane{first, (Lane::Mask{1} << (last - first)) - 1});
  } else {
#ifdef _OPENMP
#pragma omp simd
#endif
    for (int64_t i = first; i < last; ++i) body(i);
  }
}

}  // namespace kw
