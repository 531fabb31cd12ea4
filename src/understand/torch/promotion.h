// Element types as PyTorch eager has them: tensors with dimensions decide before tensors without, and these before
// Python's numbers. Where an operation computes wider than its result inside, it widens here and rounds once at its
// end.
#pragma once

#include <vector>

#include "understand/torch/broadcast.h"

namespace kw::understand {

// torch.result_type of the operands; numbers are weak rank-0 nodes.
Result<ir::Type> result_type(const ir::GraphBuilder& builder, const std::vector<TensorValue>& operands);

inline ir::Type type_of(const ir::GraphBuilder& builder, const TensorValue& tensor) {
  return builder[tensor.node].type;
}
// The type itself if it is floating, else f32, PyTorch's default.
ir::Type floating_type(ir::Type type);
bool is_weak(const ir::GraphBuilder& builder, const TensorValue& tensor);

// The operand as it takes part in an operation of that type: integers that meet a floating type and tensors of rank 0
// that are wider are rounded to it first. Python's numbers take part as they are.
ir::NodeId operand_in(ir::GraphBuilder& builder, const TensorValue& operand, ir::Type type);
// The same, where PyTorch also rounds Python's numbers to the operation's type (comparisons, powers). A constant that
// every floating type holds exactly needs no cast.
ir::NodeId rounded_operand_in(ir::GraphBuilder& builder, const TensorValue& operand, ir::Type type);

bool exact_in_every_float(double value);

enum class Numbers { AsTheyAre, Rounded };

// op(operands) after broadcasting and promotion.
Result<TensorValue> elementwise(TorchContext& context, ir::Op op, std::vector<TensorValue> operands,
                                Numbers numbers = Numbers::AsTheyAre);

}  // namespace kw::understand
