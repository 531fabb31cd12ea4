#include "understand/torch/softmax.h"

#include "understand/torch/entry.h"
#include "understand/torch/formula.h"

namespace kw::understand {

using ir::AxisId;
using ir::Op;
using ir::Type;

Expression softmax(Expression wide, const std::vector<AxisId>& axes) {
  Expression e = exponential(wide - stop_gradient(wide.reduce(Op::ReduceMax, axes)));
  return e / e.reduce(Op::Sum, axes);
}

Expression log_softmax(Expression wide, const std::vector<AxisId>& axes) {
  Expression shifted = wide - stop_gradient(wide.reduce(Op::ReduceMax, axes));
  return shifted - logarithm(exponential(shifted).reduce(Op::Sum, axes));
}

namespace {

// Without dim=, PyTorch takes the first dimension of tensors of rank 0, 1 and 3, else the second.
Result<size_t> softmax_dim(Call& call, size_t rank) {
  if (call.given("dim")) return call.dim("dim", rank);
  return rank == 0 || rank == 1 || rank == 3 ? 0 : 1;
}

template <class Formula>
Result<Value> normalized(Call& call, Formula formula, bool negated = false) {
  KW_TRY(TensorValue x, call.tensor("input"));
  if (negated) x.node = call.make(Op::Neg, {x.node});
  KW_TRY(std::optional<Type> dtype, call.type("dtype"));
  if (dtype) x.node = call.builder.cast(x.node, *dtype);
  Type type = type_of(call.builder, x);
  if (!type.floating()) return call.refuse("is defined on floating tensors only", "cast the input, or give dtype=");
  KW_TRY(size_t position, softmax_dim(call, x.dims.size()));
  std::vector<AxisId> axes;
  if (!x.dims.empty() && x.dims[position] != ir::kUnit) axes.push_back(x.dims[position]);
  Expression out = formula(expression(call, x).widened(), axes);
  return Value{TensorValue{out.as(type).node(), x.dims}};
}

Result<Value> read_softmax(Call& call) { return normalized(call, softmax); }
Result<Value> read_log_softmax(Call& call) { return normalized(call, log_softmax); }
Result<Value> read_softmin(Call& call) { return normalized(call, softmax, true); }

constexpr std::string_view kFunction = "input, dim=None, _stacklevel=3, dtype=None";
constexpr std::string_view kPlain = "input, dim, dtype=None";

constexpr Entry kEntries[] = {
    {"softmax", kTensor | kSpecial, kPlain, read_softmax},
    {"log_softmax", kTensor | kSpecial, kPlain, read_log_softmax},
    {"softmax", kFunctional, kFunction, read_softmax},
    {"log_softmax", kFunctional, kFunction, read_log_softmax},
    {"softmin", kFunctional, kFunction, read_softmin},
};

}  // namespace

std::span<const Entry> softmax_entries() { return kEntries; }

}  // namespace kw::understand
