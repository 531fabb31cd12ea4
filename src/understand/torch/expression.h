// Nodes of a graph written as formulas: `x * sigmoid(x)`. The operands' axes and types must already fit (promotion.h);
// what does not is a bug of the operation that writes the formula.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace kw::understand {

class Expression {
 public:
  Expression(ir::GraphBuilder& builder, ir::NodeId node) : builder_(&builder), node_(node) {}
  ir::NodeId node() const { return node_; }
  ir::Type type() const { return (*builder_)[node_].type; }
  ir::GraphBuilder& builder() const { return *builder_; }

  Expression apply(ir::Op op) const { return {*builder_, builder_->make(op, {node_})}; }
  Expression apply(ir::Op op, Expression right) const { return {*builder_, builder_->make(op, {node_, right.node_})}; }
  Expression number(double value) const { return {*builder_, builder_->constant(value)}; }
  Expression integer(int64_t value) const { return {*builder_, builder_->integer(value)}; }
  Expression size(const ir::Size& value) const { return {*builder_, builder_->size_of(value)}; }
  Expression as(ir::Type type) const { return {*builder_, builder_->cast(node_, type)}; }
  Expression widened() const { return as(opmath(type())); }  // to the type that PyTorch computes in
  Expression reduce(ir::Op op, std::vector<ir::AxisId> axes) const {
    return {*builder_, builder_->reduce(op, node_, std::move(axes))};
  }

 private:
  ir::GraphBuilder* builder_;
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
  ir::GraphBuilder& b = condition.builder();
  return {b, b.make(ir::Op::Select, {condition.node(), then.node(), otherwise.node()})};
}
inline Expression select(Expression condition, Expression then, double otherwise) {
  return select(condition, then, then.number(otherwise));
}
inline Expression select(Expression condition, double then, Expression otherwise) {
  return select(condition, otherwise.number(then), otherwise);
}
inline Expression square(Expression x) { return x * x; }

}  // namespace kw::understand
