// What a derivative rule sees: one forward node, its operands and its cotangent, and the means to build contributions.
//
// A cotangent may lack axes of its node: it is constant along those (the derivative of a sum is the bare dy). Pointwise
// rules need not care; a rule that moves axes asks for what it needs with `dy_with` or `dy_full`.
#pragma once

#include <span>
#include <vector>

#include "ir/derivative/sweep.h"

namespace kw::ir {

using Axes = std::vector<AxisId>;

class Adjoint {
 public:
  Adjoint(Sweep& sweep, NodeId y);

  GraphBuilder& b;
  const NodeId y;
  const Node node;  // a copy: making nodes moves the graph's own
  const NodeId dy;

  NodeId x(size_t i) const { return node.args[i]; }
  Axes axes_of(NodeId n) const { return b[n].axes; }
  Type type_of(NodeId n) const { return b[n].type; }
  bool has_axis(NodeId n, AxisId axis) const;
  bool wants(size_t i) const { return sweep_.active(node.args[i]); }
  NodeId dy_with(const Axes& axes) { return b.broadcast(dy, axes); }
  NodeId dy_full() { return b.broadcast(dy, node.axes); }
  // Cotangents by part of a Reduce or Scan; kNoNode where a part has none.
  const std::vector<NodeId>& part_cotangents() const { return part_cotangents_; }
  const std::map<Op, DerivativeRule>& override_rules() const { return sweep_.override_rules_; }

  // Adds to the cotangent of operand i: `contribution` is summed over the axes of `domain` that the operand lacks (an
  // axis of the domain that the contribution lacks counts as constant) and cast to the operand's type.
  void give(size_t i, NodeId contribution, const Axes& domain);
  void give(size_t i, NodeId contribution) { give(i, contribution, node.axes); }
  // The sum alone, where the rule goes on after it: what is constant along an axis is better applied once behind the
  // sum.
  NodeId summed_to(size_t i, NodeId contribution) { return summed_to(contribution, node.axes, axes_of(x(i))); }
  NodeId summed_to(NodeId contribution, const Axes& domain, const Axes& kept);

  // The product of a cotangent with a forward value. c/s times v is c times (v/s) where the forward has v/s already,
  // and likewise c*s: the derivative of softmax then needs nothing but its output.
  NodeId times_value(NodeId cotangent, NodeId value);

  NodeId neg(NodeId a) { return b.make(Op::Neg, {a}); }
  NodeId add(NodeId a, NodeId c) { return b.make(Op::Add, {a, c}); }
  NodeId sub(NodeId a, NodeId c) { return b.make(Op::Sub, {a, c}); }
  NodeId mul(NodeId a, NodeId c) { return b.make(Op::Mul, {a, c}); }
  NodeId div(NodeId a, NodeId c) { return b.make(Op::Div, {a, c}); }
  NodeId square(NodeId a) { return mul(a, a); }
  NodeId select(NodeId condition, NodeId then, NodeId otherwise) {
    return b.make(Op::Select, {condition, then, otherwise});
  }
  NodeId zeros(Type type, const Axes& axes) { return b.broadcast(b.cast(b.constant(0.0), type), axes); }
  NodeId zeros_like(NodeId n) { return zeros(type_of(n), axes_of(n)); }
  NodeId iota(AxisId axis) { return b.make(Op::Iota, {}, AxisList{{axis}}); }
  const Size& size(AxisId axis) const { return b.graph().axis(axis).size; }

  Failure cannot(std::string why) const;

 private:
  Sweep& sweep_;
  std::vector<NodeId> part_cotangents_;
};

// ---- sets of axes, ascending ----
Axes unite(const Axes& a, const Axes& b);
Axes without(const Axes& a, const Axes& removed);

}  // namespace kw::ir
