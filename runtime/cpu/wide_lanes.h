// Two lanes side by side. A machine looks some sixty operations ahead: of a body that is a long chain of roundings it
// has not seen the next lane before it waits for the end of this one, and with two there is twice as much to do
// meanwhile. Short bodies wait for memory instead.
#pragma once

#include "exponential.h"
#include "lanes.h"

namespace kw {

// The elements [at, at + 2 kLanes) of the innermost axis.
struct WideLane {
  int64_t at;
  friend WideLane operator+(WideLane lane, int64_t n) { return {lane.at + n}; }
  friend WideLane operator+(int64_t n, WideLane lane) { return {lane.at + n}; }
  friend WideLane operator-(WideLane lane, int64_t n) { return {lane.at - n}; }
  KW_INLINE Lane low() const { return {at, Lane::kWhole}; }
  KW_INLINE Lane high() const { return {at + kLanes, Lane::kWhole}; }
};

// Whether two lanes of these are read and written faster than a long body computes them.
template <class... Elements>
inline constexpr bool kAreHalves = ((sizeof(Elements) == 2) && ...);

#if KW_HAS_LANES
struct WideFloats {
  Floats low, high;
  KW_INLINE WideFloats() = default;
  KW_INLINE WideFloats(Floats low, Floats high) : low(low), high(high) {}
  KW_INLINE WideFloats(float value) : low(value), high(value) {}
};
struct WideTruths {
  Truths low, high;
};
#define KW_WIDE(Result, name) \
  KW_INLINE inline Result name(WideFloats a, WideFloats b) { return {name(a.low, b.low), name(a.high, b.high)}; }
KW_WIDE(WideFloats, operator+)
KW_WIDE(WideFloats, operator-)
KW_WIDE(WideFloats, operator*)
KW_WIDE(WideFloats, operator/)
KW_WIDE(WideFloats, maximum)
KW_WIDE(WideFloats, minimum)
KW_WIDE(WideTruths, operator<)
KW_WIDE(WideTruths, operator<=)
KW_WIDE(WideTruths, operator==)
KW_WIDE(WideTruths, operator!=)
KW_WIDE(WideTruths, operator>)
KW_WIDE(WideTruths, operator>=)
KW_WIDE(WideTruths, exceeds)
KW_WIDE(WideTruths, reaches)
#undef KW_WIDE
#define KW_WIDE(name)                                                                                                 \
  KW_INLINE inline WideTruths name(WideTruths a, WideTruths b) { return {name(a.low, b.low), name(a.high, b.high)}; } \
  KW_INLINE inline WideTruths name(WideTruths a, bool b) { return {name(a.low, b), name(a.high, b)}; }                \
  KW_INLINE inline WideTruths name(bool a, WideTruths b) { return {name(a, b.low), name(a, b.high)}; }
KW_WIDE(operator&)
KW_WIDE(operator|)
KW_WIDE(operator^)
#undef KW_WIDE
KW_INLINE inline WideTruths operator!(WideTruths a) { return {!a.low, !a.high}; }
#define KW_WIDE(name) \
  KW_INLINE inline WideFloats name(WideFloats a) { return {name(a.low), name(a.high)}; }
KW_WIDE(operator-)
KW_WIDE(abs)
KW_WIDE(sign)
KW_WIDE(sqrt)
KW_WIDE(rsqrt)
KW_WIDE(exp)
KW_WIDE(sigmoid)
KW_WIDE(tanh)
#undef KW_WIDE
KW_INLINE inline WideFloats choose(WideTruths which, WideFloats a, WideFloats b) {
  return {choose(which.low, a.low, b.low), choose(which.high, a.high, b.high)};
}
KW_INLINE inline WideFloats choose(bool which, WideFloats a, WideFloats b) { return which ? a : b; }
KW_INLINE inline WideTruths choose(WideTruths which, WideTruths a, WideTruths b) {
  return {choose(which.low, a.low, b.low), choose(which.high, a.high, b.high)};
}
KW_INLINE inline WideFloats keep(WideTruths which, WideFloats a) {
  return {keep(which.low, a.low), keep(which.high, a.high)};
}
template <class T>
KW_INLINE inline WideFloats keep_own(WideTruths which, WideFloats a) {
  return {keep_own<T>(which.low, a.low), keep_own<T>(which.high, a.high)};
}
template <class T>
KW_INLINE inline WideFloats to(WideFloats value) {
  return value;
}
template <class T>
KW_INLINE inline WideFloats to(WideTruths value) {
  return {to<T>(value.low), to<T>(value.high)};
}

#define KW_WIDE(name)                              \
  template <class T>                               \
  KW_INLINE inline WideFloats name(WideFloats a) { \
    return {name<T>(a.low), name<T>(a.high)};      \
  }
KW_WIDE(round_to)
KW_WIDE(round_own)
KW_WIDE(round_ties_down)
KW_WIDE(round_multiple)
#undef KW_WIDE
#define KW_WIDE(name)                                   \
  template <class Via, class T>                         \
  KW_INLINE inline WideFloats name(WideFloats a) {      \
    return {name<Via, T>(a.low), name<Via, T>(a.high)}; \
  }
KW_WIDE(round_via)
KW_WIDE(round_before)
#undef KW_WIDE
template <class T>
KW_INLINE inline WideFloats round_between(WideFloats a, wide<T> least, wide<T> most) {
  return {round_between<T>(a.low, least, most), round_between<T>(a.high, least, most)};
}
#endif

// body(i) for the elements [first, last), by two lanes while there are so many.
template <bool kLanesFit, bool kWideFit, class Body>
KW_INLINE inline void for_wide_lanes(int64_t first, int64_t last, Body body) {
  if constexpr (kLanesFit && kWideFit)
    for (; first + 2 * kLanes <= last; first += 2 * kLanes) body(WideLane{first});
  for_lanes<kLanesFit>(first, last, body);
}

}  // namespace kw
