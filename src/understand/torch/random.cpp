// Random numbers from the counter-based generator: one offset per call, seeded by the run-time scalar `seed`.
#include "understand/torch/entry.h"
#include "understand/torch/formula.h"
#include "understand/torch/views.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Type;

// Uniform in [0, 1) over these dimensions.
Expression uniform(TorchContext& context, const std::vector<AxisId>& dims) {
  ir::GraphBuilder& b = context.builder;
  const ir::Input* seed = b.graph().find_input("seed");
  NodeId seed_node =
      seed
          ? seed->node
          : b.input({"seed", ir::InputKind::Scalar, Type(DType::Int), {}, ir::Literal{int64_t{0}}, false, ir::kNoNode});
  std::vector<AxisId> axes;
  for (AxisId axis : dims)
    if (axis != kUnit) axes.push_back(axis);
  NodeId offset = b.integer(context.random_calls++);
  return {context, b.make(Op::Random, {seed_node, offset}, ir::AxisList{axes})};
}

// Drops with probability p and scales what stays by 1/(1 - p); `shared` dimensions at the end drop together.
Result<Value> drop(Call& call, size_t first_shared_from_front) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(bool training, call.boolean("training"));
  if (!training) return Value{x};
  auto known = known_number(call.builder.graph(), call["p"]);
  if (known == 0.0 && !call["p"].get<ScalarValue>()) return Value{TensorValue{x.node, x.dims}};
  if (known && (*known < 0.0 || *known > 1.0)) return call.refuse("needs a probability between 0 and 1");
  if (!type_of(call.builder, x).floating()) return call.refuse("is defined on floating tensors only");
  KW_TRY(TensorValue p, call.scalar("p"));
  std::vector<AxisId> dims = x.dims;
  for (size_t i = first_shared_from_front; i < dims.size(); ++i) dims[i] = kUnit;
  Expression keep = less_equal(expression(call, p), uniform(call.context, dims));
  Expression wide = expression(call, x).widened();
  Expression out = select(keep, wide * (1.0 / (1.0 - expression(call, p))), 0.0);
  if (known == 1.0) out = wide * 0.0;
  return Value{TensorValue{out.as(type_of(call.builder, x)).node(), x.dims}};
}

Result<Value> dropout(Call& call) { return drop(call, static_cast<size_t>(-1)); }

// Whole channels drop: dimensions after the batch and the channels share their fate.
template <size_t spatial>
Result<Value> channel_dropout(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  size_t rank = x.dims.size();
  size_t shared = spatial == 0 ? 2 : rank - std::min(rank, spatial);
  return drop(call, shared);
}

Result<Value> rand_like(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(auto type, call.type("dtype"));
  return Value{TensorValue{uniform(call.context, x.dims).as(type.value_or(type_of(call.builder, x))).node(), x.dims}};
}

Result<Value> rand(Call& call) {
  KW_TRY(std::vector<ir::Size> sizes, call.sizes("size"));
  KW_TRY(auto type, call.type("dtype"));
  if (type && !type->floating()) return call.wrong("dtype", "a floating type");
  std::vector<AxisId> dims;
  for (size_t i = 0; i < sizes.size(); ++i)
    dims.push_back(new_dim(call.context, dims, "d" + std::to_string(i), sizes[i]));
  return Value{TensorValue{uniform(call.context, dims).as(type.value_or(Type(DType::F32))).node(), dims}};
}

constexpr std::string_view kDropout = "input, p=0.5, training=True, inplace=False";
constexpr Entry kEntries[] = {
    {"dropout", kFunctional, kDropout, dropout},
    {"dropout", kTorch | kAten, "input, p, training", dropout},
    {"dropout1d", kFunctional, kDropout, channel_dropout<1>},
    {"dropout2d", kFunctional, kDropout, channel_dropout<2>},
    {"dropout3d", kFunctional, kDropout, channel_dropout<3>},
    {"feature_dropout", kTorch | kAten, "input, p, training", channel_dropout<0>},
    {"rand", kTorch, "*size, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False", rand},
    {"rand_like", kTorch | kAten,
     "input, *, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False, memory_format=None",
     rand_like},
};

}  // namespace

std::span<const Entry> random_entries() { return kEntries; }

}  // namespace kw::understand
