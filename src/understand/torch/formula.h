// Operations that are one formula on one tensor: widened to the type that PyTorch computes in, rounded once at the end.
#pragma once

#include "understand/torch/call.h"
#include "understand/torch/expression.h"
#include "understand/torch/promotion.h"

namespace kw::understand {

inline Expression expression(Call& call, const TensorValue& tensor) { return {call.context, tensor.node}; }

// The value of `formula` on the widened `input`, rounded to the input's type (f32 for integers).
template <class Formula>
Result<Value> rounded_once(Call& call, Formula formula) {
  KW_TRY(TensorValue x, call.tensor("input"));
  ir::Type type = floating_type(type_of(call.builder, x));
  Expression wide = expression(call, x).as(type).widened();
  return Value{TensorValue{formula(wide).as(type).node(), x.dims}};
}

// A formula on several broadcast tensors or numbers, widened and rounded once to their common (floating) type.
template <class Formula>
Result<Value> rounded_once(Call& call, std::vector<TensorValue> operands, Formula formula) {
  KW_TRY(ir::Type type, result_type(call.builder, operands));
  type = floating_type(type);
  KW_TRY(Broadcasted common, broadcast_together(call.context, operands));
  std::vector<Expression> wide;
  for (size_t i = 0; i < operands.size(); ++i) {
    TensorValue operand{common.nodes[i], operands[i].dims};
    Expression e(call.context, operand_in(call.builder, operand, type));
    wide.push_back(e.type().weak() ? e : e.as(opmath(type)));
  }
  return Value{TensorValue{formula(wide).as(type).node(), common.dims}};
}

// log(1 / (1 + exp(-x))). Written with one comparison, so that the slope at 0 is 1/2: a minimum with 0 and an absolute
// value would each choose their own there.
Expression log_sigmoid(Expression x);

// Tensors or numbers, as the operation's arguments name them.
Result<std::vector<TensorValue>> operands_of(Call& call, std::initializer_list<std::string_view> parameters);

}  // namespace kw::understand
