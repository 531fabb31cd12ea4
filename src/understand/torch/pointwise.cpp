// Arithmetic and functions of one or two numbers, element by element.
#include <cmath>
#include <numbers>

#include "understand/torch/entry.h"
#include "understand/torch/formula.h"

namespace kw::understand {
namespace {

using ir::NodeId;
using ir::Op;
using ir::Type;

// A function on the reals: integers are read as f32.
template <Op op>
Result<Value> function(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  Expression e = expression(call, x).as(floating_type(type_of(call.builder, x)));
  return Value{TensorValue{e.apply(op).node(), x.dims}};
}

// A function within any number type.
template <Op op>
Result<Value> same_type(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(NodeId node, call.builder.try_make(op, {x.node}));
  return Value{TensorValue{node, x.dims}};
}

// floor, ceil, round, trunc leave integers as they are.
template <Op op>
Result<Value> rounding(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  if (type_of(call.builder, x).integer()) return Value{TensorValue{x.node, x.dims}};
  return same_type<op>(call);
}

template <Op op, Numbers numbers = Numbers::AsTheyAre>
Result<Value> binary(Call& call) {
  KW_TRY(auto operands, operands_of(call, {"input", "other"}));
  KW_TRY(TensorValue out, elementwise(call.context, op, std::move(operands), numbers));
  return Value{out};
}

Result<Value> identity(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  return Value{x};
}

bool both_bool(Call& call, const std::vector<TensorValue>& operands) {
  for (const TensorValue& operand : operands)
    if (!type_of(call.builder, operand).boolean()) return false;
  return true;
}

// `other` times alpha takes part unrounded.
template <Op op>
Result<Value> add_scaled(Call& call) {
  KW_TRY(auto operands, operands_of(call, {"input", "other"}));
  if (both_bool(call, operands)) {
    if (op == Op::Sub) return call.refuse("is not defined on two bool tensors", "use ^ or logical_xor");
    KW_TRY(TensorValue out, elementwise(call.context, Op::Or, std::move(operands)));
    return Value{out};
  }
  auto alpha = known_number(call.builder.graph(), call["alpha"]);
  if (!call["alpha"].get<ScalarValue>() && alpha == 1.0) {
    KW_TRY(TensorValue out, elementwise(call.context, op, std::move(operands)));
    return Value{out};
  }
  KW_TRY(TensorValue factor, call.scalar("alpha"));
  return rounded_once(call, std::move(operands), [&](const std::vector<Expression>& x) {
    return x[0].apply(op, x[1] * expression(call, factor));
  });
}

Result<Value> reversed_subtract(Call& call) {
  KW_TRY(auto operands, operands_of(call, {"other", "input"}));
  KW_TRY(double alpha, call.number("alpha"));
  if (alpha != 1.0) return call.refuse("is read with alpha=1 only");
  KW_TRY(TensorValue out, elementwise(call.context, Op::Sub, std::move(operands)));
  return Value{out};
}

Result<Value> multiply(Call& call) {
  KW_TRY(auto operands, operands_of(call, {"input", "other"}));
  Op op = both_bool(call, operands) ? Op::And : Op::Mul;
  KW_TRY(TensorValue out, elementwise(call.context, op, std::move(operands)));
  return Value{out};
}

Result<Value> divide(Call& call) {
  if (!call.given("rounding_mode")) return binary<Op::Div>(call);
  KW_TRY(size_t mode, call.choice("rounding_mode", {"floor", "trunc"}));
  if (mode == 0) return binary<Op::FloorDiv>(call);
  KW_TRY(auto operands, operands_of(call, {"input", "other"}));
  KW_TRY(Type type, result_type(call.builder, operands));
  if (!type.floating()) return call.refuse("truncates floating tensors only");
  return rounded_once(call, std::move(operands),
                      [](const std::vector<Expression>& x) { return (x[0] / x[1]).apply(Op::Trunc); });
}

Result<Value> truncated_remainder(Call& call) {
  KW_TRY(auto operands, operands_of(call, {"input", "other"}));
  KW_TRY(Type type, result_type(call.builder, operands));
  if (!type.floating()) return call.refuse("is read on floating tensors only", "use remainder");
  return rounded_once(call, std::move(operands),
                      [](const std::vector<Expression>& x) { return x[0] - (x[0] / x[1]).apply(Op::Trunc) * x[1]; });
}

// PyTorch multiplies squares and cubes out, a cube rounding in between. It rounds any other exponent, or the base if
// that is the number, to the tensor's type.
Result<Value> raise(Call& call) {
  KW_TRY(auto operands, operands_of(call, {"input", "exponent"}));
  const ir::Node& exponent = call.builder[operands[1].node];
  double power = exponent.op == Op::Const ? exponent.as<ir::Literal>().number() : 0.0;
  bool multiplied = power == 2.0 || power == 3.0;
  if (multiplied && !is_weak(call.builder, operands[0])) {
    KW_TRY(Type type, result_type(call.builder, operands));
    Expression x(call.context, operand_in(call.builder, operands[0], type));
    if (!type.boolean()) return Value{TensorValue{(power == 2.0 ? x * x : x * x * x).node(), operands[0].dims}};
  }
  KW_TRY(TensorValue out, elementwise(call.context, Op::Pow, std::move(operands), Numbers::Rounded));
  return Value{out};
}

Result<Value> squared(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  return Value{TensorValue{square(expression(call, x)).node(), x.dims}};
}

Result<Value> reciprocal(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  Expression e = expression(call, x).as(floating_type(type_of(call.builder, x)));
  return Value{TensorValue{(1.0 / e).node(), x.dims}};
}

Result<Value> log10(Call& call) {
  return rounded_once(call, [](Expression x) { return logarithm(x) * (1.0 / std::numbers::ln10); });
}
Result<Value> fractional_part(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  Expression e = expression(call, x);
  return Value{TensorValue{(e - e.apply(Op::Trunc)).node(), x.dims}};
}
Result<Value> to_radians(Call& call) {
  return rounded_once(call, [](Expression x) { return x * (std::numbers::pi / 180); });
}
Result<Value> to_degrees(Call& call) {
  return rounded_once(call, [](Expression x) { return x * (180 / std::numbers::pi); });
}
Result<Value> cardinal_sine(Call& call) {
  return rounded_once(call, [](Expression x) {
    Expression at_zero = equals(x, 0.0);
    Expression y = select(at_zero, 1.0, x * std::numbers::pi);  // never 0, so that no slope is 0/0
    return select(at_zero, 1.0, y.apply(Op::Sin) / y);
  });
}
Result<Value> logit(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  Type type = floating_type(type_of(call.builder, x));
  Expression p = expression(call, x).as(type);  // each step rounds
  if (call.given("eps")) {
    KW_TRY(TensorValue eps, call.scalar("eps"));
    Expression low = expression(call, eps);
    p = minimum(maximum(p, low), 1.0 - low);
  }
  return Value{TensorValue{logarithm(p / (1.0 - p)).node(), x.dims}};
}

template <class Formula>
Result<Value> pair_formula(Call& call, std::initializer_list<std::string_view> names, Formula formula) {
  KW_TRY(auto operands, operands_of(call, names));
  return rounded_once(call, std::move(operands), [&](const std::vector<Expression>& x) { return formula(x); });
}

Result<Value> hypotenuse(Call& call) {
  return pair_formula(call, {"input", "other"}, [](const auto& x) { return square_root(x[0] * x[0] + x[1] * x[1]); });
}
Result<Value> log_add_exp(Call& call) {
  return pair_formula(call, {"input", "other"}, [](const auto& x) {
    Expression apart = select(equals(x[0], x[1]), 0.0, x[0] - x[1]);  // two equal infinities are not apart either
    return maximum(x[0], x[1]) + log1p(exponential(-absolute(apart)));
  });
}
Result<Value> x_log_y(Call& call) {  // each step rounds
  KW_TRY(auto operands, operands_of(call, {"input", "other"}));
  KW_TRY(Type type, result_type(call.builder, operands));
  type = floating_type(type);
  KW_TRY(Broadcasted common, broadcast_together(call.context, operands));
  Expression x = Expression(call.context, common.nodes[0]).as(type),
             y = Expression(call.context, common.nodes[1]).as(type);
  return Value{TensorValue{select(equals(x, 0.0), 0.0, x * logarithm(y)).node(), common.dims}};
}
Result<Value> interpolate(Call& call) {
  return pair_formula(call, {"input", "end", "weight"}, [](const auto& x) { return x[0] + x[2] * (x[1] - x[0]); });
}

template <Op op>
Result<Value> add_combined(Call& call) {  // addcmul, addcdiv
  KW_TRY(TensorValue factor, call.scalar("value"));
  auto known = known_number(call.builder.graph(), call["value"]);
  bool plain = known == 1.0 && !call["value"].get<ScalarValue>();
  return pair_formula(call, {"input", "tensor1", "tensor2"}, [&](const auto& x) {
    Expression product = x[1].apply(op, x[2]);
    return x[0] + (plain ? product : expression(call, factor) * product);
  });
}

// Limits need no rounding of their own: the result is rounded, and rounding keeps order. A limit that is a tensor
// leaves the cotangent of an equal element to the input, where a maximum of two tensors would halve it; the maximum
// behind it is for NaN.
Result<TensorValue> limited(Call& call, Op op, const TensorValue& x, const TensorValue& limit) {
  if (is_weak(call.builder, limit)) return elementwise(call.context, op, {x, limit});
  KW_TRY(Type type, result_type(call.builder, {x, limit}));
  KW_TRY(Broadcasted common, broadcast_together(call.context, {x, limit}));
  Expression a(call.context, operand_in(call.builder, {common.nodes[0], x.dims}, type));
  Expression b(call.context, operand_in(call.builder, {common.nodes[1], limit.dims}, type));
  Expression within = op == Op::Max ? less_equal(b, a) : less_equal(a, b);
  return TensorValue{select(within, a, a.apply(op, b)).node(), common.dims};
}

Result<Value> clamp(Call& call) {
  KW_TRY(TensorValue out, call.tensor("input"));
  if (!call.given("min") && !call.given("max")) return call.refuse("needs 'min' or 'max'");
  for (auto [limit, op] : {std::pair<std::string_view, Op>{"min", Op::Max}, {"max", Op::Min}}) {
    if (!call.given(limit)) continue;
    auto bound = as_operand(call.builder, call[limit]);
    if (!bound) return call.wrong(limit, "a number or a tensor");
    KW_TRY(out, limited(call, op, out, *bound));
  }
  return Value{out};
}

template <Op op>
Result<Value> clamp_one_side(Call& call) {
  KW_TRY(auto operands, operands_of(call, {"input", op == Op::Max ? "min" : "max"}));
  KW_TRY(TensorValue out, limited(call, op, operands[0], operands[1]));
  return Value{out};
}

Result<Value> replace_non_finite(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  Type type = type_of(call.builder, x);
  if (!type.floating()) return Value{TensorValue{x.node, x.dims}};
  Expression e = expression(call, x);
  KW_TRY(TensorValue nan, call.scalar("nan"));
  Expression out = select(differs(e, e), expression(call, nan), e);
  for (auto [name, infinity] : {std::pair<std::string_view, double>{"posinf", HUGE_VAL}, {"neginf", -HUGE_VAL}}) {
    if (!call.given(name)) {
      if (!type.concrete()) return call.refuse("needs '" + std::string(name) + "' where the type is not fixed");
      double limit = ir::info(type.floor()).max_finite;
      out = select(equals(out, infinity), std::copysign(limit, infinity), out);
      continue;
    }
    KW_TRY(TensorValue limit, call.scalar(name));
    out = select(equals(out, infinity), expression(call, limit), out);
  }
  return Value{TensorValue{out.as(type).node(), x.dims}};
}

constexpr unsigned kTensorAndSpecial = kTensor | kSpecial;

constexpr Entry kEntries[] = {
    {"sqrt", kTensor, "input", function<Op::Sqrt>},
    {"rsqrt", kTensor, "input", function<Op::Rsqrt>},
    {"exp", kTensor, "input", function<Op::Exp>},
    {"exp2", kTensorAndSpecial, "input", function<Op::Exp2>},
    {"expm1", kTensorAndSpecial, "input", function<Op::Expm1>},
    {"log", kTensor, "input", function<Op::Log>},
    {"log2", kTensor, "input", function<Op::Log2>},
    {"log10", kTensor, "input", log10},
    {"log1p", kTensorAndSpecial, "input", function<Op::Log1p>},
    {"sin", kTensor, "input", function<Op::Sin>},
    {"cos", kTensor, "input", function<Op::Cos>},
    {"tan", kTensor, "input", function<Op::Tan>},
    {"asin", kTensor, "input", function<Op::Asin>},
    {"arcsin", kTensor, "input", function<Op::Asin>},
    {"acos", kTensor, "input", function<Op::Acos>},
    {"arccos", kTensor, "input", function<Op::Acos>},
    {"atan", kTensor, "input", function<Op::Atan>},
    {"arctan", kTensor, "input", function<Op::Atan>},
    {"sinh", kTensor, "input", function<Op::Sinh>},
    {"cosh", kTensor, "input", function<Op::Cosh>},
    {"tanh", kTensor | kFunctional, "input", function<Op::Tanh>},
    {"asinh", kTensor, "input", function<Op::Asinh>},
    {"acosh", kTensor, "input", function<Op::Acosh>},
    {"atanh", kTensor, "input", function<Op::Atanh>},
    {"erf", kTensorAndSpecial, "input", function<Op::Erf>},
    {"erfc", kTensorAndSpecial, "input", function<Op::Erfc>},
    {"erfinv", kTensorAndSpecial, "input", function<Op::Erfinv>},
    {"sigmoid", kTensor | kFunctional, "input", function<Op::Sigmoid>},
    {"expit", kSpecial, "input", function<Op::Sigmoid>},
    {"neg", kTensor, "input", same_type<Op::Neg>},
    {"negative", kTensor, "input", same_type<Op::Neg>},
    {"positive", kTensor, "input", identity},
    {"abs", kTensor, "input", same_type<Op::Abs>},
    {"absolute", kTensor, "input", same_type<Op::Abs>},
    {"sign", kTensor, "input", same_type<Op::Sign>},
    {"sgn", kTensor, "input", same_type<Op::Sign>},
    {"floor", kTensor, "input", rounding<Op::Floor>},
    {"ceil", kTensor, "input", rounding<Op::Ceil>},
    {"round", kTensor, "input", rounding<Op::Round>},
    {"trunc", kTensor, "input", rounding<Op::Trunc>},
    {"fix", kTensor, "input", rounding<Op::Trunc>},
    {"frac", kTensor, "input", fractional_part},
    {"square", kTensor, "input", squared},
    {"reciprocal", kTensor, "input", reciprocal},
    {"deg2rad", kTensor, "input", to_radians},
    {"rad2deg", kTensor, "input", to_degrees},
    {"sinc", kTensorAndSpecial, "input", cardinal_sine},
    {"logit", kTensorAndSpecial, "input, eps=None", logit},
    {"bitwise_not", kTensor, "input", same_type<Op::Not>},
    {"add", kTensor, "input, other, *, alpha=1", add_scaled<Op::Add>},
    {"sub", kTensor, "input, other, *, alpha=1", add_scaled<Op::Sub>},
    {"subtract", kTensor, "input, other, *, alpha=1", add_scaled<Op::Sub>},
    {"rsub", kTorch | kAten, "input, other, alpha=1", reversed_subtract},
    {"mul", kTensor, "input, other", multiply},
    {"multiply", kTensor, "input, other", multiply},
    {"div", kTensor, "input, other, *, rounding_mode=None", divide},
    {"divide", kTensor, "input, other, *, rounding_mode=None", divide},
    {"true_divide", kTensor, "input, other", binary<Op::Div>},
    {"floor_divide", kTensor, "input, other", binary<Op::FloorDiv>},
    {"remainder", kTensor, "input, other", binary<Op::Mod>},
    {"fmod", kTensor, "input, other", truncated_remainder},
    {"pow", kTensor, "input, exponent", raise},
    {"maximum", kTensor, "input, other", binary<Op::Max>},
    {"minimum", kTensor, "input, other", binary<Op::Min>},
    {"atan2", kTensor, "input, other", binary<Op::Atan2>},
    {"arctan2", kTensor, "input, other", binary<Op::Atan2>},
    {"hypot", kTensor, "input, other", hypotenuse},
    {"logaddexp", kTensor, "input, other", log_add_exp},
    {"xlogy", kTensorAndSpecial, "input, other", x_log_y},
    {"lerp", kTensor, "input, end, weight", interpolate},
    {"addcmul", kTensor, "input, tensor1, tensor2, *, value=1", add_combined<Op::Mul>},
    {"addcdiv", kTensor, "input, tensor1, tensor2, *, value=1", add_combined<Op::Div>},
    {"bitwise_and", kTensor, "input, other", binary<Op::And>},
    {"bitwise_or", kTensor, "input, other", binary<Op::Or>},
    {"bitwise_xor", kTensor, "input, other", binary<Op::Xor>},
    {"bitwise_left_shift", kTensor, "input, other", binary<Op::Shl>},
    {"bitwise_right_shift", kTensor, "input, other", binary<Op::Shr>},
    {"__and__", kAten, "input, other", binary<Op::And>},
    {"__or__", kAten, "input, other", binary<Op::Or>},
    {"__xor__", kAten, "input, other", binary<Op::Xor>},
    {"__lshift__", kAten, "input, other", binary<Op::Shl>},
    {"__rshift__", kAten, "input, other", binary<Op::Shr>},
    {"clamp", kTensor, "input, min=None, max=None", clamp},
    {"clip", kTensor, "input, min=None, max=None", clamp},
    {"clamp_min", kTensor, "input, min", clamp_one_side<Op::Max>},
    {"clamp_max", kTensor, "input, max", clamp_one_side<Op::Min>},
    {"nan_to_num", kTensor, "input, nan=0.0, posinf=None, neginf=None", replace_non_finite},
};

}  // namespace

std::span<const Entry> pointwise_entries() { return kEntries; }

}  // namespace kw::understand
