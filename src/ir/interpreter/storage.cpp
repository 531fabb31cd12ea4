#include "ir/interpreter/storage.h"

#include <algorithm>

namespace kw::ir::interpreter {

struct BufferPool::Shelf {
  struct Free {
    std::unique_ptr<double[]> buffer;
    int64_t capacity;
  };
  std::vector<Free> free;
  bool open = true;
};

BufferPool::BufferPool() : shelf_(std::make_shared<Shelf>()) {}
BufferPool::~BufferPool() {
  shelf_->open = false;
  shelf_->free.clear();
}

std::shared_ptr<double[]> BufferPool::take(int64_t n) {
  n = std::max<int64_t>(n, 1);
  auto best = shelf_->free.end();
  for (auto it = shelf_->free.begin(); it != shelf_->free.end(); ++it)
    if (it->capacity >= n && it->capacity <= 2 * n + 1024 &&
        (best == shelf_->free.end() || it->capacity < best->capacity))
      best = it;
  std::unique_ptr<double[]> buffer;
  int64_t capacity = n;
  if (best != shelf_->free.end()) {
    buffer = std::move(best->buffer);
    capacity = best->capacity;
    shelf_->free.erase(best);
  } else {
    buffer.reset(new double[static_cast<size_t>(n)]);
  }
  double* raw = buffer.release();
  return std::shared_ptr<double[]>(raw, [shelf = shelf_, capacity](double* p) {
    std::unique_ptr<double[]> owned(p);
    if (shelf->open) shelf->free.push_back({std::move(owned), capacity});
  });
}

Walk::Walk(std::vector<int64_t> sizes, std::vector<std::vector<int64_t>> strides)
    : sizes_(std::move(sizes)),
      index_(sizes_.size(), 0),
      offsets_(strides.size(), 0),
      strides_(std::move(strides)),
      done_(std::any_of(sizes_.begin(), sizes_.end(), [](int64_t n) { return n <= 0; })) {}

void Walk::next() {
  for (size_t d = sizes_.size(); d-- > 0;) {
    const bool wraps = ++index_[d] == sizes_[d];
    if (wraps) index_[d] = 0;
    for (size_t s = 0; s < offsets_.size(); ++s)
      offsets_[s] += wraps ? -strides_[s][d] * (sizes_[d] - 1) : strides_[s][d];
    if (!wraps) return;
  }
  done_ = true;
}

}  // namespace kw::ir::interpreter
