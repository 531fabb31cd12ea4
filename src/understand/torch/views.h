// Views that others build on: slices, selections, joins, and dimensions that repeat.
#pragma once

#include <optional>

#include "understand/torch/broadcast.h"

namespace kw::understand {

// An axis for a new dimension of that size that none of `taken` has; kUnit for a size of one.
ir::AxisId new_dim(TorchContext& context, const std::vector<ir::AxisId>& taken, std::string_view name,
                   const ir::Size& size);

// x[start : start + step*length : step] along one dimension.
Result<TensorValue> slice_dim(TorchContext& context, const TensorValue& x, size_t position, const ir::Size& start,
                              const ir::Size& length, int64_t step = 1);
// Python's slice with its conventions: absent ends, negative ones, ends beyond the size.
Result<TensorValue> python_slice(TorchContext& context, const TensorValue& x, size_t position,
                                 const std::optional<ir::Size>& start, const std::optional<ir::Size>& stop,
                                 int64_t step);
// x[index] along one dimension, which goes away. A negative index counts from the end.
Result<TensorValue> select_dim(TorchContext& context, const TensorValue& x, size_t position, const ir::Size& index);

Result<TensorValue> concatenate(TorchContext& context, const std::vector<TensorValue>& parts, size_t position);
Result<TensorValue> stack(TorchContext& context, const std::vector<TensorValue>& parts, size_t position);

// The dimension of size one at `position` repeated to `size`.
TensorValue repeat_unit(TorchContext& context, const TensorValue& x, size_t position, const ir::Size& size);
// The dimension reversed.
Result<TensorValue> flip_dim(TorchContext& context, const TensorValue& x, size_t position);

TensorValue unsqueeze(const TensorValue& x, size_t position);

}  // namespace kw::understand
