// Element types of kernels on the CPU: the 16-bit floats, and which type holds a value of several.
//
// Every conversion is plain integer or float arithmetic without a branch, and copies go member by member, so that a
// loop over elements becomes vector instructions.
#pragma once

#include <cstdint>
#include <type_traits>

namespace kw {

// A double as a float whose last bit remembers that something was cut off, so that rounding once more, to fewer bits,
// gives what rounding the double at once would.
inline float round_to_odd(double value) {
  const float near = static_cast<float>(value);
  const uint32_t word = __builtin_bit_cast(uint32_t, near);
  const double back = near;
  const bool above = __builtin_fabs(back) > __builtin_fabs(value);
  const bool cut = back != value && value == value;
  return __builtin_bit_cast(float, cut ? (above ? word - 1 : word) | 1u : word);
}

// All ones where a > b, else 0; both below 2^31. A choice by a mask stays straight-line code: of a comparison a
// compiler may make a branch, and a loop with a branch does not become vector instructions.
inline uint32_t mask_above(uint32_t a, uint32_t b) { return static_cast<uint32_t>(static_cast<int32_t>(b - a) >> 31); }
inline uint32_t choose_bits(uint32_t mask, uint32_t a, uint32_t b) { return (a & mask) | (b & ~mask); }

struct bf16 {
  uint16_t bits;
  bf16() = default;
  bf16(const bf16& other) : bits(other.bits) {}
  bf16& operator=(const bf16& other) {
    bits = other.bits;
    return *this;
  }
  explicit bf16(float value) {  // to nearest, ties to even
    const uint32_t word = __builtin_bit_cast(uint32_t, value);
    const uint32_t rounded = (word + 0x7fffu + ((word >> 16) & 1u)) >> 16;
    bits = static_cast<uint16_t>(choose_bits(mask_above(word & 0x7fffffffu, 0x7f800000u), 0x7fc0u, rounded));
  }
  explicit bf16(double value) : bf16(round_to_odd(value)) {}
  operator float() const { return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16); }
};

struct f16 {
  uint16_t bits;
  f16() = default;
  f16(const f16& other) : bits(other.bits) {}
  f16& operator=(const f16& other) {
    bits = other.bits;
    return *this;
  }
  explicit f16(float value) {  // to nearest, ties to even
    const uint32_t word = __builtin_bit_cast(uint32_t, value);
    const uint32_t magnitude = word & 0x7fffffffu;
    const uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
    // Beside 0.5 the last place of an f32 is that of a subnormal f16: the sum rounds there.
    const uint32_t subnormal = __builtin_bit_cast(uint32_t, __builtin_bit_cast(float, magnitude) + 0.5f) - 0x3f000000u;
    const uint32_t finite = choose_bits(mask_above(0x38800000u, magnitude), subnormal, normal);
    const uint32_t number = choose_bits(mask_above(magnitude, 0x477fefffu), 0x7c00u, finite);
    const uint32_t any = choose_bits(mask_above(magnitude, 0x7f800000u), 0x7e00u, number);
    bits = static_cast<uint16_t>(any | ((word >> 16) & 0x8000u));
  }
  explicit f16(double value) : f16(round_to_odd(value)) {}
  operator float() const {
    // The sign stays in front; exponent and fraction move to their place, where 2^112 is lacking.
    const int32_t word = static_cast<int16_t>(bits);
    const uint32_t shifted = (static_cast<uint32_t>(word) << 13) & 0x8fffe000u;
    const float scaled = __builtin_bit_cast(float, shifted) * 0x1p112f;
    // From 2^16 on: infinity and NaN, whose exponent is all ones.
    const float special = __builtin_bit_cast(float, shifted | 0x7f800000u);
    return __builtin_fabsf(scaled) >= 65536.0f ? special : scaled;
  }
};

// The 8-bit floats, by the same steps: kMantissa bits and an exponent of bias kBias. kFinite: no infinity, and NaN is
// all ones (e4m3fn); what is too large becomes NaN there, and infinity in the other.
template <int kMantissa, int kBias, bool kFinite>
struct f8 {
  uint8_t bits;
  f8() = default;
  f8(const f8& other) : bits(other.bits) {}
  f8& operator=(const f8& other) {
    bits = other.bits;
    return *this;
  }
  explicit f8(float value) {  // to nearest, ties to even
    constexpr int kDropped = 23 - kMantissa;
    constexpr uint32_t kLargest = kFinite ? 0x7eu : 0x7bu, kBeyond = kFinite ? 0x7fu : 0x7cu;
    const uint32_t word = __builtin_bit_cast(uint32_t, value);
    const uint32_t magnitude = word & 0x7fffffffu;
    const uint32_t normal = (magnitude + ((1u << (kDropped - 1)) - 1) + ((magnitude >> kDropped) & 1u) -
                             (static_cast<uint32_t>(127 - kBias) << 23)) >>
                            kDropped;
    // Beside this number the last place of an f32 is that of a subnormal: the sum rounds there.
    constexpr uint32_t kBeside = static_cast<uint32_t>(127 + 1 - kBias - kMantissa + 23) << 23;
    const float sum = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, kBeside);
    const uint32_t subnormal = __builtin_bit_cast(uint32_t, sum) - kBeside;
    constexpr uint32_t kLeastNormal = static_cast<uint32_t>(127 + 1 - kBias) << 23;
    constexpr uint32_t kSurelyBeyond = static_cast<uint32_t>(127 + 16) << 23;  // where `normal` still counts on
    const uint32_t finite = choose_bits(mask_above(kLeastNormal, magnitude), subnormal, normal);
    const uint32_t too_large = mask_above(finite, kLargest) | mask_above(magnitude, kSurelyBeyond);
    const uint32_t number = choose_bits(too_large, kBeyond, finite);
    const uint32_t any = choose_bits(mask_above(magnitude, 0x7f800000u), 0x7fu, number);
    bits = static_cast<uint8_t>(any | ((word >> 24) & 0x80u));
  }
  explicit f8(double value) : f8(round_to_odd(value)) {}
  operator float() const {
    constexpr uint32_t kScale = static_cast<uint32_t>(127 + 127 - kBias) << 23;  // 2^(127 - bias)
    const uint32_t magnitude = bits & 0x7fu;
    const float scaled = __builtin_bit_cast(float, magnitude << (23 - kMantissa)) * __builtin_bit_cast(float, kScale);
    const uint32_t special = kFinite ? 0x7fc00000u : magnitude == 0x7cu ? 0x7f800000u : 0x7fc00000u;
    const bool is_special = kFinite ? magnitude == 0x7fu : magnitude >= 0x7cu;
    const uint32_t word = is_special ? special : __builtin_bit_cast(uint32_t, scaled);
    return __builtin_bit_cast(float, word | (static_cast<uint32_t>(bits & 0x80u) << 24));
  }
};
using f8e4m3 = f8<3, 7, true>;
using f8e5m2 = f8<2, 15, false>;

