// The elements of one row that a kernel wants a second time: computed once, they stay in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "lanes.h"

namespace kw {

template <class T>
class RowBuffer {
 public:
  explicit RowBuffer(int64_t n) : data_(near_) {
    if (n > kNear)
      data_ = static_cast<T*>(::operator new(static_cast<size_t>(n) * sizeof(T), std::align_val_t(kAlignment)));
  }
  ~RowBuffer() {
    if (data_ != near_) ::operator delete(data_, std::align_val_t(kAlignment));
  }
  RowBuffer(const RowBuffer&) = delete;
  RowBuffer& operator=(const RowBuffer&) = delete;
  T& operator[](int64_t i) { return data_[i]; }
#if KW_HAS_LANES
  KW_INLINE LaneOf operator[](Lane lane) { return {data_ + lane.at, lane.mask}; }
#endif

 private:
  static constexpr int64_t kNear = 16384 / sizeof(T);  // rows up to here lie on the stack
  static constexpr size_t kAlignment = 64;
  T* data_;
  alignas(kAlignment) T near_[kNear];
};

}  // namespace kw
