// Where values live while a graph runs: strided views of buffers that a pool reuses.
//
// A fresh buffer of a large tensor costs more in page faults than the arithmetic on it, so a node's buffer goes back to
// the pool when its last reader is done.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/graph.h"

namespace kw::ir::interpreter {

class BufferPool {
 public:
  BufferPool();
  ~BufferPool();
  // At least n doubles, not initialised; returns to the pool with its last owner.
  std::shared_ptr<double[]> take(int64_t n);

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;
};

// A node's value: element at index i is values[Σ i[axis] * stride(axis)]. An axis without a stride is a broadcast.
struct View {
  const double* values = nullptr;
  const double* bounds = nullptr;  // addressed like values; null: every element is exact
  std::vector<AxisId> axes;
  std::vector<int64_t> strides;  // parallel to axes, in elements
  std::shared_ptr<const void> owner;

  int64_t stride(AxisId axis) const {
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i] == axis) return strides[i];
    return 0;
  }
};

// A new value: dense, row-major in the order of its axes.
struct Store {
  View view;
  double* values = nullptr;
  double* bounds = nullptr;  // null where bounds are not tracked
  int64_t count = 0;

  int64_t stride(AxisId axis) const { return view.stride(axis); }
};

// Visits every index of some axes, the last fastest, and keeps one element offset per stream up to date.
class Walk {
 public:
  // strides[stream][axis]
  Walk(std::vector<int64_t> sizes, std::vector<std::vector<int64_t>> strides);
  bool done() const { return done_; }
  void next();
  int64_t offset(size_t stream) const { return offsets_[stream]; }
  const std::vector<int64_t>& index() const { return index_; }

 private:
  std::vector<int64_t> sizes_, index_, offsets_;
  std::vector<std::vector<int64_t>> strides_;
  bool done_;
};

}  // namespace kw::ir::interpreter
