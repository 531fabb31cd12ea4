// Order along a dimension and running reductions.
#include "understand/torch/entry.h"
#include "understand/torch/index.h"
#include "understand/torch/reduce.h"
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

NodeId zeros_like(ir::GraphBuilder& b, const TensorValue& x) {
  return b.broadcast(b.cast(b.integer(0), Type(DType::I64)), b[x.node].axes);
}

Result<Value> sort(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim("dim", x.dims.size()));
  KW_TRY(bool descending, call.boolean("descending"));
  if (x.dims.empty() || x.dims[position] == kUnit)
    return named_pair({x.node, x.dims}, {zeros_like(call.builder, x), x.dims});
  ir::SortAttr attr{x.dims[position], descending};
  return named_pair({call.make(Op::Sort, {x.node}, attr), x.dims}, {call.make(Op::ArgSort, {x.node}, attr), x.dims});
}

Result<Value> argsort(Call& call) {
  KW_TRY(Value both, sort(call));
  return both.get<SequenceValue>()->items[1];
}

Result<Value> topk(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim("dim", x.dims.size()));
  KW_TRY(Size k, call.size("k"));
  KW_TRY(bool largest, call.boolean("largest"));
  if (x.dims.empty() || x.dims[position] == kUnit)
    return named_pair({x.node, x.dims}, {zeros_like(call.builder, x), x.dims});
  AxisId axis = x.dims[position];
  AxisId to = call.builder.axis_like(axis, "top", k);
  ir::TopKAttr attr{axis, to, largest};
  std::vector<AxisId> dims = x.dims;
  dims[position] = to;
  KW_TRY(NodeId values, call.builder.try_make(Op::TopK, {x.node}, attr));
  KW_TRY(NodeId indices, call.builder.try_make(Op::ArgTopK, {x.node}, attr));
  if (k != Size(1)) return named_pair({values, dims}, {indices, dims});
  // One value: a dimension of size one.
  dims[position] = kUnit;
  auto first = [&](NodeId node) { return call.make(Op::Gather, {node, call.builder.integer(0)}, ir::AxisList{{to}}); };
  return named_pair({first(values), dims}, {first(indices), dims});
}

template <Op op>
Result<Value> running(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim("dim", x.dims.size()));
  KW_TRY(auto dtype, call.type("dtype"));
  if (dtype) x.node = call.builder.cast(x.node, *dtype);
  if (!type_of(call.builder, x).floating()) x.node = call.builder.cast(x.node, Type(DType::I64));
  if (x.dims.empty() || x.dims[position] == kUnit) return Value{TensorValue{x.node, x.dims}};
  return Value{TensorValue{call.make(op, {x.node}, ir::ScanAttr{x.dims[position]}), x.dims}};
}

Result<Value> log_cumulative(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim("dim", x.dims.size()));
  if (x.dims.empty() || x.dims[position] == kUnit) return Value{TensorValue{x.node, x.dims}};
  return Value{TensorValue{call.make(Op::CumLogSumExp, {x.node}, ir::ScanAttr{x.dims[position]}), x.dims}};
}

// Of equal values the last one's index counts.
template <Op op>
Result<Value> running_extremum(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(size_t position, call.dim("dim", x.dims.size()));
  ir::GraphBuilder& b = call.builder;
  if (x.dims.empty() || x.dims[position] == kUnit) return named_pair({x.node, x.dims}, {zeros_like(b, x), x.dims});
  AxisId axis = x.dims[position];
  NodeId values = b.make(op, {x.node}, ir::ScanAttr{axis});
  Expression reached = equals(expression(call, x), Expression(call.context, values));
  Expression own(call.context, positions_along(b, axis));
  NodeId indices = b.make(Op::CumMax, {select(reached, own, own.integer(0)).node()}, ir::ScanAttr{axis});
  return named_pair({values, x.dims}, {indices, x.dims});
}

Result<Value> difference(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(int64_t times, call.integer("n"));
  KW_TRY(size_t position, call.dim("dim", x.dims.size()));
  if (call.given("prepend") || call.given("append")) return call.refuse("is read without prepend and append");
  if (x.dims.empty()) return call.refuse("needs a tensor with dimensions");
  for (int64_t i = 0; i < times; ++i) {
    Size size = size_of_dim(call.builder.graph(), x.dims[position]);
    KW_TRY(TensorValue after, slice_dim(call.context, x, position, Size(1), size - Size(1)));
    KW_TRY(TensorValue before, slice_dim(call.context, x, position, Size(0), size - Size(1)));
    KW_TRY(x, elementwise(call.context, Op::Sub, {after, before}));
  }
  return Value{TensorValue{x.node, x.dims}};
}

constexpr Entry kEntries[] = {
    {"sort", kTensor, "input, dim=-1, descending=False, stable=False", sort},
    {"sort.stable", kAten, "input, *, stable=False, dim=-1, descending=False", sort},
    {"argsort", kTensor, "input, dim=-1, descending=False, stable=False", argsort},
    {"argsort.stable", kAten, "input, *, stable=False, dim=-1, descending=False", argsort},
    {"topk", kTensor, "input, k, dim=-1, largest=True, sorted=True", topk},
    {"cumsum", kTensor, "input, dim, *, dtype=None", running<Op::CumSum>},
    {"cumprod", kTensor, "input, dim, *, dtype=None", running<Op::CumProd>},
    {"logcumsumexp", kTensor, "input, dim", log_cumulative},
    {"cummax", kTensor, "input, dim", running_extremum<Op::CumMax>},
    {"cummin", kTensor, "input, dim", running_extremum<Op::CumMin>},
    {"diff", kTensor, "input, n=1, dim=-1, prepend=None, append=None", difference},
};

}  // namespace

std::span<const Entry> order_entries() { return kEntries; }

}  // namespace kw::understand
