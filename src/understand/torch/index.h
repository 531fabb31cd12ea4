// Access by index tensors, on positional tensors.
#pragma once

#include "understand/torch/call.h"
#include "understand/torch/formula.h"

namespace kw::understand {

// data at `index` along dimension `position`; the index's dimensions take its place (embedding, index_select,
// x[index]).
TensorValue take(TorchContext& context, const TensorValue& data, size_t position, const TensorValue& index);

// x[items]: ints, slices, None, an ellipsis, tensors of ints. Basic indexing gives views, tensors gather.
Result<TensorValue> index_tensor(TorchContext& context, const TensorValue& x, const std::vector<Value>& items);
// x with x[items] = value, as a new tensor.
Result<TensorValue> assign_index(TorchContext& context, const TensorValue& x, const std::vector<Value>& items,
                                 const TensorValue& value);

// 0, 1, … along an axis; a rank-0 zero for a dimension of size one.
ir::NodeId positions_along(ir::GraphBuilder& builder, ir::AxisId axis);

}  // namespace kw::understand
