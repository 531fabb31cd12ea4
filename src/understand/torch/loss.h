// How a loss is reduced, and the operands that it compares.
#pragma once

#include "understand/torch/call.h"
#include "understand/torch/formula.h"

namespace kw::understand {

enum class Reduction { None, Mean, Sum };

// reduction='mean' in Python, a number in ATen. The deprecated size_average and reduce must be None.
Result<Reduction> reduction_of(Call& call);

// The element-wise loss reduced over all its dimensions, accumulated wide and rounded once.
Value reduce_loss(Call& call, Expression loss, const std::vector<ir::AxisId>& dims, Reduction reduction);

struct LossOperands {
  std::vector<Expression> values;  // broadcast, of the type `type`
  std::vector<ir::AxisId> dims;
  ir::Type type;
};
// Tensors that meet element by element, in their common floating type.
Result<LossOperands> loss_operands(Call& call, std::initializer_list<std::string_view> parameters);

}  // namespace kw::understand
