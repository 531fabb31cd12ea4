// The positional layer: PyTorch pairs dimensions by position, the graph knows axes by identity. Two dimensions that
// meet become one axis: their sizes must agree, and the right operand is renamed to the left one's axes.
#pragma once

#include <vector>

#include "understand/torch/ops.h"

namespace kw::understand {

ir::Size size_of_dim(const ir::Graph& graph, ir::AxisId axis);  // 1 for kUnit
std::vector<ir::Size> shape_of(const ir::Graph& graph, const TensorValue& tensor);
std::string shape_text(const ir::Graph& graph, const TensorValue& tensor);  // "[rows, 1, cols]"

// An axis for a dimension of that size: kUnit for a size of one, else the same axis for the same model and key.
ir::AxisId dim_like(TorchContext& context, ir::AxisId model, std::string_view key, const ir::Size& size);

// Renames the axes of `tensor` so that its dimension i has the axis wanted[i]; kUnit leaves the dimension as it is. An
// axis that stays but is wanted elsewhere (or is listed in `taken`) gives way to a fresh one.
Result<TensorValue> rename_dims(TorchContext& context, const TensorValue& tensor, const std::vector<ir::AxisId>& wanted,
                                const std::vector<ir::AxisId>& taken = {});
// The tensor with none of its axes in `taken`: those that are get fresh identities.
TensorValue rename_apart(TorchContext& context, const TensorValue& tensor, const std::vector<ir::AxisId>& taken);

struct Broadcasted {
  std::vector<ir::NodeId> nodes;  // one per operand, over (a part of) the common axes
  std::vector<ir::AxisId> dims;   // of the result
};
// Pairs the dimensions of all operands from the right, as PyTorch broadcasts.
Result<Broadcasted> broadcast_together(TorchContext& context, const std::vector<TensorValue>& operands);

// The node with exactly the axes that `dims` lists: Broadcast where it lacks some.
TensorValue expand_to(TorchContext& context, ir::NodeId node, std::vector<ir::AxisId> dims);
// The tensor repeated to the dimensions of another one (expand_as): its sizes agree or are one.
Result<TensorValue> expand_like(TorchContext& context, const TensorValue& tensor, const std::vector<ir::AxisId>& dims);

}  // namespace kw::understand
