// Reductions over dimensions.
#include "understand/torch/reduce.h"

#include <algorithm>
#include <cmath>

#include "understand/torch/entry.h"
#include "understand/torch/reshape.h"

namespace kw::understand {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;
using ir::Type;

ReducedDims reduced_dims(const ir::Graph& graph, const TensorValue& x, const std::vector<size_t>& positions,
                         bool keepdim) {
  ReducedDims out{{}, {}, Size(1)};
  for (size_t i = 0; i < x.dims.size(); ++i) {
    bool reduced = std::find(positions.begin(), positions.end(), i) != positions.end();
    if (!reduced) {
      out.dims.push_back(x.dims[i]);
      continue;
    }
    if (keepdim) out.dims.push_back(kUnit);
    if (x.dims[i] != kUnit) out.axes.push_back(x.dims[i]);
    out.count = out.count * size_of_dim(graph, x.dims[i]);
  }
  std::sort(out.axes.begin(), out.axes.end());
  return out;
}

Result<ReducedDims> reduced_dims(Call& call, const TensorValue& x) {
  KW_TRY(std::vector<size_t> positions, call.dims("dim", x.dims.size()));
  KW_TRY(bool keepdim, call.boolean("keepdim"));
  return reduced_dims(call.builder.graph(), x, positions, keepdim);
}

std::vector<size_t> last_positions(size_t rank, size_t count) {
  std::vector<size_t> out;
  for (size_t i = rank - count; i < rank; ++i) out.push_back(i);
  return out;
}

Value named_pair(TensorValue values, TensorValue indices) {
  SequenceValue pair{{Value{std::move(values)}, Value{std::move(indices)}}, true, {"values", "indices"}};
  return Value{std::move(pair)};
}

namespace {

// A root whose slope at 0 is 0, as that of PyTorch's norms and deviations, where that of sqrt is infinite.
template <class Root>
Expression flat_at_zero(Expression x, Root root) {
  Expression at_zero = equals(x, 0.0);
  return select(at_zero, 0.0, root(select(at_zero, 1.0, x)));
}

}  // namespace

Expression vector_norm(Expression wide, const std::vector<AxisId>& axes, double p) {
  if (p == 2.0) return flat_at_zero(square(wide).reduce(Op::Sum, axes), square_root);
  if (p == 1.0) return absolute(wide).reduce(Op::Sum, axes);
  if (p == 0.0) return differs(wide, 0.0).as(wide.type()).reduce(Op::Sum, axes);
  if (std::isinf(p)) return absolute(wide).reduce(p > 0 ? Op::ReduceMax : Op::ReduceMin, axes);
  return flat_at_zero(power(absolute(wide), p).reduce(Op::Sum, axes), [&](Expression x) { return power(x, 1.0 / p); });
}

namespace {

// The input, in the type that dtype= asks for.
Result<TensorValue> input_in_dtype(Call& call, std::string_view parameter = "input") {
  KW_TRY(TensorValue x, call.tensor(parameter));
  KW_TRY(std::optional<Type> type, call.type("dtype"));
  if (type) x.node = call.builder.cast(x.node, *type);
  return x;
}

template <Op op>
Result<Value> sum_or_product(Call& call) {
  KW_TRY(TensorValue x, input_in_dtype(call));
  if (!type_of(call.builder, x).floating()) x.node = call.builder.cast(x.node, Type(DType::I64));
  KW_TRY(ReducedDims r, reduced_dims(call, x));
  return Value{TensorValue{call.reduce(op, x.node, r.axes), r.dims}};
}

Result<Value> mean(Call& call) {
  KW_TRY(TensorValue x, input_in_dtype(call));
  if (!type_of(call.builder, x).floating())
    return call.refuse("is defined on floating tensors only", "cast the input, or give dtype=");
  KW_TRY(ReducedDims r, reduced_dims(call, x));
  return Value{TensorValue{call.reduce(Op::Mean, x.node, r.axes), r.dims}};
}

template <Op op>
Result<Value> extremum(Call& call) {  // amax, amin
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(ReducedDims r, reduced_dims(call, x));
  return Value{TensorValue{call.reduce(op, x.node, r.axes), r.dims}};
}

TensorValue index_of_extremum(ir::GraphBuilder& builder, Op op, const TensorValue& x, size_t position, bool keepdim) {
  ReducedDims r = reduced_dims(builder.graph(), x, {position}, keepdim);
  if (!r.axes.empty()) return {builder.make(op, {x.node}, ir::AxisList{r.axes}), r.dims};
  // Along a dimension of size one every index is 0.
  std::vector<AxisId> axes = builder[x.node].axes;
  return {builder.broadcast(builder.cast(builder.integer(0), Type(DType::I64)), axes), r.dims};
}

// max(x), max(x, dim, keepdim) and max(x, other) share a name.
template <Op pairwise, Op reduction, Op index>
Result<Value> maximum_of(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  if (const auto* other = call["dim"].get<TensorValue>()) {
    KW_TRY(TensorValue out, elementwise(call.context, pairwise, {x, *other}));
    return Value{out};
  }
  if (call.given("other")) {
    KW_TRY(TensorValue other, call.tensor("other"));
    KW_TRY(TensorValue out, elementwise(call.context, pairwise, {x, other}));
    return Value{out};
  }
  KW_TRY(ReducedDims r, reduced_dims(call, x));
  TensorValue values{call.reduce(reduction, x.node, r.axes), r.dims};
  if (!call.given("dim")) return Value{values};
  KW_TRY(size_t position, call.dim("dim", x.dims.size()));
  KW_TRY(bool keepdim, call.boolean("keepdim"));
  if (x.dims.empty()) return named_pair(values, {call.builder.cast(call.builder.integer(0), Type(DType::I64)), {}});
  return named_pair(values, index_of_extremum(call.builder, index, x, position, keepdim));
}

template <Op op>
Result<Value> arg_extremum(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(bool keepdim, call.boolean("keepdim"));
  size_t rank = x.dims.size(), position = 0;
  if (call.given("dim")) {
    KW_TRY(position, call.dim("dim", rank));
  } else {
    KW_TRY(x, flatten(call.context, x, 0, rank));
  }
  TensorValue out = index_of_extremum(call.builder, op, x, position, keepdim);
  if (!call.given("dim") && keepdim) out.dims.assign(rank, kUnit);
  return Value{out};
}

template <Op op>
Result<Value> any_or_all(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  NodeId node = x.node;
  if (!type_of(call.builder, x).boolean()) node = call.make(Op::Ne, {node, call.builder.integer(0)});
  KW_TRY(ReducedDims r, reduced_dims(call, x));
  return Value{TensorValue{call.reduce(op, node, r.axes), r.dims}};
}

// PyTorch composes it from max, exp, sum and log, each rounding to the input's type.
Result<Value> log_sum_exp(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(ReducedDims r, reduced_dims(call, x));
  Expression e = expression(call, x).as(floating_type(type_of(call.builder, x)));
  Expression largest = stop_gradient(e.reduce(Op::ReduceMax, r.axes));
  largest = select(equals(absolute(largest), HUGE_VAL), 0.0, largest);
  Expression out = logarithm(exponential(e - largest).reduce(Op::Sum, r.axes)) + largest;
  return Value{TensorValue{out.node(), r.dims}};
}

// ---- variance ----
struct Moments {
  Expression variance;  // widened
  Expression mean;
  ReducedDims reduced;
  Type type;
};

Result<Moments> moments(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  Type type = type_of(call.builder, x);
  if (!type.floating()) return call.refuse("is defined on floating tensors only");
  // var(x, unbiased) and var(x, dim, …) share a name.
  bool flag_first = call["dim"].get<bool>() != nullptr;
  Size correction(1);
  if (flag_first) correction = Size(*call["dim"].get<bool>() ? 1 : 0);
  if (call.given("unbiased")) {
    KW_TRY(bool unbiased, call.boolean("unbiased"));
    correction = Size(unbiased ? 1 : 0);
  }
  if (call.given("correction")) {
    if (const auto* real = call["correction"].get<double>()) {
      if (*real != std::floor(*real)) return call.wrong("correction", "a whole number");
      correction = Size(static_cast<int64_t>(*real));
    } else {
      KW_TRY(correction, call.size("correction"));
    }
  }
  std::vector<size_t> positions = last_positions(x.dims.size(), x.dims.size());
  if (!flag_first) {
    KW_TRY(positions, call.dims("dim", x.dims.size()));
  }
  KW_TRY(bool keepdim, call.boolean("keepdim"));
  ReducedDims r = reduced_dims(call.builder.graph(), x, positions, keepdim);
  Expression wide = expression(call, x).widened();
  Expression average = wide.reduce(Op::Mean, r.axes);
  Expression squares = square(wide - average);
  Expression variance = correction == Size(0) ? squares.reduce(Op::Mean, r.axes)
                                              : squares.reduce(Op::Sum, r.axes) / wide.size(r.count - correction);
  return Moments{variance, average, r, type};
}

template <bool root, bool with_mean>
Result<Value> spread(Call& call) {
  KW_TRY(Moments m, moments(call));
  Expression out = root ? flat_at_zero(m.variance, square_root) : m.variance;
  TensorValue first{out.as(m.type).node(), m.reduced.dims};
  if (!with_mean) return Value{first};
  return to_tuple({first, {m.mean.as(m.type).node(), m.reduced.dims}});
}

// ---- norms of vectors ----
// torch.norm names its arguments input and p, torch.linalg x (or A) and ord.
Result<Value> norm_of(Call& call, std::string_view input, std::string_view order) {
  KW_TRY(TensorValue x, input_in_dtype(call, input));
  Type type = type_of(call.builder, x);
  if (!type.floating()) return call.refuse("is defined on floating tensors only");
  double p = 2.0;
  if (const auto* text = call[order].get<std::string>()) {
    if (*text == "inf" || *text == "-inf")
      p = *text == "inf" ? HUGE_VAL : -HUGE_VAL;
    else if (*text != "fro")
      return call.refuse("knows the norm 'fro', not '" + *text + "'");
  } else if (call.given(order)) {
    KW_TRY(p, call.number(order));
  }
  KW_TRY(ReducedDims r, reduced_dims(call, x));
  Expression out = vector_norm(expression(call, x).widened(), r.axes, p);
  return Value{TensorValue{out.as(type).node(), r.dims}};
}

Result<Value> norm(Call& call) { return norm_of(call, "input", "p"); }
Result<Value> linalg_vector_norm(Call& call) { return norm_of(call, "x", "ord"); }
Result<Value> linalg_norm(Call& call) {
  KW_TRY(TensorValue x, call.tensor("A"));
  KW_TRY(std::vector<size_t> positions, call.dims("dim", x.dims.size()));
  const auto* name = call["ord"].get<std::string>();
  if (call.given("ord") && !(name && *name == "fro") && positions.size() != 1)
    return call.refuse("with ord over several dimensions is the norm of a matrix, which is not read",
                       "name one dimension with dim=, or use torch.linalg.vector_norm");
  return norm_of(call, "A", "ord");
}

Result<Value> count_nonzero(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  NodeId node = x.node;
  if (!type_of(call.builder, x).boolean()) node = call.make(Op::Ne, {node, call.builder.integer(0)});
  KW_TRY(std::vector<size_t> positions, call.dims("dim", x.dims.size()));
  ReducedDims r = reduced_dims(call.builder.graph(), x, positions, false);
  return Value{TensorValue{call.reduce(Op::Sum, call.builder.cast(node, Type(DType::I64)), r.axes), r.dims}};
}

constexpr std::string_view kReduce = "input, dim=None, keepdim=False, *, dtype=None";
constexpr std::string_view kPlain = "input, dim=None, keepdim=False";
constexpr std::string_view kSpread = "input, dim=None, unbiased=None, keepdim=False, *, correction=None";
constexpr std::string_view kMax = "input, dim=None, keepdim=False, *, other=None";

constexpr Entry kEntries[] = {
    {"sum", kTensor, kReduce, sum_or_product<Op::Sum>},
    {"prod", kTensor, kReduce, sum_or_product<Op::Prod>},
    {"mean", kTensor, kReduce, mean},
    {"amax", kTensor, kPlain, extremum<Op::ReduceMax>},
    {"amin", kTensor, kPlain, extremum<Op::ReduceMin>},
    {"max", kTensor, kMax, maximum_of<Op::Max, Op::ReduceMax, Op::ArgMax>},
    {"min", kTensor, kMax, maximum_of<Op::Min, Op::ReduceMin, Op::ArgMin>},
    {"argmax", kTensor, kPlain, arg_extremum<Op::ArgMax>},
    {"argmin", kTensor, kPlain, arg_extremum<Op::ArgMin>},
    {"any", kTensor, kPlain, any_or_all<Op::Any>},
    {"all", kTensor, kPlain, any_or_all<Op::All>},
    {"logsumexp", kTensor | kSpecial, kPlain, log_sum_exp},
    {"var", kTensor, kSpread, spread<false, false>},
    {"std", kTensor, kSpread, spread<true, false>},
    {"var_mean", kTorch | kAten, kSpread, spread<false, true>},
    {"std_mean", kTorch | kAten, kSpread, spread<true, true>},
    {"var.correction", kAten, "input, dim=None, *, correction=None, unbiased=None, keepdim=False",
     spread<false, false>},
    {"std.correction", kAten, "input, dim=None, *, correction=None, unbiased=None, keepdim=False", spread<true, false>},
    {"var_mean.correction", kAten, "input, dim=None, *, correction=None, unbiased=None, keepdim=False",
     spread<false, true>},
    {"std_mean.correction", kAten, "input, dim=None, *, correction=None, unbiased=None, keepdim=False",
     spread<true, true>},
    {"norm", kTensor, "input, p='fro', dim=None, keepdim=False, *, dtype=None", norm},
    {"vector_norm", kLinalg, "x, ord=2, dim=None, keepdim=False, *, dtype=None", linalg_vector_norm},
    {"norm", kLinalg, "A, ord=None, dim=None, keepdim=False, *, dtype=None", linalg_norm},
    {"linalg_vector_norm", kAten, "input, p=2, dim=None, keepdim=False, *, dtype=None", norm},
    {"count_nonzero", kTensor, "input, dim=None", count_nonzero},
};

}  // namespace

std::span<const Entry> reduction_entries() { return kEntries; }

}  // namespace kw::understand
