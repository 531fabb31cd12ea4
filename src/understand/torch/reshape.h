// view and reshape on symbolic sizes: old and new dimensions are aligned from the left into groups of equal products; a
// group becomes merges and splits of axes.
#pragma once

#include "understand/torch/broadcast.h"

namespace kw::understand {

// `sizes` may hold one -1, which is inferred.
Result<TensorValue> reshape(TorchContext& context, const TensorValue& x, std::vector<ir::Size> sizes);
// Dimensions [begin, end) as one.
Result<TensorValue> flatten(TorchContext& context, const TensorValue& x, size_t begin, size_t end);
// Dimension `position` as several of these sizes; one -1 is inferred.
Result<TensorValue> unflatten(TorchContext& context, const TensorValue& x, size_t position,
                              std::vector<ir::Size> sizes);

// Two axes as one, and one as two. What was split merges back to the axis that it was, and the other way round.
TensorValue merge_dims(TorchContext& context, const TensorValue& x, size_t position);  // position and position + 1
Result<TensorValue> split_dim(TorchContext& context, const TensorValue& x, size_t position, const ir::Size& outer,
                              const ir::Size& inner);

}  // namespace kw::understand
