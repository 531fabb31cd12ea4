// Element types of kernels on a GPU: the 16-bit floats, and which type holds a value of several. Own structs in the
// place of the toolkit's headers, so that a kernel compiles in tens of milliseconds.
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

template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;
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

}  // namespace kw
