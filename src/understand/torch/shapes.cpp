// What a tensor's dimensions are, and views that only order, add, drop or repeat them.
#include <algorithm>

#include "understand/torch/entry.h"
#include "understand/torch/formula.h"
#include "understand/torch/reshape.h"
#include "understand/torch/views.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::Op;
using ir::Size;

Result<Value> size(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  std::vector<Size> shape = shape_of(call.builder.graph(), x);
  if (call.given("dim")) {
    KW_TRY(size_t position, call.dim("dim", x.dims.size()));
    if (x.dims.empty()) return call.refuse("asks a tensor of rank 0 for a dimension");
    return Value{shape[position]};
  }
  SequenceValue sizes;
  for (const Size& s : shape) sizes.items.push_back(Value{s});
  return Value{std::move(sizes)};
}

Result<Value> shape(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  SequenceValue sizes;
  for (const Size& s : shape_of(call.builder.graph(), x)) sizes.items.push_back(Value{s});
  return Value{std::move(sizes)};
}

Result<Value> rank(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  return Value{Size(static_cast<int64_t>(x.dims.size()))};
}

Result<Value> count(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  Size total(1);
  for (const Size& s : shape_of(call.builder.graph(), x)) total = total * s;
  return Value{total};
}

Result<Value> dtype(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  return Value{DTypeValue{type_of(call.builder, x)}};
}
Result<Value> device(Call&) { return Value{DeviceValue{}}; }
Result<Value> is_floating_point(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  return Value{type_of(call.builder, x).floating()};
}
Result<Value> yes(Call&) { return Value{true}; }

Result<Value> read_unsqueeze(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim("dim", x.dims.size() + 1));
  return Value{unsqueeze(x, position)};
}

Result<Value> squeeze(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(std::vector<size_t> positions, call.dims("dim", x.dims.size()));
  TensorValue out{x.node, {}};
  for (size_t i = 0; i < x.dims.size(); ++i) {
    bool named = std::find(positions.begin(), positions.end(), i) != positions.end();
    if (!named || x.dims[i] != kUnit) out.dims.push_back(x.dims[i]);
  }
  return Value{out};
}

Result<Value> transpose(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t a, call.dim("dim0", x.dims.size()));
  KW_TRY(size_t b, call.dim("dim1", x.dims.size()));
  TensorValue out{x.node, x.dims};
  if (!x.dims.empty()) std::swap(out.dims[a], out.dims[b]);
  return Value{out};
}

Result<Value> permute(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(std::vector<size_t> order, call.dims("dims", x.dims.size()));
  if (order.size() != x.dims.size())
    return call.refuse("needs " + std::to_string(x.dims.size()) + " dimensions, got " + std::to_string(order.size()));
  TensorValue out{x.node, {}};
  for (size_t i : order) out.dims.push_back(x.dims[i]);
  return Value{out};
}

Result<Value> movedim(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(std::vector<size_t> source, call.dims("source", x.dims.size()));
  KW_TRY(std::vector<size_t> destination, call.dims("destination", x.dims.size()));
  if (source.size() != destination.size()) return call.refuse("needs as many destinations as sources");
  std::vector<std::optional<AxisId>> placed(x.dims.size());
  for (size_t i = 0; i < source.size(); ++i) placed[destination[i]] = x.dims[source[i]];
  size_t next = 0;
  TensorValue out{x.node, {}};
  for (const auto& axis : placed) {
    while (!axis && std::find(source.begin(), source.end(), next) != source.end()) ++next;
    out.dims.push_back(axis ? *axis : x.dims[next++]);
  }
  return Value{out};
}

Result<Value> reversed_dims(Call& call) {  // x.T
  KW_TRY(TensorValue x, call.tensor("input"));
  return Value{TensorValue{x.node, {x.dims.rbegin(), x.dims.rend()}}};
}

Result<Value> matrix_transpose(Call& call) {  // x.t(), x.mT
  KW_TRY(TensorValue x, call.tensor("input"));
  bool two_only = call.name.ends_with(".t") || call.name.starts_with("aten.t.");
  if (x.dims.size() > 2 && two_only) return call.refuse("needs a tensor of rank 2 or less");
  TensorValue out{x.node, x.dims};
  if (out.dims.size() >= 2) std::swap(out.dims[out.dims.size() - 1], out.dims[out.dims.size() - 2]);
  return Value{out};
}

// Sizes of -1 stay; dimensions of size one repeat; new dimensions come in front.
Result<TensorValue> expand(Call& call, const TensorValue& x, const std::vector<Size>& sizes) {
  if (sizes.size() < x.dims.size()) return call.refuse("cannot drop dimensions");
  TensorValue out{x.node, x.dims};
  out.dims.insert(out.dims.begin(), sizes.size() - x.dims.size(), kUnit);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == Size(-1)) continue;
    if (out.dims[i] == kUnit) {
      out = repeat_unit(call.context, out, i, sizes[i]);
    } else {
      KW_CHECK(require_same_size(call.context, Size(call.builder.graph().axis(out.dims[i]).size), sizes[i]));
    }
  }
  return out;
}

