// Losses that compare element by element. Unless PyTorch fuses the formula in fp32, each step rounds to the input's
// type.
#include "understand/torch/loss.h"

#include <cmath>
#include <numbers>

#include "understand/torch/entry.h"
#include "understand/torch/formula.h"
#include "understand/torch/reduce.h"

namespace kw::understand {

using ir::AxisId;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;
using ir::Type;

Result<Reduction> reduction_of(Call& call) {
  for (std::string_view deprecated : {"size_average", "reduce"})
    if (call.has(deprecated) && call.given(deprecated))
      return call.refuse("is read without the deprecated '" + std::string(deprecated) + "'", "use reduction=");
  constexpr Reduction kByIndex[] = {Reduction::None, Reduction::Mean, Reduction::Sum};
  if (const auto* number = call["reduction"].get<Size>()) {
    auto index = number->constant();
    if (!index || *index < 0 || *index > 2) return call.wrong("reduction", "0, 1 or 2");
    return kByIndex[*index];
  }
  KW_TRY(size_t index, call.choice("reduction", {"none", "mean", "sum"}));
  return kByIndex[index];
}

Value reduce_loss(Call& call, Expression loss, const std::vector<AxisId>& dims, Reduction reduction) {
  if (reduction == Reduction::None) return Value{TensorValue{loss.node(), dims}};
  std::vector<AxisId> axes = call.builder[loss.node()].axes;
  return Value{TensorValue{loss.reduce(reduction == Reduction::Mean ? Op::Mean : Op::Sum, axes).node(), {}}};
}

Result<LossOperands> loss_operands(Call& call, std::initializer_list<std::string_view> parameters) {
  std::vector<TensorValue> tensors;
  for (std::string_view parameter : parameters) {
    KW_TRY(TensorValue t, call.tensor(parameter));
    tensors.push_back(t);
  }
  KW_TRY(Type type, result_type(call.builder, tensors));
  if (!type.floating()) return call.refuse("is defined on floating tensors only");
  KW_TRY(Broadcasted common, broadcast_together(call.context, tensors));
  LossOperands out{{}, common.dims, type};
  for (size_t i = 0; i < tensors.size(); ++i) {
    TensorValue operand{common.nodes[i], tensors[i].dims};
    out.values.push_back(Expression(call.context, operand_in(call.builder, operand, type)));
  }
  return out;
}

namespace {

Result<Value> mse_loss(Call& call) {
  KW_TRY(LossOperands x, loss_operands(call, {"input", "target"}));
  KW_TRY(Reduction reduction, reduction_of(call));
  return reduce_loss(call, square(x.values[0] - x.values[1]), x.dims, reduction);
}

Result<Value> l1_loss(Call& call) {
  KW_TRY(LossOperands x, loss_operands(call, {"input", "target"}));
  KW_TRY(Reduction reduction, reduction_of(call));
  return reduce_loss(call, absolute(x.values[0] - x.values[1]), x.dims, reduction);
}

Result<Value> smooth_l1_loss(Call& call) {
  KW_TRY(double beta, call.number("beta"));
  if (beta == 0.0) return l1_loss(call);
  KW_TRY(LossOperands x, loss_operands(call, {"input", "target"}));
  KW_TRY(Reduction reduction, reduction_of(call));
  Expression z = absolute(x.values[0].as(opmath(x.type)) - x.values[1].as(opmath(x.type)));
  Expression inside = 0.5 * z * z;
  if (beta != 1.0) inside = inside / beta;
  Expression loss = select(less(z, beta), inside, z - 0.5 * beta).as(x.type);
  return reduce_loss(call, loss, x.dims, reduction);
}

Result<Value> huber_loss(Call& call) {
  KW_TRY(LossOperands x, loss_operands(call, {"input", "target"}));
  KW_TRY(Reduction reduction, reduction_of(call));
  KW_TRY(TensorValue delta_operand, call.scalar("delta"));
  Expression delta(call.context, rounded_operand_in(call.builder, delta_operand, x.type));
  Expression z = absolute(x.values[0] - x.values[1]);
  Expression loss = select(less(z, delta), 0.5 * z * z, delta * (z - 0.5 * delta));
  return reduce_loss(call, loss, x.dims, reduction);
}

Expression x_log_x(Expression x) { return select(equals(x, 0.0), 0.0, x * logarithm(x)); }

Result<Value> kl_div(Call& call) {
  KW_TRY(LossOperands x, loss_operands(call, {"input", "target"}));
  KW_TRY(bool log_target, call.boolean("log_target"));
  Expression input = x.values[0], target = x.values[1];
  Expression loss = log_target ? exponential(target) * (target - input) : x_log_x(target) - target * input;
  const auto* mode = call["reduction"].get<std::string>();
  if (mode && *mode == "batchmean") {
    if (x.dims.empty()) return call.refuse("with reduction='batchmean' needs a batch dimension");
    Expression total = loss.reduce(Op::Sum, call.builder[loss.node()].axes);
    Size batch = size_of_dim(call.builder.graph(), x.dims[0]);
    auto constant = batch.constant();
    Expression count = constant ? total.integer(*constant) : total.size(batch);
    return Value{TensorValue{(total / count).node(), {}}};
  }
  KW_TRY(Reduction reduction, reduction_of(call));
  return reduce_loss(call, loss, x.dims, reduction);
}

// A weight that is broadcast to the loss, and not the other way round.
Result<Expression> weight_over(Call& call, const TensorValue& weight, Expression loss,
                               const std::vector<AxisId>& dims) {
  KW_TRY(Broadcasted common, broadcast_together(call.context, {{loss.node(), dims}, weight}));
  if (common.dims != dims)
    return call.refuse("cannot weight " + shape_text(call.builder.graph(), {loss.node(), dims}) + " by " +
                       shape_text(call.builder.graph(), weight));
  return Expression(call.context, common.nodes[1]);
}

// weight=…: rescales each element.
Result<Expression> weighted(Call& call, Expression loss, const std::vector<AxisId>& dims) {
  KW_TRY(auto weight, call.optional_tensor("weight"));
  if (!weight) return loss;
  KW_TRY(Expression own, weight_over(call, *weight, loss, dims));
  return loss * own;
}

// Logarithms are cut off at -100, as PyTorch does to keep the loss finite.
Result<Value> binary_cross_entropy(Call& call) {
  KW_TRY(LossOperands x, loss_operands(call, {"input", "target"}));
  KW_TRY(Reduction reduction, reduction_of(call));
  Expression p = x.values[0], t = x.values[1];
  Expression no = maximum(log1p(-p), -100.0), yes = maximum(logarithm(p), -100.0);
  KW_TRY(Expression loss, weighted(call, (t - 1.0) * no - t * yes, x.dims));
  return reduce_loss(call, loss, x.dims, reduction);
}

Result<Value> binary_cross_entropy_with_logits(Call& call) {
  KW_TRY(LossOperands x, loss_operands(call, {"input", "target"}));
  KW_TRY(Reduction reduction, reduction_of(call));
  Expression logit = x.values[0], t = x.values[1];
  Expression log_yes = log_sigmoid(logit.widened()).as(logit.type());
  KW_TRY(auto positive, call.optional_tensor("pos_weight"));
  if (positive) {
    KW_TRY(Expression own, weight_over(call, *positive, logit, x.dims));
    Expression factor = (own - 1.0) * t + 1.0;
    log_yes = factor * log_yes;
  }
  KW_TRY(Expression loss, weighted(call, (1.0 - t) * logit - log_yes, x.dims));
  return reduce_loss(call, loss, x.dims, reduction);
}

Result<Value> soft_margin_loss(Call& call) {
  KW_TRY(LossOperands x, loss_operands(call, {"input", "target"}));
  KW_TRY(Reduction reduction, reduction_of(call));
  return reduce_loss(call, log1p(exponential(-x.values[1] * x.values[0])), x.dims, reduction);
}

Result<Value> hinge_embedding_loss(Call& call) {
  KW_TRY(LossOperands x, loss_operands(call, {"input", "target"}));
  KW_TRY(Reduction reduction, reduction_of(call));
  KW_TRY(TensorValue margin, call.scalar("margin"));
  Expression input = x.values[0], t = x.values[1];
  Expression apart = select(equals(t, 1.0), 0.0, maximum(expression(call, margin) - input, 0.0));
  Expression together = select(equals(t, -1.0), 0.0, input);
  return reduce_loss(call, apart + together, x.dims, reduction);
}

Result<Value> margin_ranking_loss(Call& call) {
  KW_TRY(LossOperands x, loss_operands(call, {"input1", "input2", "target"}));
  KW_TRY(Reduction reduction, reduction_of(call));
  KW_TRY(TensorValue margin, call.scalar("margin"));
  Expression loss = maximum(-x.values[2] * (x.values[0] - x.values[1]) + expression(call, margin), 0.0);
  return reduce_loss(call, loss, x.dims, reduction);
}

// ‖a - b + eps‖ over the last dimension.
struct Distance {
  Expression value;
  std::vector<AxisId> dims;
};
Result<Distance> pairwise_distance(Call& call, const TensorValue& a, const TensorValue& b, double p, double eps,
                                   bool keepdim = false) {
  KW_TRY(Type type, result_type(call.builder, {a, b}));
  if (!type.floating()) return call.refuse("is defined on floating tensors only");
  KW_TRY(Broadcasted common, broadcast_together(call.context, {a, b}));
  if (common.dims.empty()) return call.refuse("needs tensors with dimensions");
  Expression difference =
      Expression(call.context, common.nodes[0]).as(type) - Expression(call.context, common.nodes[1]).as(type) + eps;
  TensorValue shape{difference.node(), common.dims};
  ReducedDims r = reduced_dims(call.builder.graph(), shape, {common.dims.size() - 1}, keepdim);
  return Distance{vector_norm(difference.widened(), r.axes, p).as(type), r.dims};
}

Result<Value> read_pairwise_distance(Call& call) {
  KW_TRY(TensorValue a, call.tensor("x1"));
  KW_TRY(TensorValue b, call.tensor("x2"));
  KW_TRY(double p, call.number("p"));
  KW_TRY(double eps, call.number("eps"));
  KW_TRY(bool keepdim, call.boolean("keepdim"));
  KW_TRY(Distance d, pairwise_distance(call, a, b, p, eps, keepdim));
  return Value{TensorValue{d.value.node(), d.dims}};
}

Result<Value> triplet_margin_loss(Call& call) {
  KW_TRY(TensorValue anchor, call.tensor("anchor"));
  KW_TRY(TensorValue positive, call.tensor("positive"));
  KW_TRY(TensorValue negative, call.tensor("negative"));
  KW_TRY(TensorValue margin, call.scalar("margin"));
  KW_TRY(double p, call.number("p"));
  KW_TRY(double eps, call.number("eps"));
  KW_TRY(bool swap, call.boolean("swap"));
  KW_TRY(Reduction reduction, reduction_of(call));
  KW_TRY(Distance near, pairwise_distance(call, anchor, positive, p, eps));
  KW_TRY(Distance far, pairwise_distance(call, anchor, negative, p, eps));
  KW_TRY(Broadcasted common,
         broadcast_together(call.context, {{near.value.node(), near.dims}, {far.value.node(), far.dims}}));
  Expression other(call.context, common.nodes[1]);
  if (swap) {
    KW_TRY(Distance swapped, pairwise_distance(call, positive, negative, p, eps));
    KW_TRY(Broadcasted three, broadcast_together(call.context, {{common.nodes[0], common.dims},
                                                                {common.nodes[1], common.dims},
                                                                {swapped.value.node(), swapped.dims}}));
    common.nodes[0] = three.nodes[0];
    other = minimum(Expression(call.context, three.nodes[1]), Expression(call.context, three.nodes[2]));
  }
  Expression loss = maximum(expression(call, margin) + Expression(call.context, common.nodes[0]) - other, 0.0);
  return reduce_loss(call, loss, common.dims, reduction);
}

Result<Value> cosine_embedding_loss(Call& call) {
  KW_TRY(TensorValue a, call.tensor("input1"));
  KW_TRY(TensorValue b, call.tensor("input2"));
  KW_TRY(TensorValue target, call.tensor("target"));
  KW_TRY(TensorValue margin, call.scalar("margin"));
  KW_TRY(Reduction reduction, reduction_of(call));
  constexpr double kEpsilon = 1e-12;
  KW_TRY(Type type, result_type(call.builder, {a, b}));
  KW_TRY(Broadcasted common, broadcast_together(call.context, {a, b}));
  if (common.dims.empty()) return call.refuse("needs tensors with dimensions");
  TensorValue shape{common.nodes[0], common.dims};
  ReducedDims r = reduced_dims(call.builder.graph(), shape, {common.dims.size() - 1}, false);
  Expression x = Expression(call.context, common.nodes[0]).as(type),
             y = Expression(call.context, common.nodes[1]).as(type);
  auto sum = [&](Expression e) { return e.reduce(Op::Sum, r.axes); };
  Expression cosine = sum(x * y) / square_root((sum(square(x)) + kEpsilon) * (sum(square(y)) + kEpsilon));
  KW_TRY(Broadcasted pair, broadcast_together(call.context, {{cosine.node(), r.dims}, target}));
  cosine = Expression(call.context, pair.nodes[0]);
  Expression t(call.context, pair.nodes[1]);
  Expression loss = select(equals(t, t.integer(1)), 1.0 - cosine, 0.0) +
                    select(equals(t, t.integer(-1)), maximum(cosine - expression(call, margin), 0.0), 0.0);
  return reduce_loss(call, loss, pair.dims, reduction);
}

Result<Value> poisson_nll_loss(Call& call) {
  KW_TRY(LossOperands x, loss_operands(call, {"input", "target"}));
  KW_TRY(Reduction reduction, reduction_of(call));
  KW_TRY(bool log_input, call.boolean("log_input"));
  KW_TRY(bool full, call.boolean("full"));
  KW_TRY(TensorValue eps, call.scalar("eps"));
  Expression input = x.values[0], t = x.values[1];
  Expression loss = log_input ? exponential(input) - t * input : input - t * logarithm(input + expression(call, eps));
  if (full) {
    Expression stirling = t * logarithm(t) - t + 0.5 * logarithm(2.0 * std::numbers::pi * t);
    loss = loss + select(less_equal(t, 1.0), 0.0, stirling);
  }
  return reduce_loss(call, loss, x.dims, reduction);
}

Result<Value> gaussian_nll_loss(Call& call) {
  KW_TRY(LossOperands x, loss_operands(call, {"input", "target", "var"}));
  KW_TRY(Reduction reduction, reduction_of(call));
  KW_TRY(bool full, call.boolean("full"));
  KW_TRY(TensorValue eps, call.scalar("eps"));
  // The lower limit of the variance takes no gradient.
  Expression var = x.values[2], limited = maximum(stop_gradient(var), expression(call, eps));
  var = var + stop_gradient(limited - var);
  Expression loss = 0.5 * (logarithm(var) + square(x.values[0] - x.values[1]) / var);
  if (full) loss = loss + 0.5 * std::log(2.0 * std::numbers::pi);
  return reduce_loss(call, loss, x.dims, reduction);
}

#define KW_LEGACY "size_average=None, reduce=None, reduction='mean'"

constexpr Entry kEntries[] = {
    {"mse_loss", kFunctional, "input, target, " KW_LEGACY, mse_loss},
    {"mse_loss", kAten, "input, target, reduction=1", mse_loss},
    {"l1_loss", kFunctional, "input, target, " KW_LEGACY, l1_loss},
    {"l1_loss", kAten, "input, target, reduction=1", l1_loss},
    {"smooth_l1_loss", kFunctional, "input, target, " KW_LEGACY ", beta=1.0", smooth_l1_loss},
    {"smooth_l1_loss", kAten, "input, target, reduction=1, beta=1.0", smooth_l1_loss},
    {"huber_loss", kFunctional, "input, target, reduction='mean', delta=1.0", huber_loss},
    {"huber_loss", kAten, "input, target, reduction=1, delta=1.0", huber_loss},
    {"kl_div", kFunctional, "input, target, " KW_LEGACY ", log_target=False", kl_div},
    {"kl_div", kTorch | kAten, "input, target, reduction=1, *, log_target=False", kl_div},
    {"binary_cross_entropy", kFunctional, "input, target, weight=None, " KW_LEGACY, binary_cross_entropy},
    {"binary_cross_entropy", kAten, "input, target, weight=None, reduction=1", binary_cross_entropy},
    {"binary_cross_entropy_with_logits", kFunctional, "input, target, weight=None, " KW_LEGACY ", pos_weight=None",
     binary_cross_entropy_with_logits},
    {"binary_cross_entropy_with_logits", kTorch | kAten, "input, target, weight=None, pos_weight=None, reduction=1",
     binary_cross_entropy_with_logits},
    {"soft_margin_loss", kFunctional, "input, target, " KW_LEGACY, soft_margin_loss},
    {"soft_margin_loss", kAten, "input, target, reduction=1", soft_margin_loss},
    {"hinge_embedding_loss", kFunctional, "input, target, margin=1.0, " KW_LEGACY, hinge_embedding_loss},
    {"hinge_embedding_loss", kTorch | kAten, "input, target, margin=1.0, reduction=1", hinge_embedding_loss},
    {"margin_ranking_loss", kFunctional, "input1, input2, target, margin=0, " KW_LEGACY, margin_ranking_loss},
    {"margin_ranking_loss", kTorch | kAten, "input1, input2, target, margin=0.0, reduction=1", margin_ranking_loss},
    {"pairwise_distance", kTorch | kFunctional | kAten, "x1, x2, p=2.0, eps=1e-6, keepdim=False",
     read_pairwise_distance},
    {"triplet_margin_loss", kFunctional,
     "anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, " KW_LEGACY, triplet_margin_loss},
    {"triplet_margin_loss", kTorch | kAten,
     "anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=1", triplet_margin_loss},
    {"cosine_embedding_loss", kFunctional, "input1, input2, target, margin=0, " KW_LEGACY, cosine_embedding_loss},
    {"cosine_embedding_loss", kTorch | kAten, "input1, input2, target, margin=0.0, reduction=1", cosine_embedding_loss},
    {"poisson_nll_loss", kFunctional,
     "input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean'",
     poisson_nll_loss},
    {"poisson_nll_loss", kTorch | kAten, "input, target, log_input, full, eps, reduction", poisson_nll_loss},
    {"gaussian_nll_loss", kFunctional, "input, target, var, full=False, eps=1e-6, reduction='mean'", gaussian_nll_loss},
};
#undef KW_LEGACY

}  // namespace

std::span<const Entry> loss_entries() { return kEntries; }

}  // namespace kw::understand
