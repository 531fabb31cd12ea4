// Forms that only exported graphs have: functional versions of in-place changes, and operations that also give what
// their backward needs.
#include "understand/torch/entry.h"
#include "understand/torch/formula.h"
#include "understand/torch/index.h"

namespace kw::understand {
namespace {

using ir::DType;
using ir::Op;
using ir::Size;
using ir::Type;

// Everything before dimension `position`, then `last`.
std::vector<Value> index_at(size_t position, Value last) {
  std::vector<Value> items(position, Value{SliceValue{}});
  items.push_back(std::move(last));
  return items;
}

Result<Value> select_scatter(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(TensorValue source, call.tensor("src"));
  KW_TRY(size_t position, call.dim_of("dim", x));
  KW_TRY(Size index, call.size("index"));
  KW_TRY(TensorValue out, assign_index(call.context, x, index_at(position, Value{index}), source));
  return Value{out};
}

Result<Value> slice_scatter(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(TensorValue source, call.tensor("src"));
  KW_TRY(size_t position, call.dim_of("dim", x));
  SliceValue slice{std::make_shared<Value>(call["start"]), std::make_shared<Value>(call["end"]),
                   std::make_shared<Value>(call["step"])};
  KW_TRY(TensorValue out, assign_index(call.context, x, index_at(position, Value{slice}), source));
  return Value{out};
}

// fill and copy: another value in the shape and type of the first.
Result<Value> overwritten(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  auto value = as_operand(call.builder, call["src"]);
  if (!value) return call.wrong("src", "a tensor or a number");
  KW_TRY(TensorValue spread, expand_like(call.context, *value, x.dims));
  return Value{TensorValue{call.builder.cast(spread.node, type_of(call.builder, x)), spread.dims}};
}

Result<Value> native_dropout(Call& call) {
  KW_TRY(Value out, call_torch(call.context, "aten.dropout", {{call["input"], call["p"], call["train"]}, {}}));
  return Value{SequenceValue{{out, Value{NoneValue{}}}, true, {}}};
}

// (y, mean, rstd, running mean, running var); what the backward saves is not read.
Result<Value> functional_batch_norm(Call& call) {
  std::vector<Value> running = {call["running_mean"], call["running_var"]};
  auto outer = call.context.update_buffer;
  call.context.update_buffer = [&](const TensorValue& buffer, const TensorValue& value) -> Status {
    for (size_t i = 0; i < 2; ++i)
      if (const auto* t = call[i == 0 ? "running_mean" : "running_var"].get<TensorValue>(); t && t->node == buffer.node)
        running[i] = Value{value};
    return {};
  };
  auto y = call_torch(call.context, "torch.nn.functional.batch_norm",
                      {{call["input"], call["running_mean"], call["running_var"], call["weight"], call["bias"],
                        call["training"], call["momentum"], call["eps"]},
                       {}});
  call.context.update_buffer = std::move(outer);
  if (!y) return y;
  return Value{SequenceValue{{*y, Value{NoneValue{}}, Value{NoneValue{}}, running[0], running[1]}, true, {}}};
}

Value first_of(Value result, size_t count) {
  SequenceValue out{{std::move(result)}, true, {}};
  out.items.resize(count);  // what only a backward needs is None
  return Value{std::move(out)};
}

Result<Value> eval_batch_norm(Call& call) {  // (y, mean, rstd)
  KW_TRY(Value y, call_torch(call.context, "torch.nn.functional.batch_norm",
                             {{call["input"], call["running_mean"], call["running_var"], call["weight"], call["bias"],
                               Value{false}, call["momentum"], call["eps"]},
                              {}}));
  return first_of(std::move(y), 3);
}

Result<Value> native_layer_norm(Call& call) {  // (y, mean, rstd)
  KW_TRY(Value y,
         call_torch(call.context, "aten.layer_norm",
                    {{call["input"], call["normalized_shape"], call["weight"], call["bias"], call["eps"]}, {}}));
  return first_of(std::move(y), 3);
}

Result<Value> native_group_norm(Call& call) {  // (y, mean, rstd)
  KW_TRY(Value y, call_torch(call.context, "aten.group_norm",
                             {{call["input"], call["groups"], call["weight"], call["bias"], call["eps"]}, {}}));
  return first_of(std::move(y), 3);
}

Result<Value> softmax_with_type(Call& call) {  // half_to_float: computed and kept in fp32
  KW_TRY(bool to_float, call.boolean("half_to_float"));
  std::string_view name = call.name.find("log") == std::string_view::npos ? "aten.softmax" : "aten.log_softmax";
  Value type = to_float ? Value{DTypeValue{Type(DType::F32)}} : Value{};
  return call_torch(call.context, name, {{call["input"], call["dim"], type}, {}});
}

Result<Value> as_number(Call& call) {  // torch.sym_float, torch.sym_int: numbers stay what they are
  if (!is_number(call["input"])) return call.wrong("input", "a number");
  return call["input"];
}

constexpr Entry kEntries[] = {
    {"select_scatter", kTensor, "input, src, dim, index", select_scatter},
    {"slice_scatter", kTensor, "input, src, dim=0, start=None, end=None, step=1", slice_scatter},
    {"fill", kTorch | kAten, "input, src", overwritten},
    {"fill_", kMethod, "input, src", overwritten},
    {"copy", kAten, "input, src, non_blocking=False", overwritten},
    {"copy_", kMethod, "input, src, non_blocking=False", overwritten},
    {"zero_", kMethod | kAten, "input, *, src=0", overwritten},
    {"native_dropout", kAten, "input, p, train", native_dropout},
    {"_native_batch_norm_legit_functional", kAten,
     "input, weight, bias, running_mean, running_var, training, momentum, eps", functional_batch_norm},
    {"_native_batch_norm_legit_no_training", kAten, "input, weight, bias, running_mean, running_var, momentum, eps",
     eval_batch_norm},
    {"native_layer_norm", kAten, "input, normalized_shape, weight, bias, eps", native_layer_norm},
    {"native_group_norm", kAten, "input, weight, bias, n, c, hxw, groups, eps", native_group_norm},
    {"_softmax", kAten, "input, dim, half_to_float", softmax_with_type},
    {"_log_softmax", kAten, "input, dim, half_to_float", softmax_with_type},
    {"sym_float", kTorch, "input", as_number},
    {"sym_int", kTorch, "input", as_number},
};

}  // namespace

std::span<const Entry> aten_entries() { return kEntries; }

}  // namespace kw::understand
