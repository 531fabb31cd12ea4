// Conversions of the element type, and what is the identity for the math: copies, devices, memory formats.
#include "understand/torch/entry.h"
#include "understand/torch/formula.h"

namespace kw::understand {
namespace {

using ir::DType;
using ir::Op;
using ir::Type;

Result<Value> converted(Call& call, const TensorValue& x, Type type) {
  if (type_of(call.builder, x) == type) return Value{x};
  return Value{TensorValue{call.builder.cast(x.node, type), x.dims}};
}

template <DType dtype>
Result<Value> cast_to(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  return converted(call, x, Type(dtype));
}

// x.to(dtype), x.to(device), x.to(other), x.to(device, dtype), x.to("cuda", torch.float32)
Result<Value> to(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(std::optional<Type> type, call.type("dtype"));
  std::vector<Value> arguments = call["arguments"].get<SequenceValue>()->items;
  if (call.given("other")) arguments.push_back(call["other"]);
  for (const Value& argument : arguments) {
    if (const auto* d = argument.get<DTypeValue>()) type = d->type;
    if (const auto* t = argument.get<TensorValue>()) type = type_of(call.builder, *t);
    if (argument.get<SequenceValue>() || argument.get<double>())
      return call.refuse("needs a dtype, a device or a tensor, got " + describe(argument, call.builder.graph()));
  }
  return type ? converted(call, x, *type) : Result<Value>(Value{x});
}

Result<Value> type_as(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(TensorValue other, call.tensor("other"));
  return converted(call, x, type_of(call.builder, other));
}

Result<Value> type_method(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(std::optional<Type> type, call.type("dtype"));
  if (!type) return call.refuse("without an argument gives a string, which is not read", "use .dtype");
  return converted(call, x, *type);
}

Result<Value> same(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  return Value{x};
}

Result<Value> copied(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  return Value{TensorValue{x.node, x.dims}};
}

Result<Value> detach(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  if (!type_of(call.builder, x).floating()) return Value{TensorValue{x.node, x.dims}};
  return Value{TensorValue{call.make(Op::StopGradient, {x.node}), x.dims}};
}

constexpr std::string_view kTo =
    "input, *arguments, dtype=None, device=None, other=None, non_blocking=False, copy=False, memory_format=None, "
    "layout=None, pin_memory=None";

constexpr Entry kEntries[] = {
    {"to", kMethod | kAten, kTo, to},
    {"_to_copy", kAten, kTo, to},
    {"type", kMethod, "input, dtype=None, non_blocking=False", type_method},
    {"type_as", kMethod | kAten, "input, other", type_as},
    {"float", kMethod, "input, memory_format=None", cast_to<DType::F32>},
    {"double", kMethod, "input, memory_format=None", cast_to<DType::F64>},
    {"half", kMethod, "input, memory_format=None", cast_to<DType::F16>},
    {"bfloat16", kMethod, "input, memory_format=None", cast_to<DType::BF16>},
    {"int", kMethod, "input, memory_format=None", cast_to<DType::I32>},
    {"long", kMethod, "input, memory_format=None", cast_to<DType::I64>},
    {"short", kMethod, "input, memory_format=None", cast_to<DType::I16>},
    {"char", kMethod, "input, memory_format=None", cast_to<DType::I8>},
    {"byte", kMethod, "input, memory_format=None", cast_to<DType::U8>},
    {"bool", kMethod, "input, memory_format=None", cast_to<DType::Bool>},
    {"contiguous", kMethod | kAten, "input, memory_format=None", same},
    {"cuda", kMethod, "input, device=None, non_blocking=False, memory_format=None", same},
    {"cpu", kMethod, "input, memory_format=None", same},
    {"requires_grad_", kMethod, "input, requires_grad=True", same},
    {"clone", kTensor, "input, *, memory_format=None", copied},
    {"alias", kAten, "input", copied},
    {"lift_fresh_copy", kAten, "input", copied},
    {"detach_", kAten, "input", detach},
    {"detach", kTensor, "input", detach},
    {"data", kProperty, "input", detach},
};

}  // namespace

std::span<const Entry> cast_entries() { return kEntries; }

}  // namespace kw::understand
