// Addresses, masks, loads and stores.
#include <algorithm>

#include "act/emit/access.h"
#include "act/emit/triton/writer.h"
#include "act/loop/index.h"

namespace kw::act::triton {

Axes Writer::axes_of_access(const std::vector<Index>& at) const {
  Axes axes;
  for (const Index& index : at) {
    for (LoopAxisId a : axes_of(index)) axes.push_back(a);
    for (ValueId v : values_of(index)) axes.insert(axes.end(), kernel_[v].axes.begin(), kernel_[v].axes.end());
  }
  return axes;
}

// Of the directions of the tile that the address runs through.
std::string Writer::mask_of(const std::vector<Index>& at) const {
  const Axes axes = axes_of_access(at);
  const bool along_rows = meet(axes, row_axes_), along_columns = meet(axes, column_axes_);
  if (along_rows && along_columns) return mask_;
  return along_rows ? row_mask_ : along_columns ? column_mask_ : "";
}

// A tensor of the function, or else one that it takes along for its type alone. What only the second function of a
// kernel writes is not there yet in the first; a type that joins others can do without.
std::string Writer::tensor_of_type(ir::Type type) {
  std::optional<BufferId> found;
  auto consider = [&](BufferId id) {
    if (!found && buffer(id).type == type) found = id;
  };
  for (BufferId id : used_) consider(id);
  const auto comes_later = [&](BufferId id) {
    return first_of_two_ && std::any_of(kernel_.stages.begin(), kernel_.stages.end(), [&](const Stage& stage) {
             return std::any_of(stage.after_stores.begin(), stage.after_stores.end(),
                                [&](const Store& store) { return store.buffer == id; });
           });
  };
  for (const Access& access : accesses_of(kernel_))
    if (!comes_later(access.buffer)) consider(access.buffer);
  for (size_t b = 0; b < program_.buffers.size(); ++b)
    if (program_.buffers[b].role == Buffer::Role::Input) consider(static_cast<BufferId>(b));
  if (!found) return {};
  used_.insert(*found);
  return buffer(*found).name;
}

// Dense tensors have no strides: (batch * seq + row) * cols + col. It begins with what is 64 bits wide, so that nothing
// overflows on the way.
std::string Writer::offset(BufferId id, const std::vector<Index>& at) {
  std::string text;
  if (is_dense(id)) {
    for (size_t d = 0; d < at.size(); ++d) {
      const bool zero = at[d] == size_index(0);
      if (!text.empty() && !(buffer(id).shape[d] == ir::Size(1)))
        text = parenthesised(text) + " * " + parenthesised(size_text_of(buffer(id).shape[d]));
      if (!zero) text += (text.empty() ? "" : " + ") + expressions_.index(at[d]);
    }
    return text;
  }
  for (size_t d = 0; d < at.size(); ++d) {
    if (at[d] == size_index(0)) continue;
    strides_.insert({id, d});
    text += (text.empty() ? "" : " + ") + parenthesised(expressions_.index(at[d])) + " * " + buffer(id).name +
            "_stride_" + std::to_string(d);
  }
  return text;
}

std::string Writer::address(BufferId id, const std::vector<Index>& at) {
  used_.insert(id);
  const std::string from = offset(id, at);
  return buffer(id).name + (from.empty() ? "" : " + " + from);
}

std::string Writer::load_text(const Load& load) {
  std::string mask = mask_of(load.at), other;
  if (load.guard != kNoValue) {
    const Text guard = expressions_.of(load.guard);
    mask = mask.empty() ? guard.text : parenthesised(mask) + " & " + Expressions::inside(guard, Level::And);
    const Text otherwise = expressions_.of(load.otherwise);
    other = ", other=" + otherwise.text;
    if (!std::holds_alternative<Number>(kernel_[load.otherwise].what)) expressions_.refuse("guarded-load");
  } else if (!mask.empty()) {
    other = ", other=0";
  }
  const std::string last = reloading_ ? ", eviction_policy=\"evict_first\"" : "";
  return "tl.load(" + address(load.buffer, load.at) + (mask.empty() ? "" : ", mask=" + mask + other) + last + ")";
}

void Writer::store(const Store& store, Lines& out) {
  written_.insert(store.buffer);
  const Text value = expressions_.of(store.value, !(kernel_[store.value].type == buffer(store.buffer).type));
  const std::string mask = mask_of(store.at);
  out.line("tl.store(" + address(store.buffer, store.at) + ", " + value.text + (mask.empty() ? "" : ", mask=" + mask) +
           ")");
}

}  // namespace kw::act::triton
