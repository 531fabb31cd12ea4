// Derivatives of reductions and of the contraction.
#include <algorithm>

#include "ir/derivative/adjoint.h"
#include "ir/derivative/combine.h"

namespace kw::ir::vjp {
namespace {

// Cotangent of p given that of prod(p, axis): the product of all the others, which exists where some are zero too.
NodeId prod_over_one_axis(Adjoint& at, NodeId cotangent, NodeId p, AxisId axis) {
  NodeId before = at.b.make(Op::CumProd, {p}, ScanAttr{axis, false, true});
  NodeId after = at.b.make(Op::CumProd, {p}, ScanAttr{axis, true, true});
  return at.mul(cotangent, at.mul(before, after));
}

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

Status prod(Adjoint& at) {
  const Axes& axes = at.node.as<AxisList>().axes;
  std::vector<NodeId> partial{at.x(0)};  // partial[i]: the product over the first i axes
  for (size_t i = 0; i + 1 < axes.size(); ++i) partial.push_back(at.b.reduce(Op::Prod, partial.back(), {axes[i]}));
  NodeId cotangent = at.dy;
  for (size_t i = axes.size(); i-- > 0;) cotangent = prod_over_one_axis(at, cotangent, partial[i], axes[i]);
  at.give(0, cotangent, at.axes_of(at.x(0)));
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
