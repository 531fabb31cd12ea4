// Comparisons, logic and selection.
#include <cmath>

#include "understand/torch/entry.h"
#include "understand/torch/formula.h"

namespace kw::understand {
namespace {

using ir::DType;
using ir::NodeId;
using ir::Op;
using ir::Type;

// PyTorch rounds a Python number to the tensor's type before it compares.
template <Op op, bool swapped = false>
Result<Value> compare(Call& call) {
  KW_TRY(auto operands, operands_of(call, {"input", "other"}));
  KW_TRY(Type type, result_type(call.builder, operands));
  KW_TRY(Broadcasted common, broadcast_together(call.context, operands));
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < 2; ++i)
    nodes.push_back(rounded_operand_in(call.builder, {common.nodes[i], operands[i].dims}, type));
  if (swapped) std::swap(nodes[0], nodes[1]);
  KW_TRY(NodeId node, call.builder.try_make(op, std::move(nodes)));
  return Value{TensorValue{node, common.dims}};
}

NodeId truth(ir::GraphBuilder& builder, NodeId node) {
  if (builder[node].type.boolean()) return node;
  return builder.make(Op::Ne, {node, builder.integer(0)});
}

template <Op op>
Result<Value> logical(Call& call) {
  KW_TRY(auto operands, operands_of(call, {"input", "other"}));
  KW_TRY(Broadcasted common, broadcast_together(call.context, operands));
  NodeId node = call.make(op, {truth(call.builder, common.nodes[0]), truth(call.builder, common.nodes[1])});
  return Value{TensorValue{node, common.dims}};
}

Result<Value> logical_not(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  return Value{TensorValue{call.make(Op::Not, {truth(call.builder, x.node)}), x.dims}};
}

template <class Formula>
Result<Value> test(Call& call, Formula formula) {
  KW_TRY(TensorValue x, call.tensor("input"));
  Expression e = expression(call, x);
  if (!e.type().floating()) e = e.as(Type(DType::F32));
  return Value{TensorValue{formula(e).node(), x.dims}};
}
Result<Value> is_nan(Call& call) {
  return test(call, [](Expression x) { return differs(x, x); });
}
Result<Value> is_infinite(Call& call) {
  return test(call, [](Expression x) { return equals(absolute(x), HUGE_VAL); });
}
Result<Value> is_finite(Call& call) {
  return test(call, [](Expression x) { return less(absolute(x), HUGE_VAL); });
}

Result<Value> choose(Call& call, const TensorValue& condition, const TensorValue& then, const TensorValue& otherwise,
                     Type type) {
  KW_TRY(Broadcasted common, broadcast_together(call.context, {condition, then, otherwise}));
  if (!type_of(call.builder, condition).boolean()) return call.refuse("needs a bool tensor as its condition");
  ir::GraphBuilder& b = call.builder;
  NodeId left = operand_in(b, {common.nodes[1], then.dims}, type);
  NodeId right = operand_in(b, {common.nodes[2], otherwise.dims}, type);
  KW_TRY(NodeId node, b.try_make(Op::Select, {common.nodes[0], left, right}));
  return Value{TensorValue{b.cast(node, type), common.dims}};
}

Result<Value> where(Call& call) {
  if (!call.given("input"))
    return call.refuse("with a condition alone gives a tensor whose size depends on data, which is not read");
  KW_TRY(auto operands, operands_of(call, {"condition", "input", "other"}));
  KW_TRY(Type type, result_type(call.builder, {operands[1], operands[2]}));
  if (type.weak()) type = type == Type(DType::Int) ? Type(DType::I64) : Type(DType::F32);
  return choose(call, operands[0], operands[1], operands[2], type);
}

// The result has the type of `input`; its shape is that of both together.
Result<Value> masked_fill(Call& call) {
  KW_TRY(auto operands, operands_of(call, {"input", "mask", "value"}));
  if (!operands[2].dims.empty()) return call.refuse("fills with one number or a tensor of rank 0");
  Type type = type_of(call.builder, operands[0]);
  if (!type.floating() && type_of(call.builder, operands[2]).floating())
    return call.refuse("cannot fill an integer tensor with a float");
  KW_TRY(Value out, choose(call, operands[1], operands[2], operands[0], type));
  return out;
}

constexpr Entry kEntries[] = {
    {"lt", kTensor, "input, other", compare<Op::Lt>},
    {"less", kTensor, "input, other", compare<Op::Lt>},
    {"le", kTensor, "input, other", compare<Op::Le>},
    {"less_equal", kTensor, "input, other", compare<Op::Le>},
    {"gt", kTensor, "input, other", compare<Op::Lt, true>},
    {"greater", kTensor, "input, other", compare<Op::Lt, true>},
    {"ge", kTensor, "input, other", compare<Op::Le, true>},
    {"greater_equal", kTensor, "input, other", compare<Op::Le, true>},
    {"eq", kTensor, "input, other", compare<Op::Eq>},
    {"ne", kTensor, "input, other", compare<Op::Ne>},
    {"not_equal", kTensor, "input, other", compare<Op::Ne>},
    {"logical_and", kTensor, "input, other", logical<Op::And>},
    {"logical_or", kTensor, "input, other", logical<Op::Or>},
    {"logical_xor", kTensor, "input, other", logical<Op::Xor>},
    {"logical_not", kTensor, "input", logical_not},
    {"isnan", kTensor, "input", is_nan},
    {"isinf", kTensor, "input", is_infinite},
    {"isfinite", kTensor, "input", is_finite},
    {"where", kTorch | kAten, "condition, input=None, other=None", where},
    {"where", kMethod, "input, condition, other", where},
    {"masked_fill", kTensor, "input, mask, value", masked_fill},
};

}  // namespace

std::span<const Entry> comparison_entries() { return kEntries; }

}  // namespace kw::understand
