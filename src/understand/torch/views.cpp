#include "understand/torch/views.h"

#include <algorithm>
#include <limits>

#include "understand/torch/promotion.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;

NodeId index_node(ir::GraphBuilder& builder, const Size& index) {
  auto constant = index.constant();
  return constant ? builder.integer(*constant) : builder.size_of(index);
}

// An end of a slice inside [0, size]: negative ends count from the back, ends beyond the size stop there.
Result<Size> clamped_end(TorchContext& context, const Size& end, const Size& size) {
  const ir::Graph& graph = context.builder.graph();
  Size out = end;
  auto value = graph.hinted(end);
  if (value && *value < 0) out = size + end;
  if (value && *value == std::numeric_limits<int64_t>::max()) return size;
  if (out == size) return size;
  value = graph.hinted(out);
  auto limit = graph.hinted(size);
  if (value && *value < 0) return Size(0);
  if (value && limit && *value > *limit) return size;
  return out;
}

}  // namespace

AxisId new_dim(TorchContext& context, const std::vector<AxisId>& taken, std::string_view name, const Size& size) {
  if (size == Size(1)) return kUnit;
  for (int i = 0;; ++i) {
    std::string key = i == 0 ? std::string(name) : std::string(name) + std::to_string(i);
    AxisId axis = context.builder.axis_like(kUnit, key, size);
    if (std::find(taken.begin(), taken.end(), axis) == taken.end()) return axis;
  }
}

TensorValue unsqueeze(const TensorValue& x, size_t position) {
  TensorValue out{x.node, x.dims};
  out.dims.insert(out.dims.begin() + static_cast<std::ptrdiff_t>(position), kUnit);
  return out;
}

Result<TensorValue> select_dim(TorchContext& context, const TensorValue& x, size_t position, const Size& index) {
  const ir::Graph& graph = context.builder.graph();
  AxisId axis = x.dims[position];
  Size size = size_of_dim(graph, axis);
  auto value = graph.hinted(index), limit = graph.hinted(size);
  if (value && limit && (*value < -*limit || *value >= *limit))
    return bad_input("index " + graph.size_text(index) + " is outside the dimension of size " + graph.size_text(size));
  TensorValue out{x.node, x.dims};
  out.dims.erase(out.dims.begin() + static_cast<std::ptrdiff_t>(position));
  if (axis == kUnit) return out;
  Size from_front = value && *value < 0 ? size + index : index;
  out.node = context.builder.make(Op::Gather, {x.node, index_node(context.builder, from_front)}, ir::AxisList{{axis}});
  return out;
}

Result<TensorValue> slice_dim(TorchContext& context, const TensorValue& x, size_t position, const Size& start,
                              const Size& length, int64_t step) {
  AxisId axis = x.dims[position];
  Size size = size_of_dim(context.builder.graph(), axis);
  if (start == Size(0) && length == size && step == 1) return TensorValue{x.node, x.dims};
  TensorValue out{x.node, x.dims};
  if (length == Size(1)) {
    KW_TRY(TensorValue one, select_dim(context, x, position, start));
    return unsqueeze(one, position);
  }
  if (axis == kUnit) {  // only an empty slice is left
    out = repeat_unit(context, x, position, length);
    return out;
  }
  std::string key = "slice " + context.builder.graph().size_text(start) + " by " + std::to_string(step);
  AxisId to = context.builder.axis_like(axis, key, length);
  KW_TRY(out.node, context.builder.try_make(Op::Slice, {x.node}, ir::SliceAttr{axis, to, start, step}));
  out.dims[position] = to;
  return out;
}

Result<TensorValue> python_slice(TorchContext& context, const TensorValue& x, size_t position,
                                 const std::optional<Size>& start, const std::optional<Size>& stop, int64_t step) {
  if (step < 1) return bad_input("a slice's step must be positive");
  Size size = size_of_dim(context.builder.graph(), x.dims[position]);
  KW_TRY(Size begin, clamped_end(context, start.value_or(Size(0)), size));
  KW_TRY(Size end, clamped_end(context, stop.value_or(size), size));
  auto b = context.builder.graph().hinted(begin), e = context.builder.graph().hinted(end);
  if (b && e && *b > *e) end = begin;
  Size length = step == 1 ? end - begin : ceil_div(end - begin, Size(step));
  return slice_dim(context, x, position, begin, length, step);
}

Result<TensorValue> flip_dim(TorchContext& context, const TensorValue& x, size_t position) {
  AxisId axis = x.dims[position];
  if (axis == kUnit) return TensorValue{x.node, x.dims};
  Size size = context.builder.graph().axis(axis).size;
  TensorValue out{x.node, x.dims};
  out.dims[position] = context.builder.axis_like(axis, "flipped", size);
  KW_TRY(out.node,
         context.builder.try_make(Op::Slice, {x.node}, ir::SliceAttr{axis, out.dims[position], size - Size(1), -1}));
  return out;
}

TensorValue repeat_unit(TorchContext& context, const TensorValue& x, size_t position, const Size& size) {
  AxisId axis = new_dim(context, x.dims, "d" + std::to_string(position), size);
  TensorValue out{x.node, x.dims};
  out.dims[position] = axis;
  if (axis != kUnit) out.node = context.builder.broadcast(x.node, {axis});
  return out;
}

Result<TensorValue> concatenate(TorchContext& context, const std::vector<TensorValue>& parts, size_t position) {
  ir::GraphBuilder& builder = context.builder;
  if (parts.size() == 1) return TensorValue{parts[0].node, parts[0].dims};
  KW_TRY(ir::Type type, result_type(builder, parts));
  std::vector<NodeId> nodes;
  std::vector<AxisId> from;
  std::vector<AxisId> dims;  // of the result; the joined one is filled in at the end
  Size total(0);
  std::string key = "joined";
  for (const TensorValue& part : parts) {
    if (part.dims.size() != parts[0].dims.size())
      return bad_input("tensors of rank " + std::to_string(parts[0].dims.size()) + " and " +
                       std::to_string(part.dims.size()) + " cannot be joined");
    TensorValue current{builder.cast(part.node, type), part.dims};
    if (current.dims[position] == kUnit) {
      AxisId one = builder.axis_like(kUnit, "one", Size(1));
      current.node = builder.broadcast(current.node, {one});
      current.dims[position] = one;
    }
    if (dims.empty()) dims = current.dims;
    std::vector<AxisId> wanted = dims;
    wanted[position] = kUnit;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if ((wanted[i] == kUnit) != (current.dims[i] == kUnit) && i != position)
        return bad_input(
            "tensors of shapes " + shape_text(builder.graph(), {nodes.empty() ? part.node : nodes[0], dims}) + " and " +
            shape_text(builder.graph(), part) + " cannot be joined along dimension " + std::to_string(position));
    }
    KW_TRY(current, rename_dims(context, current, wanted));
    nodes.push_back(current.node);
    from.push_back(current.dims[position]);
    total = total + builder.graph().axis(from.back()).size;
    key += " " + std::to_string(from.back());
  }
  AxisId to = builder.axis_like(from[0], key, total);
  KW_TRY(NodeId node, builder.try_make(Op::Concat, std::move(nodes), ir::ConcatAttr{from, to}));
  dims[position] = to;
  return TensorValue{node, dims};
}

Result<TensorValue> stack(TorchContext& context, const std::vector<TensorValue>& parts, size_t position) {
  std::vector<TensorValue> columns;
  for (const TensorValue& part : parts) columns.push_back(unsqueeze(part, position));
  return concatenate(context, columns, position);
}

}  // namespace kw::understand
