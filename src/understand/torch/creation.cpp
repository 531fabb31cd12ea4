// Tensors made from sizes and numbers.
#include <cmath>

#include "understand/torch/entry.h"
#include "understand/torch/index.h"
#include "understand/torch/reshape.h"
#include "understand/torch/views.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;
using ir::Type;

Result<Type> dtype_or(Call& call, Type fallback) {
  KW_TRY(auto type, call.type("dtype"));
  return type.value_or(fallback);
}

// The element type of a tensor made from that number.
Type type_of_number(const ir::GraphBuilder& builder, const TensorValue& number) {
  Type type = type_of(builder, number);
  if (type == Type(DType::Int)) return Type(DType::I64);
  if (type.weak()) return Type(DType::F32);
  return type;
}

std::vector<AxisId> new_dims(TorchContext& context, const std::vector<Size>& sizes) {
  std::vector<AxisId> dims;
  for (size_t i = 0; i < sizes.size(); ++i) dims.push_back(new_dim(context, dims, "d" + std::to_string(i), sizes[i]));
  return dims;
}

TensorValue filled(Call& call, const std::vector<AxisId>& dims, NodeId number, Type type) {
  return expand_to(call.context, call.builder.cast(number, type), dims);
}

template <int value>
Result<Value> constant(Call& call) {
  KW_TRY(std::vector<Size> sizes, call.sizes("size"));
  KW_TRY(Type type, dtype_or(call, Type(DType::F32)));
  NodeId number = type.floating() ? call.builder.constant(value) : call.builder.integer(value);
  return Value{filled(call, new_dims(call.context, sizes), number, type)};
}

Result<Value> full(Call& call) {
  KW_TRY(std::vector<Size> sizes, call.sizes("size"));
  auto number = as_operand(call.builder, call["fill_value"]);
  if (!number || !number->dims.empty()) return call.wrong("fill_value", "a number");
  KW_TRY(Type type, dtype_or(call, type_of_number(call.builder, *number)));
  return Value{filled(call, new_dims(call.context, sizes), number->node, type)};
}

template <int value>
Result<Value> constant_like(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(Type type, dtype_or(call, type_of(call.builder, x)));
  NodeId number = type.floating() ? call.builder.constant(value) : call.builder.integer(value);
  return Value{filled(call, x.dims, number, type)};
}

Result<Value> full_like(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  auto number = as_operand(call.builder, call["fill_value"]);
  if (!number || !number->dims.empty()) return call.wrong("fill_value", "a number");
  KW_TRY(Type type, dtype_or(call, type_of(call.builder, x)));
  return Value{filled(call, x.dims, number->node, type)};
}

template <int value>
Result<Value> new_constant(Call& call) {  // x.new_zeros(…): of x's type
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(std::vector<Size> sizes, call.sizes("size"));
  KW_TRY(Type type, dtype_or(call, type_of(call.builder, x)));
  NodeId number = type.floating() ? call.builder.constant(value) : call.builder.integer(value);
  return Value{filled(call, new_dims(call.context, sizes), number, type)};
}

Result<Value> new_full(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(std::vector<Size> sizes, call.sizes("size"));
  KW_TRY(TensorValue number, call.scalar("fill_value"));
  KW_TRY(Type type, dtype_or(call, type_of(call.builder, x)));
  return Value{filled(call, new_dims(call.context, sizes), number.node, type)};
}

Result<Value> uninitialized(Call& call) {
  return call.refuse("gives values that are not defined, which cannot be read", "use torch.zeros");
}

