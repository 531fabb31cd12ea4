// Losses over classes: negative log likelihood and cross entropy, with ignored targets, class weights, label smoothing
// and targets that are probabilities.
#include <algorithm>

#include "understand/torch/entry.h"
#include "understand/torch/loss.h"
#include "understand/torch/softmax.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;
using ir::Type;

struct ClassTargets {
  Expression index;          // into the classes; 0 where ignored
  Expression counted;        // false where ignored
  std::vector<AxisId> dims;  // of input without its class dimension
};

size_t class_position(const TensorValue& input) { return input.dims.size() == 1 ? 0 : 1; }

Result<ClassTargets> class_targets(Call& call, const TensorValue& input, const TensorValue& target) {
  std::vector<AxisId> dims = input.dims;
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(class_position(input)));
  if (target.dims.size() != dims.size())
    return call.refuse("needs a target of rank " + std::to_string(dims.size()) + ", got shape " +
                       shape_text(call.builder.graph(), target));
  std::vector<AxisId> wanted = dims;
  for (size_t i = 0; i < dims.size(); ++i)
    if ((dims[i] == kUnit) != (target.dims[i] == kUnit))
      return call.refuse("cannot pair a target of shape " + shape_text(call.builder.graph(), target) + " with " +
                         shape_text(call.builder.graph(), input));
  KW_TRY(TensorValue own, rename_dims(call.context, target, wanted, input.dims));
  KW_TRY(TensorValue ignore, call.scalar("ignore_index"));
  Expression t = expression(call, own);
  Expression counted = differs(t, expression(call, ignore));
  return ClassTargets{select(counted, t, t.integer(0)), counted, own.dims};
}

Expression pick(Expression values, Expression index, AxisId axis) {
  return values.make(Op::Gather, {values.node(), index.node()}, ir::AxisList{{axis}});
}

// The weight of each class, over the input's class axis.
Result<std::optional<Expression>> class_weights(Call& call, AxisId classes) {
  KW_TRY(auto weight, call.optional_tensor("weight"));
  if (!weight) return std::optional<Expression>{};
  if (weight->dims.size() != 1) return call.refuse("needs one weight per class");
  KW_TRY(TensorValue own, rename_dims(call.context, *weight, {classes}));
  return std::optional<Expression>(expression(call, own));
}

// -w[t]·log p[t], 0 where ignored; the mean divides by the sum of the weights that count.
Result<Value> nll(Call& call, const TensorValue& log_probabilities, const ClassTargets& targets, Reduction reduction) {
  AxisId classes = log_probabilities.dims[class_position(log_probabilities)];
  if (classes == kUnit) return call.refuse("needs more than one class");
  KW_TRY(auto weights, class_weights(call, classes));
  Type type = type_of(call.builder, log_probabilities);
  Expression loss = -pick(expression(call, log_probabilities), targets.index, classes);
  Expression share = targets.counted.as(opmath(type));
  if (weights) {
    Expression own = pick(*weights, targets.index, classes);
    loss = loss * own;
    share = select(targets.counted, own.as(opmath(type)), 0.0);
  }
  loss = select(targets.counted, loss, 0.0);
  if (reduction == Reduction::None) return Value{TensorValue{loss.node(), targets.dims}};
  std::vector<AxisId> axes = call.builder[loss.node()].axes;
  if (reduction == Reduction::Sum) return Value{TensorValue{loss.reduce(Op::Sum, axes).node(), {}}};
  Expression mean = loss.widened().reduce(Op::Sum, axes) / share.reduce(Op::Sum, axes);
  return Value{TensorValue{mean.as(type).node(), {}}};
}

Result<TensorValue> class_input(Call& call) {
  KW_TRY(TensorValue input, call.tensor("input"));
  if (input.dims.empty()) return call.refuse("needs an input with a class dimension");
  if (!type_of(call.builder, input).floating()) return call.refuse("is defined on floating inputs only");
  return input;
}

Result<Value> nll_loss(Call& call) {
  KW_TRY(TensorValue input, class_input(call));
  KW_TRY(TensorValue target, call.tensor("target"));
  KW_TRY(Reduction reduction, reduction_of(call));
  KW_TRY(ClassTargets targets, class_targets(call, input, target));
  return nll(call, input, targets, reduction);
}

