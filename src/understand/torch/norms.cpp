// Normalizations. Statistics and the scaling are computed in fp32 (or wider) and rounded once.
#include <algorithm>
#include <cmath>

#include "understand/torch/entry.h"
#include "understand/torch/formula.h"
#include "understand/torch/reduce.h"
#include "understand/torch/reshape.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;
using ir::Type;

struct Standardized {
  Expression value;  // (x - mean) * rsqrt(var + eps)
  Expression mean, variance;
};

Standardized standardize(Expression wide, const std::vector<AxisId>& axes, Expression eps) {
  Expression mean = wide.reduce(Op::Mean, axes);
  Expression centered = wide - mean;
  Expression variance = square(centered).reduce(Op::Mean, axes);
  return {centered * reciprocal_root(variance + eps), mean, variance};
}

std::vector<AxisId> axes_at(const TensorValue& x, const std::vector<size_t>& positions) {
  std::vector<AxisId> out;
  for (size_t i : positions)
    if (x.dims[i] != kUnit) out.push_back(x.dims[i]);
  std::sort(out.begin(), out.end());
  return out;
}

// A parameter over some dimensions of x, renamed to their axes.
Result<Expression> parameter_over(Call& call, const TensorValue& parameter, const TensorValue& x,
                                  const std::vector<size_t>& positions) {
  if (parameter.dims.size() != positions.size())
    return call.refuse("needs a weight and bias of rank " + std::to_string(positions.size()) + ", got shape " +
                       shape_text(call.builder.graph(), parameter));
  std::vector<AxisId> wanted;
  for (size_t i = 0; i < positions.size(); ++i) {
    AxisId axis = x.dims[positions[i]];
    if ((axis == kUnit) != (parameter.dims[i] == kUnit))
      return call.refuse("cannot scale " + shape_text(call.builder.graph(), x) + " by " +
                         shape_text(call.builder.graph(), parameter));
    wanted.push_back(axis);
  }
  KW_TRY(TensorValue renamed, rename_dims(call.context, parameter, wanted));
  return Expression(call.context, renamed.node);
}

// value * weight + bias, where they are given.
Result<Expression> affine(Call& call, Expression value, const TensorValue& x, const std::vector<size_t>& positions) {
  KW_TRY(auto weight, call.optional_tensor("weight"));
  KW_TRY(auto bias, call.optional_tensor("bias"));
  if (weight) {
    KW_TRY(Expression w, parameter_over(call, *weight, x, positions));
    value = value * w.as(value.type());
  }
  if (bias) {
    KW_TRY(Expression b, parameter_over(call, *bias, x, positions));
    value = value + b.as(value.type());
  }
  return value;
}

