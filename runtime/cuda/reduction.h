// Reductions over the threads that share a row, in a fixed order: the same input gives the same bits. Built on thread.h
// alone, and so the same on a GPU and in emulation. A NaN wins a maximum and a minimum, as in PyTorch.
#pragma once

#include "instructions.h"

namespace kw {

template <class T>
KW_DEVICE T maximum(T a, T b) {
  return (a > b) | (a != a) ? a : b;
}
template <class T>
KW_DEVICE T minimum(T a, T b) {
  return (a < b) | (a != a) ? a : b;
}
KW_DEVICE float maximum(float a, float b) { return greater_of(a, b); }
KW_DEVICE float minimum(float a, float b) { return lesser_of(a, b); }

// Where a maximum or a minimum of any type starts.
template <class T>
struct Range {
  static constexpr T kGreatest = T(~(uint64_t(1) << (8 * sizeof(T) - 1)));
  static constexpr T kLeast = T(-kGreatest - 1);
};
template <>
struct Range<uint8_t> {
  static constexpr uint8_t kGreatest = 255, kLeast = 0;
};
template <>
struct Range<bool> {
  static constexpr bool kGreatest = true, kLeast = false;
};
struct Least {
  KW_DEVICE operator float() const { return -INFINITY; }
  KW_DEVICE operator double() const { return -INFINITY; }
  template <class T>
  KW_DEVICE operator T() const {
    return Range<T>::kLeast;
  }
};
struct Greatest {
  KW_DEVICE operator float() const { return INFINITY; }
  KW_DEVICE operator double() const { return INFINITY; }
  template <class T>
  KW_DEVICE operator T() const {
    return Range<T>::kGreatest;
  }
};

// Associative operations: how two results become one, and what changes none.
struct Sum {
  template <class T>
  KW_DEVICE static T combine(T a, T b) {
    return a + b;
  }
  template <class T>
  KW_DEVICE static T start() {
    return T(0);
  }
};
struct Product {
  template <class T>
  KW_DEVICE static T combine(T a, T b) {
    return a * b;
  }
  template <class T>
  KW_DEVICE static T start() {
    return T(1);
  }
};
struct Maximum {
  template <class T>
  KW_DEVICE static T combine(T a, T b) {
    return maximum(a, b);
  }
  template <class T>
  KW_DEVICE static T start() {
    return Least();
  }
};
struct Minimum {
  template <class T>
  KW_DEVICE static T combine(T a, T b) {
    return minimum(a, b);
  }
  template <class T>
  KW_DEVICE static T start() {
    return Greatest();
  }
};
struct Or {
  template <class T>
  KW_DEVICE static T combine(T a, T b) {
    return a | b;
  }
  template <class T>
  KW_DEVICE static T start() {
    return T(0);
  }
};
struct And {
  template <class T>
  KW_DEVICE static T combine(T a, T b) {
    return a & b;
  }
  template <class T>
  KW_DEVICE static T start() {
    return T(1);
  }
};

// Over groups of `lanes` neighbours of a warp, a power of two; each of them has the result.
template <class Op, class T>
KW_DEVICE T warp_reduce(T value, int lanes = 32) {
  if (lanes == 32) {
    KW_UNROLL
    for (int mask = 16; mask > 0; mask /= 2) value = Op::combine(value, shuffle_xor(value, mask));
    return value;
  }
  for (int mask = lanes / 2; mask > 0; mask /= 2) value = Op::combine(value, shuffle_xor(value, mask));
  return value;
}
template <class T>
KW_DEVICE T warp_sum(T value, int lanes = 32) {
  return warp_reduce<Sum>(value, lanes);
}

// Results of the warps of a block, on their way to the other warps.
inline constexpr int kMostWarps = 32;

// One value of a reduction over the block: what each thread has, and where the warps' results meet.
template <class Op, class T>
struct Part {
  T& value;
  Shared<T> parts;  // kMostWarps for each turn
  KW_DEVICE void over_lanes(int lanes) const { value = warp_reduce<Op>(value, lanes); }
  KW_DEVICE void publish(int turn) const {
    if (lane() == 0) parts[turn * kMostWarps + warp()] = value;
  }
  KW_DEVICE void collect(int turn) const {
    value = lane() < warps() ? T(parts[turn * kMostWarps + lane()]) : Op::template start<T>();
    value = warp_reduce<Op>(value);
  }
};
template <class T>
struct shared_of {
  using type = Shared<T>;
};
template <class Op, class T>
KW_DEVICE Part<Op, T> part(T& value, typename shared_of<T>::type parts) {
  return {value, parts};
}

// Reduces values over the threads of a block, all with one barrier; every thread has the results. The next reduction in
// the same parts must have the other turn, unless a barrier lies between: no warp writes what another still reads.
template <class... Parts>
KW_DEVICE void block_reduce(int turn, const Parts&... part) {
  (part.over_lanes(32), ...);
  if (warps() == 1) return;
  (part.publish(turn), ...);
  barrier();
  (part.collect(turn), ...);
}
// Likewise over groups of lanes within a warp: no barrier.
template <class... Parts>
KW_DEVICE void lanes_reduce(int lanes, const Parts&... part) {
  (part.over_lanes(lanes), ...);
}

// One value of a reduction over the warps of a block, for each lane apart.
template <class Op, class T>
struct LanePart {
  T& value;
  Shared<T> parts;  // kMostWarps * 32
  KW_DEVICE void over_columns(int columns) const {
    for (int mask = 16; mask >= columns; mask /= 2) value = Op::combine(value, shuffle_xor(value, mask));
  }
  KW_DEVICE void publish() const { parts[kw::thread()] = value; }
  KW_DEVICE void collect() const {
    T all = parts[lane()];
    for (int w = 1; w < warps(); ++w) all = Op::combine(all, T(parts[w * 32 + lane()]));
    value = all;
  }
};
template <class Op, class T>
KW_DEVICE LanePart<Op, T> lane_part(T& value, typename shared_of<T>::type parts) {
  return {value, parts};
}
// Reduces values over the warps of a block, all with one barrier; every thread has the results of its lane.
template <class... Parts>
KW_DEVICE void warps_reduce(const Parts&... part) {
  if (warps() == 1) return;
  (part.publish(), ...);
  barrier();
  (part.collect(), ...);
}
// Likewise where lanes that are some columns apart have the same one.
template <class... Parts>
KW_DEVICE void columns_reduce(int columns, const Parts&... part) {
  (part.over_columns(columns), ...);
  warps_reduce(part...);
}
// How many neighbouring columns a block has: as few as there are blocks for, but a quarter of a warp at least.
template <class Index>
KW_DEVICE int columns_of_block(Index points) {
  int columns = 8;
  while (columns < 32 && static_cast<Index>(blocks()) * columns < points) columns *= 2;
  return columns;
}

}  // namespace kw
