#include "derivative_case.h"

namespace kw::ir::test {
namespace {

DerivativeCase unary(Op op, Range range = {}) {
  Sketch s(std::string(info(op).name), op);
  AxisId rows = s.axis("rows", 3), cols = s.axis("cols", 4);
  NodeId x = s.x("x", {rows, cols}, range);
  s.out("y", s.make(op, {x}));
  return std::move(s).done();
}

// x[rows, cols] with w[cols]: the broadcast operand's cotangent is summed.
DerivativeCase binary(Op op, Range left = {}, Range right = {}) {
  Sketch s(std::string(info(op).name) + " with a broadcast operand", op);
  AxisId rows = s.axis("rows", 3), cols = s.axis("cols", 4);
  NodeId x = s.x("x", {rows, cols}, left), w = s.x("w", {cols}, right);
  s.out("y", s.make(op, {x, w}));
  return std::move(s).done();
}

DerivativeCase outer(Op op, Range left = {}, Range right = {}) {
  Sketch s(std::string(info(op).name) + " of two vectors on different axes", op);
  AxisId rows = s.axis("rows", 3), cols = s.axis("cols", 4);
  NodeId x = s.x("x", {rows}, left), w = s.x("w", {cols}, right);
  s.out("y", s.make(op, {x, w}));
  return std::move(s).done();
}

DerivativeCase with_number(Op op, double number, bool first, Range range = {}) {
  Sketch s(
      std::string(info(op).name) + (first ? " of a number with x" : " of x with a number ") + std::to_string(number),
      op);
  AxisId rows = s.axis("rows", 3);
  NodeId x = s.x("x", {rows}, range), c = s.b.constant(number);
  s.out("y", first ? s.make(op, {c, x}) : s.make(op, {x, c}));
  return std::move(s).done();
}

DerivativeCase squared() {
  Sketch s("a product of a value with itself", Op::Mul);
  AxisId rows = s.axis("rows", 3);
  NodeId x = s.x("x", {rows});
  s.out("y", s.make(Op::Mul, {x, x}));
  return std::move(s).done();
}

DerivativeCase cast() {
  Sketch s("a cast down and up", Op::Cast);
  AxisId rows = s.axis("rows", 3);
  NodeId x = s.x("x", {rows});
  NodeId narrow = s.b.cast(s.make(Op::Sin, {x}), Type(DType::BF16));
  s.out("y", s.make(Op::Exp, {s.b.cast(narrow, Type(DType::F32))}));
  return std::move(s).done();
}

DerivativeCase select() {
  Sketch s("select between broadcast operands", Op::Select);
  AxisId rows = s.axis("rows", 3), cols = s.axis("cols", 4);
  NodeId x = s.x("x", {rows, cols}), w = s.x("w", {cols}), v = s.x("v", {rows});
  s.out("y", s.make(Op::Select, {s.make(Op::Lt, {x, w}), s.make(Op::Mul, {x, x}), v}));
  return std::move(s).done();
}

DerivativeCase power_at_run_time() {
  Sketch s("a power with both operands tensors", Op::Pow);
  AxisId rows = s.axis("rows", 3), cols = s.axis("cols", 4);
  NodeId x = s.x("x", {rows, cols}, {0.5, 2}), p = s.x("p", {rows}, {-2, 3});
  s.out("y", s.make(Op::Pow, {x, p}));
  return std::move(s).done();
}

DerivativeCase integer_power(int64_t p) {
  Sketch s("the integer power " + std::to_string(p), Op::Pow);
  AxisId rows = s.axis("rows", 3);
  NodeId x = s.x("x", {rows}, {0.5, 2});
  s.out("y", s.make(Op::Pow, {x, s.b.integer(p)}));
  return std::move(s).done();
}

// exp(x)/sum(exp(x)): the sweep regroups it to need the quotient alone.
DerivativeCase softmax() {
  Sketch s("softmax from exp, sum and div", Op::Exp);
  AxisId rows = s.axis("rows", 3), cols = s.axis("cols", 4);
  NodeId x = s.x("x", {rows, cols});
  NodeId max = s.make(Op::StopGradient, {s.b.reduce(Op::ReduceMax, x, {cols})});
  NodeId e = s.make(Op::Exp, {s.make(Op::Sub, {x, max})});
  s.out("y", s.make(Op::Div, {e, s.b.reduce(Op::Sum, e, {cols})}));
  return std::move(s).done();
}

DerivativeCase softmax_by_reciprocal() {
  Sketch s("softmax by a reciprocal", Op::Exp);
  AxisId rows = s.axis("rows", 3), cols = s.axis("cols", 4);
  NodeId x = s.x("x", {rows, cols});
  NodeId e = s.make(Op::Exp, {x});
  NodeId scale = s.make(Op::Div, {s.b.constant(1.0), s.b.reduce(Op::Sum, e, {cols})});
  s.out("y", s.make(Op::Mul, {e, scale}));
  return std::move(s).done();
}

}  // namespace

std::vector<DerivativeCase> pointwise_cases() {
  std::vector<DerivativeCase> out;
  for (Op op : {Op::Neg, Op::Abs, Op::Exp, Op::Exp2, Op::Expm1, Op::Sin, Op::Cos, Op::Atan, Op::Sinh, Op::Cosh,
                Op::Tanh, Op::Asinh, Op::Erf, Op::Erfc, Op::Sigmoid})
    out.push_back(unary(op));
  for (Op op : {Op::Sqrt, Op::Rsqrt, Op::Log, Op::Log2}) out.push_back(unary(op, {0.3, 3}));
  out.push_back(unary(Op::Log1p, {-0.6, 2}));
  out.push_back(unary(Op::Tan, {-1, 1}));
  for (Op op : {Op::Asin, Op::Acos, Op::Atanh, Op::Erfinv}) out.push_back(unary(op, {-0.8, 0.8}));
  out.push_back(unary(Op::Acosh, {1.3, 3}));

  for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Atan2, Op::Max, Op::Min}) {
    out.push_back(binary(op));
    out.push_back(outer(op));
  }
  for (Op op : {Op::Div, Op::Mod}) {
    out.push_back(binary(op, {}, {0.7, 1.6}));
    out.push_back(outer(op, {}, {-1.6, -0.7}));
    out.push_back(with_number(op, 0.7, false));
  }
  out.push_back(with_number(Op::Div, 2.0, true, {0.5, 2}));
  out.push_back(with_number(Op::Max, 0.25, false));
  out.push_back(with_number(Op::Min, 0.25, true));
  out.push_back(with_number(Op::Sub, 1.5, true));
  for (double p : {0.0, 1.0, 2.0, 3.0, 0.5, -1.5}) out.push_back(with_number(Op::Pow, p, false, {0.5, 2}));
  for (int64_t p : {0, 1, 2, 3, -1}) out.push_back(integer_power(p));
  out.push_back(with_number(Op::Pow, 2.0, true));
  out.push_back(power_at_run_time());
  out.push_back(squared());
  out.push_back(cast());
  out.push_back(select());
  out.push_back(softmax());
  out.push_back(softmax_by_reciprocal());
  return out;
}

}  // namespace kw::ir::test
