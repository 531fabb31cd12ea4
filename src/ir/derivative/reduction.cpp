// Derivatives of reductions and of the contraction.
#include <algorithm>

#include "ir/derivative/adjoint.h"
#include "ir/derivative/combine.h"

namespace kw::ir::vjp {
namespace {

// True at the end of `axis` where a scan that runs in the given direction starts.
NodeId at_start(Adjoint& at, AxisId axis, bool reverse) {
  NodeId start = reverse ? at.b.size_of(at.size(axis) - Size(1)) : at.b.integer(0);
  return at.b.make(Op::Eq, {at.iota(axis), start});
}

}  // namespace

Status sum(Adjoint& at) {
  at.give(0, at.dy, at.axes_of(at.x(0)));
  return {};
}

Status mean(Adjoint& at) {
  Size count(1);
  for (AxisId axis : at.node.as<AxisList>().axes) count = count * at.size(axis);
  at.give(0, at.div(at.dy, at.b.size_of(count)), at.axes_of(at.x(0)));
  return {};
}

// The product of all the others: dy * y / x as in PyTorch where nothing is zero; where one factor is, it alone has a
// derivative, and where several are, none has.
Status prod(Adjoint& at) {
  const Axes& axes = at.node.as<AxisList>().axes;
  NodeId x = at.x(0), is_zero = at.b.make(Op::Eq, {x, at.b.constant(0.0)});
  NodeId zeros = at.b.reduce(Op::Sum, is_zero, axes);
  NodeId of_nonzero = at.b.reduce(Op::Prod, at.select(is_zero, at.b.constant(1.0), x), axes);
  NodeId scaled = at.mul(at.dy, of_nonzero), none = at.b.constant(0.0);
  NodeId others = at.select(at.b.make(Op::Eq, {zeros, at.b.integer(0)}), at.div(scaled, x), none);
  NodeId alone = at.select(at.b.make(Op::Eq, {zeros, at.b.integer(1)}), scaled, none);
  at.give(0, at.select(is_zero, alone, others), at.axes_of(x));
  return {};
}

// PyTorch's amax and amin share the cotangent evenly among equal extrema.
Status reduce_extremum(Adjoint& at) {
  NodeId chosen = at.b.make(Op::Eq, {at.x(0), at.y});
  NodeId count = at.b.reduce(Op::Sum, chosen, at.node.as<AxisList>().axes);
  at.give(0, at.select(chosen, at.div(at.dy, count), at.b.constant(0.0)), at.axes_of(at.x(0)));
  return {};
}

Status logsumexp(Adjoint& at) {
  NodeId share = at.b.make(Op::Exp, {at.sub(at.x(0), at.y)});
  at.give(0, at.mul(at.dy, share), at.axes_of(at.x(0)));
  return {};
}

// y = before(i) ∘ x(i) ∘ after(i) for every i, where before and after combine all the elements on either side: the
// derivative is that of the body, twice. At the ends, where one side is the neutral tuple, it is skipped: the body need
// not be differentiable there (logaddexp at -inf is not).
Status reduce(Adjoint& at) {
  const CombineAttr& attr = at.node.as<CombineAttr>();
  const Combine& combine = *attr.combine;
  size_t k = static_cast<size_t>(combine.arity());
  std::vector<NodeId> x = at.node.args, before, after;
  Axes domain;
  for (NodeId operand : x) domain = unite(domain, at.axes_of(operand));
  for (size_t part = 0; part < k; ++part) {
    before.push_back(at.b.make(Op::Scan, x, CombineAttr{attr.combine, static_cast<int>(part), attr.axis, false, true}));
    after.push_back(at.b.make(Op::Scan, x, CombineAttr{attr.combine, static_cast<int>(part), attr.axis, true, true}));
  }
  std::vector<NodeId> with_before = inline_body(at.b, combine, before, x);
  NodeId first = at_start(at, attr.axis, false), last = at_start(at, attr.axis, true);
  auto unless = [&](NodeId end, NodeId inner, NodeId outer) {
    if (inner == kNoNode && outer == kNoNode) return kNoNode;
    NodeId zero = at.b.constant(0.0);
    return at.select(end, outer == kNoNode ? zero : outer, inner == kNoNode ? zero : inner);
  };

  const std::vector<NodeId>& dy = at.part_cotangents();
  KW_TRY(std::vector<NodeId> inner, body_vjp(at, combine, with_before, after, dy));
  std::vector<NodeId> d_with_before(k);
  for (size_t i = 0; i < k; ++i) d_with_before[i] = unless(last, inner[i], dy[i]);
  KW_TRY(inner, body_vjp(at, combine, before, x, d_with_before));
  for (size_t i = 0; i < k; ++i)
    if (NodeId dx = unless(first, inner[k + i], d_with_before[i]); dx != kNoNode) at.give(i, dx, domain);
  return {};
}

// Each operand's cotangent is the contraction of dy with the other operand over what the operand itself lacks.
Status contract(Adjoint& at) {
  for (size_t i = 0; i < 2; ++i) {
    if (!at.wants(i)) continue;
    NodeId other = at.x(1 - i), dy = at.dy_full();
    Axes own = at.axes_of(at.x(i));
    // An axis that only the other operand had was summed there alone.
    other = at.b.reduce(Op::Sum, other, without(at.axes_of(other), unite(own, at.node.axes)));
    Axes summed = without(at.node.axes, own);
    at.give(i, summed.empty() ? at.mul(dy, other) : at.b.make(Op::Contract, {dy, other}, AxisList{summed}), own);
  }
  return {};
}

}  // namespace kw::ir::vjp
