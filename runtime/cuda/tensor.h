// Tensors of a kernel: a pointer and strides in elements. Index is what offsets are computed in: int where all of them
// fit, else int64_t.
#pragma once

#include "memory.h"

namespace kw {

template <class Element, int kDimensions, class Index = int64_t>
struct Tensor {
  Element* data;
  Index strides[kDimensions];

  template <class... Indices>
  KW_DEVICE Index offset(Indices... index) const {
    static_assert(sizeof...(Indices) <= kDimensions);
    Index sum = 0;
    int dimension = 0;
    ((sum += static_cast<Index>(index) * strides[dimension++]), ...);
    return sum;
  }
  template <class... Indices>
  KW_DEVICE Element* at(Indices... index) const {
    return data + offset(index...);
  }
};
template <class Element, class Index>
struct Tensor<Element, 0, Index> {
  Element* data;
  KW_DEVICE Element* at() const { return data; }
};

// The first `count` of N neighbours, the others zero; and back.
template <int N, class T>
KW_DEVICE Vector<T, N> load_vector_once(const T* from, int64_t count) {
  if (count >= N) return load_vector_once<N>(from);
  Vector<T, N> value;
  KW_UNROLL
  for (int i = 0; i < N; ++i) value[i] = i < count ? load_once(from + i) : T(0.0f);
  return value;
}
template <int N, class T>
KW_DEVICE void store_vector_streaming(T* to, const Vector<T, N>& value, int64_t count) {
  if (count >= N) {
    store_vector_streaming(to, value);
    return;
  }
  KW_UNROLL
  for (int i = 0; i < N; ++i)
    if (i < count) store_streaming(to + i, value[i]);
}

}  // namespace kw
