#include "ir/derivative/adjoint.h"

#include <algorithm>

namespace kw::ir {

Axes unite(const Axes& a, const Axes& b) {
  Axes out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

Axes without(const Axes& a, const Axes& removed) {
  Axes out;
  for (AxisId axis : a)
    if (std::find(removed.begin(), removed.end(), axis) == removed.end()) out.push_back(axis);
  return out;
}

Adjoint::Adjoint(Sweep& sweep, NodeId y)
    : b(sweep.builder_), y(y), node(sweep.builder_[y]), dy(sweep.cotangent(y)), sweep_(sweep) {
  if (node.op == Op::Reduce || node.op == Op::Scan) part_cotangents_ = sweep.cotangents_of_parts(y);
}

bool Adjoint::has_axis(NodeId n, AxisId axis) const {
  const Axes& axes = b[n].axes;
  return std::binary_search(axes.begin(), axes.end(), axis);
}

NodeId Adjoint::summed_to(NodeId contribution, const Axes& domain, const Axes& kept) {
  Axes present, absent;
  for (AxisId axis : without(domain, kept)) (has_axis(contribution, axis) ? present : absent).push_back(axis);
  NodeId sum = b.reduce(Op::Sum, contribution, present);
  if (absent.empty()) return sum;
  Size count(1);
  for (AxisId axis : absent) count = count * size(axis);
  return mul(sum, b.size_of(count));
}

void Adjoint::give(size_t i, NodeId contribution, const Axes& domain) {
  if (!wants(i)) return;
  NodeId operand = x(i);
  NodeId sum = summed_to(contribution, domain, axes_of(operand));
  sweep_.accumulate(operand, b.cast(sum, type_of(operand)));
}

NodeId Adjoint::times_value(NodeId cotangent, NodeId value) {
  const Node& c = b[cotangent];
  if (c.op == Op::Div || c.op == Op::Mul) {
    NodeId factor = c.args[0], scale = c.args[1];
    NodeId scaled = (c.op == Op::Div ? sweep_.quotients_ : sweep_.products_).find(value, scale);
    // In another type the regrouped product would round elsewhere than the forward does.
    if (scaled != kNoNode && type_of(scaled) == c.type && type_of(factor) == c.type) return mul(factor, scaled);
  }
  return mul(cotangent, value);
}

Failure Adjoint::cannot(std::string why) const {
  return bad_input("the derivative of " + std::string(info(node.op).name) + " cannot be taken: " + why, std::nullopt,
                   "stop the gradient in front of it with stop_gradient, or rewrite it");
}

}  // namespace kw::ir