// start, start + step, … below end.
Result<Value> arange(Call& call) {
  Value start = call["start"], end = call["end"], step = call["step"];
  if (end.is_none()) {
    end = start;
    start = Value{Size(0)};
  }
  if (!is_number(start) || !is_number(end) || !is_number(step)) return call.refuse("needs numbers");
  bool integral = start.get<Size>() && end.get<Size>() && step.get<Size>();
  ir::GraphBuilder& b = call.builder;
  Size count(0);
  if (integral) {
    KW_TRY(int64_t by, require_fixed(call.context, *step.get<Size>()));
    if (by == 0) return call.refuse("needs a step that is not 0");
    Size length = by > 0 ? *end.get<Size>() - *start.get<Size>() : *start.get<Size>() - *end.get<Size>();
    count = std::abs(by) == 1 ? length : ceil_div(length, Size(std::abs(by)));
  } else {
    auto x = known_number(b.graph(), start), y = known_number(b.graph(), end), s = known_number(b.graph(), step);
    if (!x || !y || !s || *s == 0) return call.refuse("needs numbers that are known while reading");
    count = Size(static_cast<int64_t>(std::max(0.0, std::ceil((*y - *x) / *s))));
  }
  KW_TRY(Type type, dtype_or(call, Type(integral ? DType::I64 : DType::F32)));
  AxisId axis = new_dim(call.context, {}, "n", count);
  Expression out(call.context, positions_along(b, axis));
  // PyTorch computes start + i·step wide and rounds once.
  auto is_const = [&](const Value& v, double wanted) {
    return !v.get<ScalarValue>() && known_number(b.graph(), v) == wanted &&
           (!v.get<Size>() || v.get<Size>()->constant());
  };
  if (type.floating() && !(is_const(step, 1) && is_const(start, 0))) out = out.as(opmath(type));
  if (!is_const(step, 1)) out = out * Expression(call.context, as_operand(b, step)->node);
  if (!is_const(start, 0)) out = Expression(call.context, as_operand(b, start)->node) + out;
  return Value{TensorValue{out.as(type).node(), {axis}}};
}

Result<Value> linspace(Call& call) {
  KW_TRY(TensorValue start, call.scalar("start"));
  KW_TRY(TensorValue end, call.scalar("end"));
  KW_TRY(Size steps, call.size("steps"));
  KW_TRY(Type type, dtype_or(call, Type(DType::F32)));
  AxisId axis = new_dim(call.context, {}, "n", steps);
  Expression at = Expression(call.context, positions_along(call.builder, axis)).as(opmath(type));
  Expression first = expression(call, start), last = expression(call, end);
  Expression out = first + at * ((last - first) / at.size(steps - Size(1)));
  if (steps == Size(1)) out = first.as(opmath(type));
  return Value{TensorValue{out.as(type).node(), {axis}}};
}

Result<Value> eye(Call& call) {
  KW_TRY(Size rows, call.size("n"));
  Size cols = rows;
  if (call.given("m")) {
    KW_TRY(cols, call.size("m"));
  }
  KW_TRY(Type type, dtype_or(call, Type(DType::F32)));
  std::vector<AxisId> dims = new_dims(call.context, {rows, cols});
  Expression i(call.context, positions_along(call.builder, dims[0])),
      j(call.context, positions_along(call.builder, dims[1]));
  return Value{TensorValue{equals(i, j).as(type).node(), dims}};
}

// A literal: nested lists of numbers, or one number.
Result<TensorValue> literal(Call& call, const Value& data) {
  if (const auto* t = data.get<TensorValue>()) return *t;
  if (is_number(data)) {
    TensorValue number = *as_operand(call.builder, data);
    return TensorValue{call.builder.cast(number.node, type_of_number(call.builder, number)), {}};
  }
  const auto* sequence = data.get<SequenceValue>();
  if (!sequence) return call.refuse("cannot make a tensor of " + describe(data, call.builder.graph()));
  if (sequence->items.empty()) return call.refuse("cannot make a tensor of an empty list");
  if (sequence->items.size() > 64) return call.refuse("reads lists of up to 64 items");
  std::vector<TensorValue> parts;
  for (const Value& item : sequence->items) {
    KW_TRY(TensorValue part, literal(call, item));
    if (!parts.empty() && part.dims.size() != parts[0].dims.size()) return call.refuse("needs lists of one length");
    parts.push_back(part);
  }
  return stack(call.context, parts, 0);
}

