// Tensors of a kernel on the CPU: a pointer and strides in elements.
#pragma once

#include <cstdint>

#include "wide_lanes.h"

namespace kw {

inline int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }

template <class Element, class Value>
inline void fill(Element* elements, int64_t n, Value value) {
  for (int64_t i = 0; i < n; ++i) elements[i] = value;
}

// Of two lanes of a row: fetches those that the loop comes to 1 KiB later, which may lie beyond the tensor. Bodies that
// go by two lanes fill all that the machine looks ahead with arithmetic, so that it would find their loads late.
template <class Element>
KW_INLINE inline void fetch_ahead(const Element* lanes) {
  constexpr int64_t kAhead = 1024, kBytes = 2 * kLanes * static_cast<int64_t>(sizeof(Element));
#pragma GCC unroll 8
  for (int64_t i = 0; i < kBytes; i += 64) __builtin_prefetch(reinterpret_cast<const char*>(lanes) + kAhead + i, 0, 3);
}

// One dimension of a tensor. With kUnit its elements are known to lie next to each other.
template <class Element, bool kUnit>
struct Row {
  Element* data;
  int64_t stride;
  Element& operator[](int64_t i) const { return data[kUnit ? i : i * stride]; }
#if KW_HAS_LANES
  KW_INLINE auto operator[](Lane lane) const {
    static_assert(kUnit);
    if constexpr (std::is_const_v<Element>)
      return load_lane(data + lane.at, lane.mask);
    else
      return LaneOf{data + lane.at, lane.mask};
  }
  KW_INLINE WideFloats operator[](WideLane lane) const {
    fetch_ahead(data + lane.at);
    return {(*this)[lane.low()], (*this)[lane.high()]};
  }
#endif
};

// Of a loop through neighbouring rows, at an element of this one: touches the page that it comes to eight pages later,
// which may lie beyond the tensor, so that the page's address is known by then. What the page holds comes in as usual.
template <class Element, bool kUnit>
inline void look_ahead(Row<Element, kUnit> row, int64_t at) {
  constexpr int64_t kAhead = 8 * 4096 / static_cast<int64_t>(sizeof(Element));
  if constexpr (kUnit) __builtin_prefetch(row.data + at + kAhead, std::is_const_v<Element> ? 0 : 1, 3);
}

template <class Element, int kDimensions>
struct Tensor {
  Element* data;
  int64_t strides[kDimensions];

  template <class... Index>
  int64_t offset(Index... index) const {
    static_assert(sizeof...(Index) <= kDimensions);
    int64_t sum = 0;
    int dimension = 0;
    ((sum += static_cast<int64_t>(index) * strides[dimension++]), ...);
    return sum;
  }
  template <class... Index>
  Element& operator()(Index... index) const {
    return data[offset(index...)];
  }
  // Along the last dimension, at an index of each of the others.
  template <bool kUnit, class... Index>
  Row<Element, kUnit> row(Index... index) const {
    static_assert(sizeof...(Index) == kDimensions - 1);
    return {data + offset(index...), strides[kDimensions - 1]};
  }
  // Along any dimension, which takes part with index 0 in `offset`.
  Row<Element, false> along(int dimension, int64_t offset) const { return {data + offset, strides[dimension]}; }
};
template <class Element>
struct Tensor<Element, 0> {
  Element* data;
  Element& operator()() const { return *data; }
};

}  // namespace kw
