// A tensor as a caller hands it over: where it is, its element type, sizes and strides. It owns no memory.
//
//   Tensor x(pointer, Dtype::kBF16, {8192, 4096});                 // dense
//   Tensor half(pointer, Dtype::kBF16, {8192, 2048}, {4096, 1});   // with strides, which count elements
#pragma once

#include <initializer_list>
#include <stdexcept>

#include "kw_host/view.h"

struct CUstream_st;

namespace kw_host {

using Stream = CUstream_st*;  // cudaStream_t

class Tensor {
 public:
  Tensor(const void* data, Dtype dtype, std::initializer_list<std::int64_t> sizes) : Tensor(data, dtype, sizes, {}) {}
  // Without strides: dense.
  Tensor(const void* data, Dtype dtype, std::initializer_list<std::int64_t> sizes,
         std::initializer_list<std::int64_t> strides)
      : data_(const_cast<void*>(data)), dtype_(dtype), rank_(static_cast<std::int64_t>(sizes.size())) {
    if (sizes.size() > kMaxRank) throw std::runtime_error("a tensor of more than 8 dimensions");
    if (strides.size() != 0 && strides.size() != sizes.size())
      throw std::runtime_error("a tensor has as many strides as sizes");
    std::int64_t next = 1;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      sizes_[d] = sizes.begin()[d];
      strides_[d] = strides.size() == 0 ? next : strides.begin()[d];
      next *= max(sizes_[d], 1);
    }
  }

  View view() const { return {data_, sizes_, strides_, rank_, dtype_}; }
  void lie_at(void* data) { data_ = data; }

 private:
  void* data_;
  Dtype dtype_;
  std::int64_t rank_;
  std::int64_t sizes_[kMaxRank] = {};
  std::int64_t strides_[kMaxRank] = {};
};

// Memory for dense tensors, in one piece: each lies at a multiple of 256 bytes. `allocate(bytes)` says where.
template <class Allocate>
void lay_out(std::initializer_list<Tensor*> tensors, const Allocate& allocate) {
  const auto room = [](const Tensor& tensor) {
    return ceil_div(numel(tensor.view()) * bytes(tensor.view()), 256) * 256;
  };
  std::int64_t all = 0;
  for (const Tensor* tensor : tensors) all += room(*tensor);
  auto* next = static_cast<char*>(allocate(all));
  for (Tensor* tensor : tensors) {
    tensor->lie_at(next);
    next += room(*tensor);
  }
}

}  // namespace kw_host