Result<Value> tensor(Call& call) {
  KW_TRY(TensorValue out, literal(call, call["data"]));
  KW_TRY(Type type, dtype_or(call, type_of(call.builder, out)));
  return Value{TensorValue{call.builder.cast(out.node, type), out.dims}};
}

Result<Value> new_tensor(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(TensorValue out, literal(call, call["data"]));
  KW_TRY(Type type, dtype_or(call, type_of(call.builder, x)));
  return Value{TensorValue{call.builder.cast(out.node, type), out.dims}};
}

// Keeps what lies on or below (above) a diagonal of the last two dimensions.
template <bool lower>
Result<Value> triangle(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(Size diagonal, call.size("diagonal"));
  if (x.dims.size() < 2) return call.refuse("needs a tensor of rank 2 or more");
  ir::GraphBuilder& b = call.builder;
  Expression row(call.context, positions_along(b, x.dims[x.dims.size() - 2])),
      col(call.context, positions_along(b, x.dims.back()));
  if (diagonal != Size(0)) row = row + (diagonal.constant() ? row.integer(*diagonal.constant()) : row.size(diagonal));
  Expression kept = lower ? less_equal(col, row) : less_equal(row, col);
  Type type = type_of(b, x);
  if (type.boolean()) return Value{TensorValue{(kept && expression(call, x)).node(), x.dims}};
  Expression zero = type.floating() ? row.number(0.0) : row.integer(0);
  return Value{TensorValue{select(kept, expression(call, x), zero).node(), x.dims}};
}

// The main diagonal of two dimensions, or a matrix with a vector on its diagonal.
Result<TensorValue> main_diagonal(Call& call, const TensorValue& x, size_t first, size_t second) {
  ir::GraphBuilder& b = call.builder;
  AxisId rows = x.dims[first], cols = x.dims[second];
  KW_CHECK(require_same_size(call.context, size_of_dim(b.graph(), rows), size_of_dim(b.graph(), cols)));
  TensorValue out{x.node, {}};
  for (size_t i = 0; i < x.dims.size(); ++i)
    if (i != first && i != second) out.dims.push_back(x.dims[i]);
  if (rows != kUnit) out.node = b.make(Op::Gather, {x.node, positions_along(b, rows)}, ir::AxisList{{cols}});
  out.dims.push_back(rows);
  return out;
}

Result<Value> diag(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(int64_t offset, call.integer("diagonal"));
  if (offset != 0) return call.refuse("is read for the main diagonal only");
  if (x.dims.size() == 2) {
    KW_TRY(TensorValue out, main_diagonal(call, x, 0, 1));
    return Value{out};
  }
  if (x.dims.size() != 1) return call.refuse("needs a vector or a matrix");
  if (x.dims[0] == kUnit) return Value{unsqueeze(x, 0)};
  ir::GraphBuilder& b = call.builder;
  AxisId column = b.axis_like(x.dims[0], "column", b.graph().axis(x.dims[0]).size);
  Expression same = equals(Expression(call.context, positions_along(b, x.dims[0])),
                           Expression(call.context, positions_along(b, column)));
  Expression zero = type_of(b, x).floating() ? same.number(0.0) : same.integer(0);
  return Value{TensorValue{select(same, expression(call, x), zero).node(), {x.dims[0], column}}};
}

Result<Value> diagonal(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(int64_t offset, call.integer("offset"));
  KW_TRY(size_t first, call.dim_of("dim1", x));
  KW_TRY(size_t second, call.dim_of("dim2", x));
  if (offset != 0 || first == second || x.dims.size() < 2) return call.refuse("is read for the main diagonal only");
  KW_TRY(TensorValue out, main_diagonal(call, x, first, second));
  return Value{out};
}

Result<Value> trace(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  if (x.dims.size() != 2) return call.refuse("needs a matrix");
  KW_TRY(TensorValue out, main_diagonal(call, x, 0, 1));
  return Value{TensorValue{call.reduce(Op::Sum, out.node, call.builder[out.node].axes), {}}};
}

