// Nodes of a graph written as formulas: `x * sigmoid(x)`. The operands' axes must already fit (promotion.h). An element
// type that an op of the formula is not defined on is the user's error: the context keeps the first, and call_torch
// answers with it.
#pragma once

#include <algorithm>
#include <vector>

#include "understand/torch/ops.h"

namespace kw::understand {

class Expression {
 public:
  Expression(TorchContext& context, ir::NodeId node) : context_(&context), node_(node) {}
  ir::NodeId node() const { return node_; }
  ir::Type type() const { return builder()[node_].type; }
  TorchContext& context() const { return *context_; }
  ir::GraphBuilder& builder() const { return context_->builder; }

  Expression apply(ir::Op op, ir::Attr attr = {}) const { return make(op, {node_}, std::move(attr)); }
  Expression apply(ir::Op op, Expression right) const { return make(op, {node_, right.node_}); }
  Expression number(double value) const { return {*context_, builder().constant(value)}; }
  Expression integer(int64_t value) const { return {*context_, builder().integer(value)}; }
  Expression size(const ir::Size& value) const { return {*context_, builder().size_of(value)}; }
  Expression as(ir::Type type) const { return {*context_, builder().cast(node_, type)}; }
  Expression widened() const { return as(opmath(type())); }  // to the type that PyTorch computes in
  Expression reduce(ir::Op op, std::vector<ir::AxisId> axes) const {
    if (axes.empty()) return *this;
    std::sort(axes.begin(), axes.end());
    ir::NodeId whole = builder().broadcast(node_, axes);
    return make(op, {whole}, ir::AxisList{std::move(axes)});
  }
  Expression make(ir::Op op, std::vector<ir::NodeId> args, ir::Attr attr = {}) const {
    auto made = builder().try_make(op, std::move(args), std::move(attr));
    if (!made && !context_->broken_formula) context_->broken_formula = std::move(made).error();
    return made ? Expression(*context_, *made) : *this;
  }

 private:
  TorchContext* context_;
  ir::NodeId node_;
};

#define KW_BINARY(name, op)                                                                   \
  inline Expression name(Expression a, Expression b) { return a.apply(ir::Op::op, b); }       \
  inline Expression name(Expression a, double b) { return a.apply(ir::Op::op, a.number(b)); } \
  inline Expression name(double a, Expression b) { return b.number(a).apply(ir::Op::op, b); }
KW_BINARY(operator+, Add)
KW_BINARY(operator-, Sub)
KW_BINARY(operator*, Mul)
KW_BINARY(operator/, Div)
KW_BINARY(maximum, Max)
KW_BINARY(minimum, Min)
KW_BINARY(power, Pow)
KW_BINARY(less, Lt)
KW_BINARY(less_equal, Le)
KW_BINARY(equals, Eq)
KW_BINARY(differs, Ne)
#undef KW_BINARY

#define KW_UNARY(name, op) \
  inline Expression name(Expression x) { return x.apply(ir::Op::op); }
KW_UNARY(operator-, Neg)
KW_UNARY(absolute, Abs)
KW_UNARY(square_root, Sqrt)
KW_UNARY(reciprocal_root, Rsqrt)
KW_UNARY(exponential, Exp)
KW_UNARY(expm1, Expm1)
KW_UNARY(logarithm, Log)
KW_UNARY(log1p, Log1p)
KW_UNARY(tanh, Tanh)
KW_UNARY(erf, Erf)
KW_UNARY(sigmoid, Sigmoid)
KW_UNARY(sign, Sign)
KW_UNARY(stop_gradient, StopGradient)
KW_UNARY(operator!, Not)
#undef KW_UNARY

inline Expression operator&&(Expression a, Expression b) { return a.apply(ir::Op::And, b); }
inline Expression operator||(Expression a, Expression b) { return a.apply(ir::Op::Or, b); }
inline Expression greater(Expression a, Expression b) { return less(b, a); }
inline Expression greater(Expression a, double b) { return less(b, a); }
inline Expression select(Expression condition, Expression then, Expression otherwise) {
  return then.make(ir::Op::Select, {condition.node(), then.node(), otherwise.node()});
}
inline Expression select(Expression condition, Expression then, double otherwise) {
  return select(condition, then, then.number(otherwise));
}
inline Expression select(Expression condition, double then, Expression otherwise) {
  return select(condition, otherwise.number(then), otherwise);
}
inline Expression square(Expression x) { return x * x; }

}  // namespace kw::understand