// The floating type that holds values of all of these: what PyTorch promotes them to.
template <class A, class... Rest>
struct join_of : join_of<A, typename join_of<Rest...>::type> {};
template <class A>
struct join_of<A> {
  using type = A;
};
template <class A, class B>
struct join_of<A, B> {
  using type =
      std::conditional_t<std::is_same_v<A, B>, A,
                         std::conditional_t<std::is_same_v<A, double> || std::is_same_v<B, double>, double, float>>;
};
template <class... Types>
using join = typename join_of<Types...>::type;

// The type that values of T are computed in.
template <class T>
using wide = join<T, float>;

// A value as it is once it was stored as T.
template <class T, class Value>
inline wide<T> round_to(Value value) {
  return static_cast<wide<T>>(T(static_cast<wide<T>>(value)));
}
// The same without leaving 32 bits.
template <>
inline float round_to<bf16, float>(float value) {
  const uint32_t word = __builtin_bit_cast(uint32_t, value);
  const uint32_t rounded = (word + 0x7fffu + ((word >> 16) & 1u)) & 0xffff0000u;
  return value != value ? __builtin_nanf("") : __builtin_bit_cast(float, rounded);
}
// Beside 1.5 2^13 times the power of two in it, the last place of an f32 is that of the number as an f16; beside 0.75,
// that of a subnormal f16. The sum rounds there.
template <>
inline float round_to<f16, float>(float value) {
  const uint32_t word = __builtin_bit_cast(uint32_t, value);
  const int32_t exponent = static_cast<int32_t>(word & 0x7f800000u), least = 0x38800000;
  const float power = __builtin_bit_cast(float, exponent > least ? exponent : least);
#if defined(__FMA__)
  const float sum = __builtin_fmaf(12288.0f, power, value), most = __builtin_fmaf(-12288.0f, power, sum);
#else
  const float beside = 12288.0f * power, most = (value + beside) - beside;
#endif
  const float rounded = __builtin_copysignf(most, value);
  return __builtin_fabsf(value) >= 65520.0f ? value * __builtin_inff() : rounded;
}

// The same for what is computed from values of T and nothing else: a NaN among them ends in zeros, or is the machine's
// own, and rounding leaves it one.
template <class T, class Value>
inline wide<T> round_own(Value value) {
  if constexpr (std::is_same_v<T, bf16> && std::is_same_v<Value, float>) {
    const uint32_t word = __builtin_bit_cast(uint32_t, value);
    return __builtin_bit_cast(float, (word + 0x7fffu + ((word >> 16) & 1u)) & 0xffff0000u);
  } else {
    return round_to<T>(value);
  }
}

// The same for x*x, sqrt(x) and 1/sqrt(x) of a value of T: lanes let all ties go towards 0, for there are none that go
// elsewhere. A square lies between n and n + 1 units where 2n + 1 is the square of an odd number, 1 more than a
// multiple of 8, and so n is even. A root is no tie: its square would have more bits than x, and an f32 tells the two
// apart.
template <class T, class Value>
inline wide<T> round_ties_down(Value value) {
  return round_own<T>(value);
}

// The same through another type, which is one rounding where the two are the same.
template <class Via, class T, class Value>
inline wide<T> round_via(Value value) {
  if constexpr (std::is_same_v<Via, T>)
    return round_to<T>(value);
  else
    return round_to<T>(round_to<Via>(value));
}
// As Via, unless what comes next rounds to the same type.
template <class Via, class Next, class Value>
inline wide<Via> round_before(Value value) {
  if constexpr (std::is_same_v<Via, Next>)
    return static_cast<wide<Via>>(value);
  else
    return round_to<Via>(value);
}
// A value of T times 2, 4, 8 …: exact where the type has the exponents of the one that it is computed in.
template <class T, class Value>
inline wide<T> round_multiple(Value value) {
  if constexpr (std::is_same_v<T, bf16>)
    return static_cast<wide<T>>(value);
  else
    return round_to<T>(value);
}
// A sum of two values of T, held between two numbers of T and rounded; NaN stays NaN. Neither number is less than 0
// (nor is it -0), so that lanes need not look after signs and infinities.
template <class T>
inline wide<T> round_between(wide<T> value, wide<T> least, wide<T> most) {
  return round_own<T>(most <= value ? most : value <= least ? least : value);
}

}  // namespace kw