Result<Value> meshgrid(Call& call) {
  KW_TRY(std::vector<TensorValue> tensors, call.tensors("tensors"));
  bool swapped = false;
  if (call.given("indexing")) {
    KW_TRY(size_t mode, call.choice("indexing", {"ij", "xy"}));
    swapped = mode == 1 && tensors.size() >= 2;
  }
  std::vector<TensorValue> aligned;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].dims.size() > 1) return call.refuse("needs vectors");
    TensorValue t{tensors[i].node, std::vector<AxisId>(tensors.size(), kUnit)};
    size_t position = swapped && i < 2 ? 1 - i : i;
    if (!tensors[i].dims.empty()) t.dims[position] = tensors[i].dims[0];
    aligned.push_back(t);
  }
  KW_TRY(Broadcasted common, broadcast_together(call.context, aligned));
  std::vector<TensorValue> out;
  for (NodeId node : common.nodes) out.push_back(expand_to(call.context, node, common.dims));
  return to_tuple(std::move(out));
}

#define KW_FACTORY "*, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False"
#define KW_LIKE KW_FACTORY ", memory_format=None"

constexpr Entry kEntries[] = {
    {"zeros", kTorch, "*size, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False",
     constant<0>},
    {"ones", kTorch, "*size, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False", constant<1>},
    {"zeros", kAten, "size, " KW_FACTORY, constant<0>},
    {"ones", kAten, "size, " KW_FACTORY, constant<1>},
    {"full", kTorch | kAten, "size, fill_value, " KW_FACTORY, full},
    {"zeros_like", kTorch | kAten, "input, " KW_LIKE, constant_like<0>},
    {"ones_like", kTorch | kAten, "input, " KW_LIKE, constant_like<1>},
    {"full_like", kTorch | kAten, "input, fill_value, " KW_LIKE, full_like},
    {"new_zeros", kMethod, "input, *size, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False",
     new_constant<0>},
    {"new_ones", kMethod, "input, *size, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False",
     new_constant<1>},
    {"new_zeros", kAten, "input, size, " KW_FACTORY, new_constant<0>},
    {"new_ones", kAten, "input, size, " KW_FACTORY, new_constant<1>},
    {"new_full", kMethod | kAten, "input, size, fill_value, " KW_FACTORY, new_full},
    {"new_tensor", kMethod, "input, data, " KW_FACTORY, new_tensor},
    {"empty", kTorch | kAten,
     "*size, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False, "
     "memory_format=None",
     uninitialized},
    {"empty_like", kTorch | kAten, "input, " KW_LIKE, uninitialized},
    {"arange", kTorch,
     "start, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, "
     "requires_grad=False, pin_memory=False",
     arange},
    {"arange", kAten, "start, end=None, step=1, " KW_FACTORY, arange},
    {"linspace", kTorch | kAten, "start, end, steps, " KW_FACTORY, linspace},
    {"eye", kTorch | kAten, "n, m=None, " KW_FACTORY, eye},
    {"tensor", kTorch, "data, " KW_FACTORY, tensor},
    {"as_tensor", kTorch, "data, dtype=None, device=None", tensor},
    {"scalar_tensor", kTorch | kAten, "data, " KW_FACTORY, tensor},
    {"tril", kTensor, "input, diagonal=0", triangle<true>},
    {"triu", kTensor, "input, diagonal=0", triangle<false>},
    {"diag", kTensor, "input, diagonal=0", diag},
    {"diagonal", kTensor, "input, offset=0, dim1=0, dim2=1", diagonal},
    {"trace", kTensor, "input", trace},
    {"meshgrid", kTorch, "*tensors, indexing=None", meshgrid},
    {"meshgrid", kAten, "tensors, indexing=None", meshgrid},
};
#undef KW_FACTORY
#undef KW_LIKE

}  // namespace

std::span<const Entry> creation_entries() { return kEntries; }

}  // namespace kw::understand
