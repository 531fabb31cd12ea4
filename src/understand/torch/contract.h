// Matrix products on positional tensors.
#pragma once

#include "understand/torch/call.h"
#include "understand/torch/formula.h"

namespace kw::understand {

// torch.matmul: a[…, m, k] and b[…, k, n], the leading dimensions broadcast; a vector counts as a row on the left and
// as a column on the right. Accumulates in the type that PyTorch computes in and rounds once, unless `wide` keeps it
// there.
Result<TensorValue> matmul(Call& call, TensorValue a, TensorValue b, bool wide = false);

// PyTorch multiplies matrices of one element type only.
Status require_one_type(Call& call, std::initializer_list<TensorValue> tensors);

// Σ over `axes` of a·b; a product if there is none. Axes have been made to fit.
ir::NodeId contract(ir::GraphBuilder& builder, ir::NodeId a, ir::NodeId b, std::vector<ir::AxisId> axes);

// x·wᵀ + bias
Result<TensorValue> linear(Call& call, const TensorValue& x, const TensorValue& weight,
                           const std::optional<TensorValue>& bias);

}  // namespace kw::understand
