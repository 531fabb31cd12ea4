// Element types of kernels on a GPU: the floats of 16 and 8 bits, and which type holds a value of several. Own structs
// in the place of the toolkit's headers, so that a kernel compiles in tens of milliseconds.
#pragma once

#include "instructions.h"

namespace kw {

// A double as a float whose last bit remembers that something was cut off, so that rounding once more, to fewer bits,
// gives what rounding the double at once would.
KW_DEVICE float round_to_odd(double value) {
  const float near = static_cast<float>(value);
  const uint32_t word = bits_of(near);
  const double back = near;
  const bool above = fabs(back) > fabs(value);
  const bool cut = back != value && value == value;
  return float_of(cut ? (above ? word - 1 : word) | 1u : word);
}

struct bf16 {
  uint16_t bits;
  bf16() = default;
  explicit KW_DEVICE bf16(float value) {  // to nearest, ties to even
    bits = bf16_bits(value);
  }
  explicit KW_DEVICE bf16(double value) : bf16(round_to_odd(value)) {}
  KW_DEVICE operator float() const { return float_of(static_cast<uint32_t>(bits) << 16); }
};

struct f16 {
  uint16_t bits;
  f16() = default;
  explicit KW_DEVICE f16(float value) {  // to nearest, ties to even
    bits = f16_bits(value);
  }
  explicit KW_DEVICE f16(double value) : f16(round_to_odd(value)) {}
  KW_DEVICE operator float() const { return f16_value(bits); }
};

// The 8-bit floats: kMantissa bits and an exponent of bias kBias. kFinite: no infinity, and NaN is all ones (e4m3fn);
// what is too large becomes NaN there, and infinity in the other.
template <int kMantissa, int kBias, bool kFinite>
struct f8 {
  uint8_t bits;
  f8() = default;
  explicit KW_DEVICE f8(float value) {  // to nearest, ties to even
    constexpr int kDropped = 23 - kMantissa;
    constexpr uint32_t kLargest = kFinite ? 0x7eu : 0x7bu, kBeyond = kFinite ? 0x7fu : 0x7cu;
    const uint32_t word = bits_of(value), magnitude = word & 0x7fffffffu;
    uint32_t number;
    if (magnitude > 0x7f800000u) {
      number = 0x7fu;
    } else if (magnitude > static_cast<uint32_t>(127 + 16) << 23) {
      number = kBeyond;
    } else if (magnitude < static_cast<uint32_t>(127 + 1 - kBias) << 23) {
      // Beside this number the last place of an f32 is that of a subnormal: the sum rounds there.
      constexpr uint32_t kBeside = static_cast<uint32_t>(127 + 1 - kBias - kMantissa + 23) << 23;
      number = bits_of(float_of(magnitude) + float_of(kBeside)) - kBeside;
    } else {
      number = (magnitude + ((1u << (kDropped - 1)) - 1) + ((magnitude >> kDropped) & 1u) -
                (static_cast<uint32_t>(127 - kBias) << 23)) >>
               kDropped;
      if (number > kLargest) number = kBeyond;
    }
    bits = static_cast<uint8_t>(number | ((word >> 24) & 0x80u));
  }
  explicit KW_DEVICE f8(double value) : f8(round_to_odd(value)) {}
  KW_DEVICE operator float() const {
    const uint32_t magnitude = bits & 0x7fu, sign = static_cast<uint32_t>(bits & 0x80u) << 24;
    if (kFinite ? magnitude == 0x7fu : magnitude >= 0x7cu)
      return float_of(sign | (magnitude == 0x7cu ? 0x7f800000u : 0x7fc00000u));
    constexpr uint32_t kScale = static_cast<uint32_t>(127 + 127 - kBias) << 23;  // 2^(127 - bias)
    return float_of(sign | bits_of(float_of(magnitude << (23 - kMantissa)) * float_of(kScale)));
  }
};
using f8e4m3 = f8<3, 7, true>;
using f8e5m2 = f8<2, 15, false>;

template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;
// Numbers of 16 bits that are computed with in pairs: int16_t is none.
template <class T>
inline constexpr bool is_half = is_same<T, bf16> || is_same<T, f16>;
template <bool kFirst, class A, class B>
struct choice_of {
  using type = A;
};
template <class A, class B>
struct choice_of<false, A, B> {
  using type = B;
};

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
      typename choice_of<is_same<A, B>, A,
                         typename choice_of<is_same<A, double> || is_same<B, double>, double, float>::type>::type;
};
template <class... Types>
using join = typename join_of<Types...>::type;

// The type that values of T are computed in.
template <class T>
using wide = join<T, float>;

// A value as it is once it was stored as T.
template <class T, class Value>
KW_DEVICE wide<T> round_to(Value value) {
  if constexpr (is_same<T, bf16>)
    return bf16_rounded(static_cast<float>(value));
  else
    return static_cast<wide<T>>(T(static_cast<wide<T>>(value)));
}
// The same through another type, which is one rounding where the two are the same.
template <class Via, class T, class Value>
KW_DEVICE wide<T> round_via(Value value) {
  if constexpr (is_same<Via, T>)
    return round_to<T>(value);
  else
    return round_to<T>(round_to<Via>(value));
}

}  // namespace kw
