// What a call on the CPU needs: memory to work in, and how many threads there are.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

#include <new>

#include "kw_host/check.h"
#include "kw_host/tensor.h"

namespace kw_library {

inline std::int64_t threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

// Memory for the time of one call.
class Workspace {
 public:
  Workspace(kw_host::View& view, kw_host::Dtype dtype, std::initializer_list<std::int64_t> sizes)
      : tensor_(nullptr, dtype, sizes) {
    view = tensor_.view();
    data_ = ::operator new(static_cast<std::size_t>(kw_host::numel(view) * kw_host::bytes(view)), kAlignment);
    view.data = data_;
  }
  Workspace(const Workspace&) = delete;
  ~Workspace() { ::operator delete(data_, kAlignment); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  kw_host::Tensor tensor_;
  void* data_ = nullptr;
};

}  // namespace kw_library
