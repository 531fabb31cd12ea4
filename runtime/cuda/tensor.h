// Tensors of a kernel: a pointer and strides in elements. Index is what offsets are computed in: int where all of them
// fit, else int64_t.
#pragma once

#include "vectors.h"

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

}  // namespace kw