// (1 - s)·nll + s/classes·(the loss of a uniform target); each step rounds.
Result<Value> smoothed(Call& call, const TensorValue& log_probabilities, const ClassTargets& targets,
                       Reduction reduction, Expression smoothing) {
  KW_TRY(Value plain, nll(call, log_probabilities, targets, reduction));
  AxisId classes = log_probabilities.dims[class_position(log_probabilities)];
  KW_TRY(auto weights, class_weights(call, classes));
  Expression log_p = expression(call, log_probabilities);
  if (weights) log_p = log_p * *weights;
  Expression uniform = -log_p.reduce(Op::Sum, {classes});
  uniform = select(targets.counted, uniform, 0.0);
  std::vector<AxisId> axes = call.builder[uniform.node()].axes;
  Type type = type_of(call.builder, log_probabilities);
  if (reduction == Reduction::Sum) uniform = uniform.reduce(Op::Sum, axes);
  if (reduction == Reduction::Mean) {
    Expression share = targets.counted.as(opmath(type));
    if (weights) share = select(targets.counted, pick(*weights, targets.index, classes).as(opmath(type)), 0.0);
    uniform = (uniform.widened().reduce(Op::Sum, axes) / share.reduce(Op::Sum, axes)).as(type);
  }
  const TensorValue& first = *plain.get<TensorValue>();
  Expression count = log_p.size(call.builder.graph().axis(classes).size);
  Expression out = (1.0 - smoothing) * expression(call, first) + uniform * (smoothing / count);
  return Value{TensorValue{out.node(), first.dims}};
}

// Targets that are probabilities: -Σ target·log p over the classes; the mean is over the rest.
Result<Value> soft_targets(Call& call, const TensorValue& input, const TensorValue& log_probabilities,
                           const TensorValue& target, Reduction reduction, std::optional<Expression> smoothing) {
  AxisId classes = input.dims[class_position(input)];
  KW_TRY(Broadcasted common, broadcast_together(call.context, {log_probabilities, target}));
  if (common.dims != log_probabilities.dims)
    return call.refuse("needs probabilities of the input's shape, got " + shape_text(call.builder.graph(), target) +
                       " for " + shape_text(call.builder.graph(), input));
  KW_TRY(auto weights, class_weights(call, classes));
  Expression log_p(call.context, common.nodes[0]), t(call.context, common.nodes[1]);
  if (smoothing) {
    Expression count = t.size(call.builder.graph().axis(classes).size);
    t = t * (1.0 - *smoothing) + *smoothing / count;
  }
  Expression product = log_p * t;
  if (weights) product = product * *weights;
  std::vector<AxisId> dims = input.dims;
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(class_position(input)));
  if (reduction == Reduction::None) return Value{TensorValue{(-product.reduce(Op::Sum, {classes})).node(), dims}};
  Expression total = -product.reduce(Op::Sum, call.builder[product.node()].axes);
  if (reduction == Reduction::Sum) return Value{TensorValue{total.node(), {}}};
  Size count(1);
  for (AxisId axis : dims) count = count * size_of_dim(call.builder.graph(), axis);
  return Value{TensorValue{(total / total.size(count)).node(), {}}};
}

Result<Value> cross_entropy(Call& call) {
  KW_TRY(TensorValue input, class_input(call));
  KW_TRY(TensorValue target, call.tensor("target"));
  KW_TRY(Reduction reduction, reduction_of(call));
  AxisId classes = input.dims[class_position(input)];
  if (classes == kUnit) return call.refuse("needs more than one class");
  Type type = type_of(call.builder, input);
  TensorValue log_p{log_softmax(expression(call, input).widened(), {classes}).as(type).node(), input.dims};
  std::optional<Expression> smoothing;
  auto known = known_number(call.builder.graph(), call["label_smoothing"]);
  if (known != 0.0 || call["label_smoothing"].get<ScalarValue>()) {
    KW_TRY(TensorValue amount, call.scalar("label_smoothing"));
    smoothing = expression(call, amount);
  }
  if (type_of(call.builder, target).floating()) return soft_targets(call, input, log_p, target, reduction, smoothing);
  KW_TRY(ClassTargets targets, class_targets(call, input, target));
  if (smoothing) return smoothed(call, log_p, targets, reduction, *smoothing);
  return nll(call, log_p, targets, reduction);
}

constexpr Entry kEntries[] = {
    {"nll_loss", kFunctional,
     "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'", nll_loss},
    {"nll_loss", kAten, "input, target, weight=None, reduction=1, ignore_index=-100", nll_loss},
    {"nll_loss_nd", kAten, "input, target, weight=None, reduction=1, ignore_index=-100", nll_loss},
    {"nll_loss2d", kAten, "input, target, weight=None, reduction=1, ignore_index=-100", nll_loss},
    {"cross_entropy", kFunctional,
     "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', "
     "label_smoothing=0.0",
     cross_entropy},
    {"cross_entropy_loss", kAten, "input, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0",
     cross_entropy},
};

}  // namespace

std::span<const Entry> class_loss_entries() { return kEntries; }

}  // namespace kw::understand