Result<Value> read_expand(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(std::vector<Size> sizes, call.sizes("size"));
  KW_TRY(TensorValue out, expand(call, x, sizes));
  return Value{out};
}

Result<Value> expand_as(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(TensorValue other, call.tensor("other"));
  KW_TRY(TensorValue out, expand_like(call.context, x, other.dims));
  return Value{out};
}

Result<Value> broadcast_tensors(Call& call) {
  KW_TRY(std::vector<TensorValue> tensors, call.tensors("tensors"));
  KW_TRY(Broadcasted common, broadcast_together(call.context, tensors));
  std::vector<TensorValue> out;
  for (ir::NodeId node : common.nodes) out.push_back(expand_to(call.context, node, common.dims));
  return to_tuple(std::move(out));
}

// The dimension `times` over: a new outer dimension, merged with it.
Result<TensorValue> repeat_dim(Call& call, const TensorValue& x, size_t position, const Size& times, bool interleave) {
  if (times == Size(1)) return x;
  if (x.dims[position] == kUnit) return repeat_unit(call.context, x, position, times);
  size_t at = interleave ? position + 1 : position;
  TensorValue wide = repeat_unit(call.context, unsqueeze(x, at), at, times);
  return merge_dims(call.context, wide, position);
}

Result<Value> repeat(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(std::vector<Size> times, call.sizes("repeats"));
  TensorValue out{x.node, x.dims};
  bool tile = call.name.find("tile") != std::string_view::npos;
  if (tile && times.size() < x.dims.size()) times.insert(times.begin(), x.dims.size() - times.size(), Size(1));
  if (times.size() < x.dims.size()) return call.refuse("needs a count for every dimension");
  out.dims.insert(out.dims.begin(), times.size() - x.dims.size(), kUnit);
  for (size_t i = 0; i < times.size(); ++i) {
    KW_TRY(out, repeat_dim(call, out, i, times[i], false));
  }
  return Value{out};
}

Result<Value> repeat_interleave(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  if (call["repeats"].is_tensor()) return call.refuse("is read with a number of repeats, not with a tensor of them");
  KW_TRY(Size times, call.size("repeats"));
  size_t position = 0;
  if (call.given("dim")) {
    KW_TRY(position, call.dim_of("dim", x));
  } else {
    KW_TRY(x, flatten(call.context, x, 0, x.dims.size()));
  }
  KW_TRY(TensorValue out, repeat_dim(call, x, position, times, true));
  return Value{out};
}

constexpr Entry kEntries[] = {
    {"size", kMethod, "input, dim=None", size},
    {"sym_size", kAten, "input, dim=None", size},
    {"shape", kProperty, "input", shape},
    {"dim", kMethod | kAten, "input", rank},
    {"ndimension", kMethod, "input", rank},
    {"ndim", kProperty, "input", rank},
    {"numel", kTensor, "input", count},
    {"sym_numel", kAten, "input", count},
    {"nelement", kMethod, "input", count},
    {"dtype", kProperty, "input", dtype},
    {"device", kProperty, "input", device},
    {"is_floating_point", kTensor, "input", is_floating_point},
    {"is_contiguous", kMethod, "input, memory_format=None", yes},
    {"unsqueeze", kTensor, "input, dim", read_unsqueeze},
    {"squeeze", kTensor, "input, *dim", squeeze},
    {"transpose", kTensor, "input, dim0, dim1", transpose},
    {"swapaxes", kTensor, "input, dim0, dim1", transpose},
    {"swapdims", kTensor, "input, dim0, dim1", transpose},
    {"permute", kMethod | kAten, "input, *dims", permute},
    {"permute", kTorch, "input, dims", permute},
    {"movedim", kTensor, "input, source, destination", movedim},
    {"moveaxis", kTensor, "input, source, destination", movedim},
    {"t", kTensor, "input", matrix_transpose},
    {"T", kProperty, "input", reversed_dims},
    {"numpy_T", kAten, "input", reversed_dims},
    {"mT", kProperty | kAten, "input", matrix_transpose},
    {"adjoint", kTensor, "input", matrix_transpose},
    {"expand", kMethod, "input, *size", read_expand},
    {"expand", kAten, "input, size, implicit=False", read_expand},
    {"broadcast_to", kTensor, "input, size", read_expand},
    {"expand_as", kMethod | kAten, "input, other", expand_as},
    {"broadcast_tensors", kTorch, "*tensors", broadcast_tensors},
    {"broadcast_tensors", kAten, "tensors", broadcast_tensors},
    {"repeat", kMethod | kAten, "input, *repeats", repeat},
    {"tile", kMethod | kAten, "input, *repeats", repeat},
    {"tile", kTorch, "input, repeats", repeat},
    {"repeat_interleave", kTensor, "input, repeats, dim=None, *, output_size=None", repeat_interleave},
};

}  // namespace

std::span<const Entry> shape_entries() { return kEntries; }

}  // namespace kw::understand
