// Activation functions. PyTorch computes each in fp32 (or wider) and rounds once, except the few that it composes in
// Python from other operations, which round at each of them.
#include <numbers>

#include "understand/torch/entry.h"
#include "understand/torch/formula.h"

namespace kw::understand {
namespace {

using ir::DType;
using ir::Op;
using ir::Type;

// A parameter of the call (negative_slope, alpha) as a number of the formula: a float, also where an int was given.
Result<Expression> real_parameter(Call& call, std::string_view name) {
  KW_TRY(TensorValue operand, call.scalar(name));
  Expression e = expression(call, operand);
  const ir::Node& node = call.builder[operand.node];
  if (node.op == Op::Const) return e.number(node.as<ir::Literal>().number());
  return e;
}
#define KW_PARAMETER(name) KW_TRY(Expression name, real_parameter(call, #name))

Result<Value> silu(Call& call) {
  return rounded_once(call, [](Expression x) { return x * sigmoid(x); });
}

Expression gelu_erf(Expression x) { return x * 0.5 * (1.0 + erf(x * (1.0 / std::numbers::sqrt2))); }
Expression gelu_tanh(Expression x) {
  constexpr double kBeta = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // sqrt(2/pi)
  Expression inner = kBeta * (x + 0.044715 * (x * x * x));
  return 0.5 * x * (1.0 + tanh(inner));
}
Result<Value> gelu(Call& call) {
  KW_TRY(size_t approximate, call.choice("approximate", {"none", "tanh"}));
  return approximate == 0 ? rounded_once(call, gelu_erf) : rounded_once(call, gelu_tanh);
}

// In PyTorch these have no slope at their limits, where clamp (a maximum with a number) has one: hence the selects. A
// NaN is neither below nor above, and stays.
Expression rectified(Expression x, Expression low) { return select(less_equal(x, low), low, x); }
Expression limited(Expression x, Expression low, Expression high) {
  return select(less_equal(high, x), high, rectified(x, low));
}
Result<Value> relu(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  Expression e = expression(call, x);
  return Value{TensorValue{rectified(e, e.integer(0)).node(), x.dims}};
}
Result<Value> relu6(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  Expression e = expression(call, x);
  return Value{TensorValue{limited(e, e.integer(0), e.integer(6)).node(), x.dims}};
}
Result<Value> hardtanh(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_PARAMETER(min_val);
  KW_PARAMETER(max_val);
  return Value{TensorValue{limited(expression(call, x), min_val, max_val).node(), x.dims}};
}

Result<Value> leaky_relu(Call& call) {
  KW_PARAMETER(negative_slope);
  return rounded_once(call, [&](Expression x) { return select(greater(x, 0.0), x, x * negative_slope); });
}

Result<Value> randomized_relu(Call& call) {
  KW_TRY(bool training, call.boolean("training"));
  if (training) return call.refuse("in training mode draws its slopes at random, which is not read");
  KW_PARAMETER(lower);
  KW_PARAMETER(upper);
  Expression slope = (lower + upper) / 2.0;
  return rounded_once(call, [&](Expression x) { return select(greater(x, 0.0), x, x * slope); });
}

// The weight has one element, or one per channel (dimension 1).
Result<Value> prelu(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(TensorValue weight, call.tensor("weight"));
  if (weight.dims.size() > 1) return call.refuse("needs a weight of rank 0 or 1");
  if (!weight.dims.empty() && weight.dims[0] != ir::kUnit && x.dims.size() >= 2)
    weight.dims.insert(weight.dims.end(), x.dims.size() - 2, ir::kUnit);
  return rounded_once(call, {x, weight},
                      [](const std::vector<Expression>& e) { return select(greater(e[0], 0.0), e[0], e[1] * e[0]); });
}

// A branch that is not taken must not overflow: its slope, infinite or NaN, would reach the gradient as 0 * inf.
Expression expm1_below_zero(Expression x) { return expm1(minimum(x, 0.0)); }

Result<Value> elu(Call& call) {
  KW_PARAMETER(alpha);
  KW_TRY(double scale, call.number("scale"));
  KW_TRY(double input_scale, call.number("input_scale"));
  return rounded_once(call, [&](Expression x) {
    Expression negative = expm1_below_zero(input_scale == 1.0 ? x : x * input_scale);
    Expression factor = scale == 1.0 ? alpha : alpha * scale;
    return select(less_equal(x, 0.0), negative * factor, scale == 1.0 ? x : x * scale);
  });
}
Result<Value> celu(Call& call) {
  KW_PARAMETER(alpha);
  return rounded_once(
      call, [&](Expression x) { return select(less_equal(x, 0.0), expm1_below_zero(x * (1.0 / alpha)) * alpha, x); });
}
Result<Value> selu(Call& call) {
  return rounded_once(call, [](Expression x) {
    constexpr double kAlpha = 1.6732632423543772848170429916717, kScale = 1.0507009873554804934193349852946;
    return select(less_equal(x, 0.0), expm1_below_zero(x) * (kAlpha * kScale), x * kScale);
  });
}

Result<Value> softplus(Call& call) {
  KW_TRY(double beta, call.number("beta"));
  KW_PARAMETER(threshold);
  return rounded_once(call, [&](Expression x) {
    Expression scaled = beta == 1.0 ? x : x * beta;
    Expression soft = log1p(exponential(minimum(scaled, threshold)));
    return select(greater(scaled, threshold), x, beta == 1.0 ? soft : soft / beta);
  });
}

Result<Value> mish(Call& call) {
  // From 20 on the hyperbolic tangent is 1 in every type, and the exponential may grow no further.
  return rounded_once(call, [](Expression x) { return x * tanh(log1p(exponential(minimum(x, 20.0)))); });
}

Expression clamped_shift(Expression x) { return limited(x + 3.0, x.number(0.0), x.number(6.0)); }
Result<Value> hardswish(Call& call) {
  return rounded_once(call, [](Expression x) { return x * clamped_shift(x) / 6.0; });
}
Result<Value> hardsigmoid(Call& call) {
  return rounded_once(call, [](Expression x) { return clamped_shift(x) / 6.0; });
}

Result<Value> logsigmoid(Call& call) { return rounded_once(call, log_sigmoid); }

// Composed in Python: each step rounds.
Result<Value> softsign(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  Expression e = expression(call, x);
  return Value{TensorValue{(e / (absolute(e) + e.integer(1))).node(), x.dims}};
}
Result<Value> tanhshrink(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  Expression e = expression(call, x);
  return Value{TensorValue{(e - tanh(e)).node(), x.dims}};
}

Result<Value> softshrink(Call& call) {
  KW_PARAMETER(lambd);
  return rounded_once(call, [&](Expression x) {
    return select(greater(x, lambd), x - lambd, select(less(x, -lambd), x + lambd, x * 0.0));
  });
}
// The limit is compared in the tensor's own type.
Result<Value> hardshrink(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(TensorValue lambd, call.scalar("lambd"));
  Expression e = expression(call, x);
  Expression limit(call.context, rounded_operand_in(call.builder, lambd, e.type()));
  return Value{TensorValue{select(less_equal(-limit, e) && less_equal(e, limit), 0.0, e).node(), x.dims}};
}
Result<Value> threshold(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(TensorValue limit_operand, call.scalar("threshold"));
  KW_PARAMETER(value);
  Expression e = expression(call, x);
  Expression limit(call.context, rounded_operand_in(call.builder, limit_operand, e.type()));
  return Value{TensorValue{select(less_equal(e, limit), value, e).node(), x.dims}};
}

constexpr unsigned kActivation = kFunctional | kAten;
constexpr Entry kEntries[] = {
    {"silu", kActivation, "input, inplace=False", silu},
    {"gelu", kActivation, "input, approximate='none'", gelu},
    {"relu", kTensor | kFunctional, "input, inplace=False", relu},
    {"relu6", kActivation, "input, inplace=False", relu6},
    {"hardtanh", kActivation, "input, min_val=-1.0, max_val=1.0, inplace=False", hardtanh},
    {"leaky_relu", kActivation, "input, negative_slope=0.01, inplace=False", leaky_relu},
    {"rrelu", kTorch | kActivation, "input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False",
     randomized_relu},
    {"prelu", kTensor | kFunctional, "input, weight", prelu},
    {"elu", kAten, "input, alpha=1.0, scale=1.0, input_scale=1.0", elu},
    {"elu", kFunctional, "input, alpha=1.0, inplace=False, *, scale=1.0, input_scale=1.0", elu},
    {"celu", kTorch | kActivation, "input, alpha=1.0, inplace=False", celu},
    {"selu", kTorch | kActivation, "input, inplace=False", selu},
    {"softplus", kActivation, "input, beta=1.0, threshold=20.0", softplus},
    {"mish", kActivation, "input, inplace=False", mish},
    {"hardswish", kActivation, "input, inplace=False", hardswish},
    {"hardsigmoid", kActivation, "input, inplace=False", hardsigmoid},
    {"logsigmoid", kFunctional, "input", logsigmoid},
    {"log_sigmoid", kAten, "input", logsigmoid},
    {"softsign", kFunctional, "input", softsign},
    {"tanhshrink", kFunctional, "input", tanhshrink},
    {"softshrink", kActivation, "input, lambd=0.5", softshrink},
    {"hardshrink", kTensor | kFunctional, "input, lambd=0.5", hardshrink},
    {"threshold", kTorch | kActivation, "input, threshold, value, inplace=False", threshold},
};

}  // namespace

std::span<const Entry> activation_entries() { return kEntries; }

}  // namespace kw::understand
