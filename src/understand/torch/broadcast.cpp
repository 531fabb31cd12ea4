#include "understand/torch/broadcast.h"

#include <algorithm>

#include "base/text.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::kUnit;
using ir::Size;

bool contains(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

AxisId fresh_like(TorchContext& context, AxisId model, const std::vector<AxisId>& a, const std::vector<AxisId>& b) {
  const Size size = context.builder.graph().axis(model).size;
  for (int i = 1;; ++i) {
    AxisId axis = context.builder.axis_like(model, "copy" + std::to_string(i), size);
    if (!contains(a, axis) && !contains(b, axis)) return axis;
  }
}

}  // namespace

Size size_of_dim(const ir::Graph& graph, AxisId axis) { return axis == kUnit ? Size(1) : graph.axis(axis).size; }

std::vector<Size> shape_of(const ir::Graph& graph, const TensorValue& tensor) {
  std::vector<Size> out;
  for (AxisId axis : tensor.dims) out.push_back(size_of_dim(graph, axis));
  return out;
}

std::string shape_text(const ir::Graph& graph, const TensorValue& tensor) {
  std::vector<std::string> parts;
  for (const Size& s : shape_of(graph, tensor)) {
    auto hint = graph.hinted(s);
    std::string text = graph.size_text(s);
    parts.push_back(hint && !s.constant() ? text + "=" + std::to_string(*hint) : text);
  }
  return "[" + join(parts, ", ") + "]";
}

AxisId dim_like(TorchContext& context, AxisId model, std::string_view key, const Size& size) {
  if (size == Size(1)) return kUnit;
  return context.builder.axis_like(model, key, size);
}

Result<TensorValue> rename_dims(TorchContext& context, const TensorValue& tensor, const std::vector<AxisId>& wanted,
                                const std::vector<AxisId>& taken) {
  std::vector<std::pair<AxisId, AxisId>> pairs;
  std::vector<AxisId> blocked = taken;
  blocked.insert(blocked.end(), wanted.begin(), wanted.end());
  TensorValue out{tensor.node, tensor.dims};
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    AxisId axis = tensor.dims[i];
    if (axis == kUnit) continue;
    AxisId target = i < wanted.size() ? wanted[i] : kUnit;
    if (target == kUnit && contains(blocked, axis)) {
      target = fresh_like(context, axis, blocked, tensor.dims);
      blocked.push_back(target);
    }
    if (target == kUnit || target == axis) continue;
    const ir::Graph& graph = context.builder.graph();
    KW_CHECK(require_same_size(context, Size(graph.axis(target).size), Size(graph.axis(axis).size)));
    pairs.emplace_back(axis, target);
    out.dims[i] = target;
  }
  if (!pairs.empty()) out.node = context.builder.rename(tensor.node, std::move(pairs));
  return out;
}

TensorValue rename_apart(TorchContext& context, const TensorValue& tensor, const std::vector<AxisId>& taken) {
  auto renamed = rename_dims(context, tensor, {}, taken);
  KW_ASSERT(renamed.has_value(), "a fresh axis has the size of its model");
  return *renamed;
}

Result<Broadcasted> broadcast_together(TorchContext& context, const std::vector<TensorValue>& operands) {
  Broadcasted out;
  for (const TensorValue& operand : operands) {
    size_t rank = operand.dims.size();
    if (rank > out.dims.size()) out.dims.insert(out.dims.begin(), rank - out.dims.size(), kUnit);
    size_t offset = out.dims.size() - rank;
    std::vector<AxisId> wanted(rank, kUnit);
    for (size_t i = 0; i < rank; ++i)
      if (operand.dims[i] != kUnit) wanted[i] = out.dims[offset + i];
    auto renamed = rename_dims(context, operand, wanted, out.dims);
    if (!renamed) {
      const ir::Graph& graph = context.builder.graph();
      TensorValue left{operand.node, out.dims};
      Error error = std::move(renamed).error();
      error.message = "shapes " + shape_text(graph, left) + " and " + shape_text(graph, operand) +
                      " do not broadcast: " + error.message;
      return tl::make_unexpected(std::move(error));
    }
    for (size_t i = 0; i < rank; ++i)
      if (out.dims[offset + i] == kUnit) out.dims[offset + i] = renamed->dims[i];
    out.nodes.push_back(renamed->node);
  }
  return out;
}

TensorValue expand_to(TorchContext& context, ir::NodeId node, std::vector<AxisId> dims) {
  std::vector<AxisId> axes;
  for (AxisId axis : dims)
    if (axis != kUnit) axes.push_back(axis);
  return {context.builder.broadcast(node, std::move(axes)), std::move(dims)};
}

Result<TensorValue> expand_like(TorchContext& context, const TensorValue& tensor, const std::vector<AxisId>& dims) {
  if (tensor.dims.size() > dims.size())
    return bad_input("a tensor of shape " + shape_text(context.builder.graph(), tensor) + " cannot be expanded to " +
                     shape_text(context.builder.graph(), TensorValue{tensor.node, dims}));
  size_t offset = dims.size() - tensor.dims.size();
  std::vector<AxisId> wanted(dims.begin() + static_cast<std::ptrdiff_t>(offset), dims.end());
  for (size_t i = 0; i < tensor.dims.size(); ++i)
    if (tensor.dims[i] != kUnit && wanted[i] == kUnit)
      return bad_input("a tensor of shape " + shape_text(context.builder.graph(), tensor) + " cannot be expanded to " +
                       shape_text(context.builder.graph(), TensorValue{tensor.node, dims}));
  std::vector<AxisId> targets = wanted;
  for (size_t i = 0; i < targets.size(); ++i)
    if (tensor.dims[i] == kUnit) targets[i] = kUnit;
  KW_TRY(TensorValue renamed, rename_dims(context, tensor, targets, dims));
  return expand_to(context, renamed.node, dims);
}

}  // namespace kw::understand
