// What reductions share: which axes a dim= argument means, and the dimensions of the result.
#pragma once

#include "understand/torch/call.h"
#include "understand/torch/formula.h"

namespace kw::understand {

struct ReducedDims {
  std::vector<ir::AxisId> axes;  // ascending; dimensions of size one have none
  std::vector<ir::AxisId> dims;  // of the result
  ir::Size count;                // how many elements become one
};
ReducedDims reduced_dims(const ir::Graph& graph, const TensorValue& x, const std::vector<size_t>& positions,
                         bool keepdim);
// From the arguments `dim` and `keepdim`.
Result<ReducedDims> reduced_dims(Call& call, const TensorValue& x);

// Positions of the last `count` dimensions.
std::vector<size_t> last_positions(size_t rank, size_t count);

Value named_pair(TensorValue values, TensorValue indices);  // (values, indices)

// sqrt(Σx²) and its relatives on the widened tensor, in the type that PyTorch computes in.
Expression vector_norm(Expression wide, const std::vector<ir::AxisId>& axes, double p);

}  // namespace kw::understand