Result<std::vector<size_t>> normalized_positions(Call& call, const TensorValue& x) {
  KW_TRY(std::vector<Size> shape, call.sizes("normalized_shape"));
  if (shape.empty() || shape.size() > x.dims.size())
    return call.refuse("cannot normalize " + std::to_string(shape.size()) + " dimensions of a tensor of rank " +
                       std::to_string(x.dims.size()));
  std::vector<size_t> positions = last_positions(x.dims.size(), shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    KW_CHECK(require_same_size(call.context, size_of_dim(call.builder.graph(), x.dims[positions[i]]), shape[i]));
  return positions;
}

Result<TensorValue> floating_input(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  if (!type_of(call.builder, x).floating()) return call.refuse("is defined on floating tensors only");
  return x;
}

Result<Value> layer_norm(Call& call) {
  KW_TRY(TensorValue x, floating_input(call));
  KW_TRY(auto positions, normalized_positions(call, x));
  KW_TRY(TensorValue eps, call.scalar("eps"));
  Standardized s = standardize(expression(call, x).widened(), axes_at(x, positions), expression(call, eps));
  KW_TRY(Expression out, affine(call, s.value, x, positions));
  return Value{TensorValue{out.as(type_of(call.builder, x)).node(), x.dims}};
}

// Without eps PyTorch takes the distance from 1 to the next number of the input's type.
Result<Expression> eps_or_epsilon(Call& call, Type type) {
  if (call.given("eps")) {
    KW_TRY(TensorValue eps, call.scalar("eps"));
    return expression(call, eps);
  }
  std::vector<DType> defaults;
  for (const auto& parameter : call.builder.graph().type_parameters) defaults.push_back(parameter.default_dtype);
  DType dtype = type.bind(defaults);
  if (!type.concrete())
    call.context.assumptions.push_back(std::string(call.name) + " without eps: the epsilon of " +
                                       std::string(ir::info(dtype).torch_name) + " is taken");
  return Expression(call.context, call.builder.constant(std::ldexp(1.0, 1 - ir::info(dtype).mantissa_bits)));
}

Result<Value> rms_norm(Call& call) {
  KW_TRY(TensorValue x, floating_input(call));
  KW_TRY(auto positions, normalized_positions(call, x));
  Type type = type_of(call.builder, x);
  KW_TRY(Expression eps, eps_or_epsilon(call, type));
  KW_TRY(auto weight, call.optional_tensor("weight"));
  Expression wide = expression(call, x).widened();
  Expression out = wide * reciprocal_root(square(wide).reduce(Op::Mean, axes_at(x, positions)) + eps);
  if (weight) {
    KW_TRY(Expression w, parameter_over(call, *weight, x, positions));
    out = out * w.as(out.type());
  }
  return Value{TensorValue{out.as(type).node(), x.dims}};
}

// running ← (1 - momentum)·running + momentum·statistic
Status update_running(Call& call, std::string_view name, Expression statistic, AxisId channel) {
  KW_TRY(auto running, call.optional_tensor(name));
  if (!running || !call.context.update_buffer) return {};
  if (!call.given("momentum")) return call.refuse("without momentum averages over all batches, which is not read");
  KW_TRY(TensorValue momentum, call.scalar("momentum"));
  KW_TRY(TensorValue own, rename_dims(call.context, *running, {channel}));
  Expression m = expression(call, momentum);
  Type type = type_of(call.builder, *running);
  Expression next = m * statistic + (1.0 - m) * expression(call, own).as(statistic.type());
  return call.context.update_buffer(*running, {next.as(type).node(), {channel}});
}

Result<Value> batch_norm(Call& call) {
  KW_TRY(TensorValue x, floating_input(call));
  if (x.dims.size() < 2) return call.refuse("needs an input of rank 2 or more");
  KW_TRY(bool training, call.boolean("training"));
  KW_TRY(TensorValue eps_operand, call.scalar("eps"));
  Expression eps = expression(call, eps_operand), wide = expression(call, x).widened();
  Expression value = wide;
  if (training) {
    std::vector<size_t> positions;
    for (size_t i = 0; i < x.dims.size(); ++i)
      if (i != 1) positions.push_back(i);
    ReducedDims r = reduced_dims(call.builder.graph(), x, positions, true);
    Standardized s = standardize(wide, r.axes, eps);
    value = s.value;
    // The running variance takes the unbiased one.
    Expression unbiased = s.variance * (wide.size(r.count) / wide.size(r.count - Size(1)));
    KW_CHECK(update_running(call, "running_mean", s.mean, x.dims[1]));
    KW_CHECK(update_running(call, "running_var", unbiased, x.dims[1]));
  } else {
    KW_TRY(TensorValue running_mean, call.tensor("running_mean"));
    KW_TRY(TensorValue running_var, call.tensor("running_var"));
    KW_TRY(Expression mean, parameter_over(call, running_mean, x, {1}));
    KW_TRY(Expression variance, parameter_over(call, running_var, x, {1}));
    value = (wide - mean.as(wide.type())) * reciprocal_root(variance.as(wide.type()) + eps);
  }
  KW_TRY(Expression out, affine(call, value, x, {1}));
  return Value{TensorValue{out.as(type_of(call.builder, x)).node(), x.dims}};
}

Result<Value> instance_norm(Call& call) {
  KW_TRY(TensorValue x, floating_input(call));
  if (x.dims.size() < 2) return call.refuse("needs an input of rank 2 or more");
  KW_TRY(bool use_input, call.boolean("use_input_stats"));
  if (!use_input) return batch_norm(call);
  KW_TRY(TensorValue eps, call.scalar("eps"));
  ReducedDims r = reduced_dims(call.builder.graph(), x, last_positions(x.dims.size(), x.dims.size() - 2), true);
  Standardized s = standardize(expression(call, x).widened(), r.axes, expression(call, eps));
  std::vector<AxisId> batch;
  if (x.dims[0] != kUnit) batch.push_back(x.dims[0]);
  Expression unbiased = s.variance * (s.mean.size(r.count) / s.mean.size(r.count - Size(1)));
  KW_CHECK(update_running(call, "running_mean", s.mean.reduce(Op::Mean, batch), x.dims[1]));
  KW_CHECK(update_running(call, "running_var", unbiased.reduce(Op::Mean, batch), x.dims[1]));
  KW_TRY(Expression out, affine(call, s.value, x, {1}));
  return Value{TensorValue{out.as(type_of(call.builder, x)).node(), x.dims}};
}

Result<Value> group_norm(Call& call) {
  KW_TRY(TensorValue x, floating_input(call));
  if (x.dims.size() < 2) return call.refuse("needs an input of rank 2 or more");
  KW_TRY(Size groups, call.size("num_groups"));
  KW_TRY(TensorValue eps, call.scalar("eps"));
  const ir::Graph& graph = call.builder.graph();
  Size channels = size_of_dim(graph, x.dims[1]);
  auto c = graph.hinted(channels), g = graph.hinted(groups);
  if (c && g && (*g < 1 || *c % *g != 0))
    return call.refuse("cannot divide " + std::to_string(*c) + " channels into " + std::to_string(*g) + " groups");
  Size inner = groups == channels || (c && g && *c == *g) ? Size(1) : floor_div(channels, groups);
  if (inner == Size(1)) {
    KW_CHECK(require_same_size(call.context, channels, groups));
  } else if (inner * groups != channels) {
    call.builder.constrain({ir::SizeConstraint::Kind::Divisible, channels, groups});
  }
  TensorValue wide{expression(call, x).widened().node(), x.dims};
  TensorValue divided = wide;
  if (x.dims[1] == kUnit) {
    divided.dims.insert(divided.dims.begin() + 1, kUnit);
  } else {
    KW_TRY(divided, split_dim(call.context, wide, 1, groups, inner));
  }
  std::vector<size_t> positions = last_positions(divided.dims.size(), divided.dims.size() - 2);
  Standardized s = standardize(expression(call, divided), axes_at(divided, positions), expression(call, eps));
  TensorValue merged = merge_dims(call.context, {s.value.node(), divided.dims}, 1);
  KW_TRY(Expression out, affine(call, expression(call, merged), merged, {1}));
  return Value{TensorValue{out.as(type_of(call.builder, x)).node(), merged.dims}};
}

// Composed in Python: the norm, its lower limit and the quotient each round.
Result<Value> normalize(Call& call) {
  KW_TRY(TensorValue x, floating_input(call));
  KW_TRY(double p, call.number("p"));
  KW_TRY(TensorValue eps, call.scalar("eps"));
  KW_TRY(std::vector<size_t> positions, call.dims("dim", x.dims.size()));
  ReducedDims r = reduced_dims(call.builder.graph(), x, positions, true);
  Type type = type_of(call.builder, x);
  Expression norm = vector_norm(expression(call, x).widened(), r.axes, p).as(type);
  NodeId limited = maximum(norm, expression(call, eps)).node();
  KW_TRY(TensorValue expanded, expand_like(call.context, {limited, r.dims}, x.dims));
  return Value{TensorValue{(expression(call, x) / expression(call, expanded)).node(), x.dims}};
}

// Each vector divided by its norm, then the sum of products; each step rounds.
Result<Value> cosine_similarity(Call& call) {
  KW_TRY(TensorValue a, call.tensor("x1"));
  KW_TRY(TensorValue b, call.tensor("x2"));
  KW_TRY(TensorValue eps, call.scalar("eps"));
  KW_TRY(Type type, result_type(call.builder, {a, b}));
  if (!type.floating()) return call.refuse("is defined on floating tensors only");
  KW_TRY(Broadcasted common, broadcast_together(call.context, {a, b}));
  TensorValue shape{common.nodes[0], common.dims};
  KW_TRY(std::vector<size_t> positions, call.dims("dim", common.dims.size()));
  ReducedDims r = reduced_dims(call.builder.graph(), shape, positions, false);
  auto unit = [&](NodeId node) {
    Expression e = Expression(call.context, node).as(type);
    Expression norm = vector_norm(e.widened(), r.axes, 2.0).as(type);
    return e / maximum(norm, expression(call, eps));
  };
  return Value{TensorValue{(unit(common.nodes[0]) * unit(common.nodes[1])).reduce(Op::Sum, r.axes).node(), r.dims}};
}

constexpr Entry kEntries[] = {
    {"layer_norm", kTorch | kFunctional | kAten,
     "input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True", layer_norm},
    {"rms_norm", kTorch | kFunctional | kAten, "input, normalized_shape, weight=None, eps=None", rms_norm},
    {"batch_norm", kFunctional,
     "input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5", batch_norm},
    {"batch_norm", kTorch | kAten,
     "input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True", batch_norm},
    {"instance_norm", kFunctional,
     "input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, "
     "eps=1e-5, *, training=False",
     instance_norm},
    {"instance_norm", kTorch | kAten,
     "input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=True, "
     "*, training=False",
     instance_norm},
    {"group_norm", kFunctional, "input, num_groups, weight=None, bias=None, eps=1e-5", group_norm},
    {"group_norm", kTorch | kAten, "input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True",
     group_norm},
    {"normalize", kFunctional, "input, p=2.0, dim=1, eps=1e-12, out=None", normalize},
    {"cosine_similarity", kTorch | kFunctional | kAten, "x1, x2, dim=1, eps=1e-8", cosine_similarity},
};

}  // namespace

std::span<const Entry> norm_entries() { return kEntries; }

}  // namespace kw::understand
