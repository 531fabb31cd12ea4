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
  explicit Workspace(std::initializer_list<kw_host::Tensor*> tensors) {
    kw_host::lay_out(tensors, [&](std::int64_t bytes) {
      return data_ = ::operator new(static_cast<std::size_t>(bytes), kAlignment);
    });
  }
  Workspace(const Workspace&) = delete;
  ~Workspace() { ::operator delete(data_, kAlignment); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  void* data_ = nullptr;
};

}  // namespace kw_library
