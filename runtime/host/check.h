// What a call must fulfil to be served by a kernel.
#pragma once

#include <stdexcept>
#include <string>

#include "kw_host/view.h"

namespace kw_host {

// Who called may have another way: PyTorch's users get the reference.
[[noreturn]] inline void unsupported(const std::string& why) {
  throw std::runtime_error("no kernel serves this call: " + why);
}

// The mixture of types that the tensors have: a row of the table.
template <int kMixtures, int kTensors>
int mixture_of(const std::string& op, const Dtype (&table)[kMixtures][kTensors], const View* const (&views)[kTensors]) {
  for (int mixture = 0; mixture < kMixtures; ++mixture) {
    bool fits = true;
    for (int i = 0; i < kTensors; ++i) fits = fits && views[i]->dtype == table[mixture][i];
    if (fits) return mixture;
  }
  std::string types;
  for (const View* view : views) types += std::string(types.empty() ? "" : ", ") + name_of(view->dtype);
  unsupported(op + "no kernel is compiled for this mixture of element types: " + types);
}

inline void need_rank(const std::string& op, const char* name, const View& view, std::int64_t rank) {
  if (view.rank != rank)
    unsupported(op + name + " has " + std::to_string(view.rank) + " dimensions, not " + std::to_string(rank));
}
inline void need_size(const std::string& op, const char* name, const View& view, int d, std::int64_t size) {
  if (view.sizes[d] != size)
    unsupported(op + "dimension " + std::to_string(d) + " of " + name + " is " + std::to_string(view.sizes[d]) +
                ", not " + std::to_string(size));
}
inline void need_type(const std::string& op, const char* name, const View& view, Dtype dtype) {
  if (view.dtype != dtype) unsupported(op + name + " has another element type than this mixture gives it");
}
inline void need(const std::string& op, bool holds, const char* condition) {
  if (!holds) unsupported(op + "sizes must fulfil " + condition);
}

}  // namespace kw_host
