// Derivatives of the views: each is the transposed view of the cotangent.
#include <algorithm>

#include "ir/derivative/adjoint.h"

namespace kw::ir::vjp {
namespace {

// Cotangent of the one number that fills what `covered` (a bool view of the same kind) leaves open.
void give_fill(Adjoint& at, NodeId covered) {
  NodeId open = at.select(covered, at.b.constant(0.0), at.dy_full());
  at.give(1, open);
}

NodeId truth_along(Adjoint& at, AxisId axis) { return at.b.broadcast(at.b.boolean(true), {axis}); }

}  // namespace

Status broadcast(Adjoint& at) {
  at.give(0, at.dy);
  return {};
}

Status rename(Adjoint& at) {
  std::vector<std::pair<AxisId, AxisId>> back;
  for (auto [from, to] : at.node.as<RenameAttr>().pairs) back.emplace_back(to, from);
  at.give(0, at.b.rename(at.dy, back), at.axes_of(at.x(0)));
  return {};
}

// Each element goes back to its place in a row of zeros. Backwards slices turn round first: Pad only steps forward.
Status slice(Adjoint& at) {
  const SliceAttr& attr = at.node.as<SliceAttr>();
  NodeId dy = at.dy_with({attr.to});
  Size last = at.size(attr.to) - Size(1);
  if (attr.step == -1 && at.size(attr.to) == at.size(attr.from)) {
    at.give(0, at.b.make(Op::Slice, {dy}, SliceAttr{attr.to, attr.from, last, -1}), at.axes_of(at.x(0)));
    return {};
  }
  SliceAttr place{attr.to, attr.from, attr.start, attr.step};
  if (attr.step < 0) {
    AxisId turned = at.b.axis_like(attr.to, "turned", at.size(attr.to));
    dy = at.b.make(Op::Slice, {dy}, SliceAttr{attr.to, turned, last, -1});
    place = SliceAttr{turned, attr.from, attr.start + last * Size(attr.step), -attr.step};
  }
  at.give(0, at.b.make(Op::Pad, {dy, at.b.constant(0.0)}, place), at.axes_of(at.x(0)));
  return {};
}

Status pad(Adjoint& at) {
  const SliceAttr& attr = at.node.as<SliceAttr>();
  if (at.wants(0)) {
    NodeId read = at.b.make(Op::Slice, {at.dy_with({attr.to})}, SliceAttr{attr.to, attr.from, attr.start, attr.step});
    at.give(0, read, at.axes_of(at.x(0)));
  }
  if (at.wants(1)) give_fill(at, at.b.make(Op::Pad, {truth_along(at, attr.from), at.b.boolean(false)}, attr));
  return {};
}

Status concat(Adjoint& at) {
  const ConcatAttr& attr = at.node.as<ConcatAttr>();
  Size start(0);
  for (size_t i = 0; i < at.node.args.size(); ++i) {
    if (at.wants(i)) {
      // The axis that this part joins may be one that another part keeps: this part is constant along that one.
      NodeId dy = at.dy_with({attr.to});
      if (at.has_axis(at.y, attr.from[i])) dy = at.b.reduce(Op::Sum, dy, {attr.from[i]});
      NodeId read = at.b.make(Op::Slice, {dy}, SliceAttr{attr.to, attr.from[i], start, 1});
      at.give(i, read, unite(without(at.node.axes, {attr.to}), {attr.from[i]}));
    }
    start = start + at.size(attr.from[i]);
  }
  return {};
}

Status split(Adjoint& at) {
  const SplitAttr& attr = at.node.as<SplitAttr>();
  bool constant = !at.has_axis(at.dy, attr.outer) && !at.has_axis(at.dy, attr.inner);
  NodeId dx = constant ? at.dy : at.b.make(Op::Merge, {at.dy_with({attr.outer, attr.inner})}, attr);
  at.give(0, dx, at.axes_of(at.x(0)));
  return {};
}

Status merge(Adjoint& at) {
  const SplitAttr& attr = at.node.as<SplitAttr>();
  NodeId dx = at.has_axis(at.dy, attr.whole) ? at.b.make(Op::Split, {at.dy}, attr) : at.dy;
  at.give(0, dx, at.axes_of(at.x(0)));
  return {};
}

Status window(Adjoint& at) {
  const WindowAttr& attr = at.node.as<WindowAttr>();
  if (at.wants(0)) at.give(0, at.b.make(Op::Fold, {at.dy_with({attr.out, attr.tap})}, attr), at.axes_of(at.x(0)));
  if (at.wants(1)) give_fill(at, at.b.make(Op::Window, {truth_along(at, attr.axis), at.b.boolean(false)}, attr));
  return {};
}

Status fold(Adjoint& at) {
  const WindowAttr& attr = at.node.as<WindowAttr>();
  at.give(0, at.b.make(Op::Window, {at.dy_with({attr.axis}), at.b.constant(0.0)}, attr), at.axes_of(at.x(0)));
  return {};
}

}  // namespace kw::ir::vjp
