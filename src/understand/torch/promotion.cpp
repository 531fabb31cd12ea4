#include "understand/torch/promotion.h"

namespace kw::understand {
namespace {

using ir::DType;
using ir::NodeId;
using ir::Op;
using ir::Type;

// The join of a stronger group of operands with a weaker one: the weaker decides only by a higher category.
Type combine(Type stronger, Type weaker) {
  if (!weaker.known() || stronger.floating()) return stronger;
  if (!stronger.known()) return weaker;
  if (stronger.boolean() || weaker.floating()) return promote(stronger, weaker);
  return stronger;
}

}  // namespace

bool exact_in_every_float(double value) {
  for (DType d : {DType::F8E4M3, DType::F8E5M2, DType::F16, DType::BF16})
    if (ir::round_to(d, value) != value) return false;
  return true;
}

bool is_weak(const ir::GraphBuilder& builder, const TensorValue& tensor) { return type_of(builder, tensor).weak(); }

Result<Type> result_type(const ir::GraphBuilder& builder, const std::vector<TensorValue>& operands) {
  Type groups[3];  // with dimensions, without, numbers
  for (const TensorValue& operand : operands) {
    Type type = type_of(builder, operand);
    Type& group = groups[type.weak() ? 2 : operand.dims.empty() ? 1 : 0];
    group = group.known() ? promote(group, type) : type;
    if (!group.known()) return bad_input("these element types do not promote; cast one of them");
  }
  Type result = combine(groups[0], combine(groups[1], groups[2]));
  // An 8-bit float promotes with nothing else, so a join of one with a type parameter has no type to compute in.
  if (!result.known() || !opmath(result).known())
    return bad_input("these element types do not promote; cast one of them");
  return result;
}

Type floating_type(Type type) {
  if (type.floating()) return type;
  return type == Type(DType::Int) ? Type(DType::Real) : Type(DType::F32);
}

NodeId operand_in(ir::GraphBuilder& builder, const TensorValue& operand, Type type) {
  Type own = type_of(builder, operand);
  if (own.weak() || own == type) return operand.node;
  bool integer_meets_float = own.integer() && type.floating();
  if (integer_meets_float || promote(own, type) != type) return builder.cast(operand.node, type);
  return operand.node;
}

NodeId rounded_operand_in(ir::GraphBuilder& builder, const TensorValue& operand, Type type) {
  const ir::Node& node = builder[operand.node];
  if (!node.type.weak() || type.weak() || !type.floating()) return operand_in(builder, operand, type);
  if (node.op == Op::Const && exact_in_every_float(node.as<ir::Literal>().number())) return operand.node;
  return builder.cast(operand.node, type);
}

Result<TensorValue> elementwise(TorchContext& context, Op op, std::vector<TensorValue> operands, Numbers numbers) {
  ir::GraphBuilder& builder = context.builder;
  KW_TRY(Type type, result_type(builder, operands));
  if (op == Op::Div || op == Op::Atan2) type = floating_type(type);
  KW_TRY(Broadcasted common, broadcast_together(context, operands));
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < operands.size(); ++i) {
    TensorValue operand{common.nodes[i], operands[i].dims};
    nodes.push_back(numbers == Numbers::Rounded ? rounded_operand_in(builder, operand, type)
                                                : operand_in(builder, operand, type));
  }
  KW_TRY(NodeId node, builder.try_make(op, std::move(nodes)));
  return TensorValue{node, std::move(common.dims)};
}

}  // namespace kw::understand
