// Derivatives of indexed access, segments and order: each moves the cotangent along the same indices the other way.
#include <algorithm>

#include "ir/derivative/adjoint.h"

namespace kw::ir::vjp {
namespace {

NodeId gather_along(Adjoint& at, NodeId data, NodeId index, AxisId axis) {
  return at.b.make(Op::Gather, {data, index}, AxisList{{axis}});
}

// dy at `index` of a tensor of zeros that is shaped like operand 0.
NodeId scattered(Adjoint& at, NodeId index, AxisId axis) {
  return at.b.make(Op::ScatterAdd, {at.zeros_like(at.x(0)), index, at.dy_full()}, AxisList{{axis}});
}

}  // namespace

Status gather(Adjoint& at) {
  at.give(0, scattered(at, at.x(1), at.node.as<AxisList>().axes[0]), at.axes_of(at.x(0)));
  return {};
}

Status scatter_add(Adjoint& at) {
  at.give(0, at.dy);
  if (at.wants(2)) {
    NodeId read = gather_along(at, at.dy_full(), at.x(1), at.node.as<AxisList>().axes[0]);
    at.give(2, read, at.axes_of(read));
  }
  return {};
}

// Of several values for one place only the last is seen. Which one that is, a second scatter of each value's own number
// tells: the number that is read back is the winner's.
Status scatter_set(Adjoint& at) {
  AxisId axis = at.node.as<AxisList>().axes[0];
  NodeId index = at.x(1), dy = at.dy_full();
  if (at.wants(0)) at.give(0, at.b.make(Op::ScatterSet, {dy, index, at.b.constant(0.0)}, AxisList{{axis}}));
  if (!at.wants(2)) return {};
  Axes rest = without(at.axes_of(at.x(0)), {axis});
  Axes numbered = without(at.axes_of(index), rest);  // the others are a batch
  Axes batch = without(at.axes_of(index), numbered);
  NodeId number = at.b.cast(at.b.integer(0), Type(DType::I64));
  for (AxisId a : numbered) number = at.add(at.mul(number, at.b.size_of(at.size(a))), at.iota(a));
  NodeId nobody = at.b.broadcast(at.b.cast(at.b.integer(-1), Type(DType::I64)), unite(batch, {axis}));
  NodeId owner = at.b.make(Op::ScatterSet, {nobody, index, number}, AxisList{{axis}});
  NodeId wins = at.b.make(Op::Eq, {gather_along(at, owner, index, axis), number});
  NodeId read = at.select(wins, gather_along(at, dy, index, axis), at.b.constant(0.0));
  at.give(2, read, at.axes_of(read));
  return {};
}

Status segment_sum(Adjoint& at) {
  const SegmentAttr& attr = at.node.as<SegmentAttr>();
  NodeId segment = at.b.make(Op::SegmentIndex, {at.x(1)}, attr);
  NodeId read = gather_along(at, at.dy_full(), segment, attr.segments);
  at.give(0, read, at.axes_of(read));
  return {};
}

// Equal extrema of a run share its cotangent evenly, as PyTorch's segment_reduce does.
Status segment_extremum(Adjoint& at) {
  const SegmentAttr& attr = at.node.as<SegmentAttr>();
  NodeId segment = at.b.make(Op::SegmentIndex, {at.x(1)}, attr);
  NodeId chosen = at.b.make(Op::Eq, {at.x(0), gather_along(at, at.y, segment, attr.segments)});
  NodeId count = at.b.make(Op::SegmentSum, {at.b.cast(chosen, at.node.type), at.x(1)}, attr);
  NodeId share = gather_along(at, at.div(at.dy_full(), count), segment, attr.segments);
  NodeId read = at.select(chosen, share, at.b.constant(0.0));
  at.give(0, read, at.axes_of(read));
  return {};
}

Status sort(Adjoint& at) {
  const SortAttr& attr = at.node.as<SortAttr>();
  at.give(0, scattered(at, at.b.make(Op::ArgSort, {at.x(0)}, attr), attr.axis), at.axes_of(at.x(0)));
  return {};
}

Status top_k(Adjoint& at) {
  const TopKAttr& attr = at.node.as<TopKAttr>();
  at.give(0, scattered(at, at.b.make(Op::ArgTopK, {at.x(0)}, attr), attr.axis), at.axes_of(at.x(0)));
  return {};
}

}  // namespace kw::ir::vjp
