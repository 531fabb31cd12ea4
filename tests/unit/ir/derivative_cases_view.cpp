#include "derivative_case.h"

namespace kw::ir::test {
namespace {

DerivativeCase broadcast() {
  Sketch s("broadcast", Op::Broadcast);
  AxisId rows = s.axis("rows", 3), cols = s.axis("cols", 4);
  NodeId x = s.x("x", {cols}), w = s.x("w", {rows});
  NodeId wide = s.b.broadcast(x, {rows});
  s.out("y", s.make(Op::Mul, {s.make(Op::Sin, {wide}), w})).out("z", wide);
  return std::move(s).done();
}

DerivativeCase broadcast_of_a_constant_cotangent() {
  Sketch s("broadcast under a sum", Op::Broadcast);
  AxisId rows = s.axis("rows", 3), cols = s.axis("cols", 4);
  NodeId x = s.x("x", {cols});
  s.out("y", s.b.reduce(Op::Sum, s.b.broadcast(x, {rows}), {rows, cols}));
  return std::move(s).done();
}

DerivativeCase rename() {
  Sketch s("rename: the outer product of a vector with itself", Op::Rename);
  SymbolId n = s.b.symbol("n", 4);
  AxisId i = s.sized("i", Size::symbol(n)), j = s.sized("j", Size::symbol(n));
  NodeId x = s.x("x", {i});
  s.out("y", s.make(Op::Mul, {x, s.make(Op::Sin, {s.b.rename(x, {{i, j}})})}));
  return std::move(s).done();
}

DerivativeCase transposed() {
  Sketch s("rename that exchanges two axes", Op::Rename);
  SymbolId n = s.b.symbol("n", 3);
  AxisId i = s.sized("i", Size::symbol(n)), j = s.sized("j", Size::symbol(n));
  NodeId x = s.x("x", {i, j});
  s.out("y", s.make(Op::Mul, {x, s.make(Op::Sin, {s.b.rename(x, {{i, j}, {j, i}})})}));
  return std::move(s).done();
}

DerivativeCase slice(int64_t n, int64_t start, int64_t step, int64_t count) {
  Sketch s("slice from " + std::to_string(start) + " by " + std::to_string(step), Op::Slice);
  AxisId rows = s.axis("rows", 2), cols = s.axis("cols", n),
         part = s.sized("part", count == n ? s.size(cols) : Size(count));
  NodeId x = s.x("x", {rows, cols});
  s.out("y", s.make(Op::Slice, {x}, SliceAttr{cols, part, Size(start), step}));
  return std::move(s).done();
}

DerivativeCase sliced_sum() {
  Sketch s("slice under a sum", Op::Slice);
  AxisId rows = s.axis("rows", 2), cols = s.axis("cols", 5), part = s.sized("part", Size(2));
  NodeId x = s.x("x", {rows, cols});
  s.out("y", s.b.reduce(Op::Sum, s.make(Op::Slice, {x}, SliceAttr{cols, part, Size(1), 1}), {part}));
  return std::move(s).done();
}

DerivativeCase pad(int64_t step) {
  Sketch s("pad by " + std::to_string(step) + " with a tensor's value", Op::Pad);
  AxisId rows = s.axis("rows", 2), cols = s.axis("cols", 3), wide = s.sized("wide", Size(9));
  NodeId x = s.x("x", {rows, cols}), fill = s.x("fill", {});
  s.out("y", s.make(Op::Pad, {x, fill}, SliceAttr{cols, wide, Size(2), step}));
  return std::move(s).done();
}

DerivativeCase concat() {
  Sketch s("concat of operands with other axes and of one twice", Op::Concat);
  AxisId rows = s.axis("rows", 2), a = s.axis("a", 3), c = s.axis("c", 2);
  AxisId all = s.sized("all", s.size(a) + s.size(c) + s.size(a));
  NodeId x = s.x("x", {rows, a}), w = s.x("w", {c});
  s.out("y", s.make(Op::Concat, {x, w, x}, ConcatAttr{{a, c, a}, all}));
  return std::move(s).done();
}

DerivativeCase split_and_merge(bool reduce_inner) {
  Sketch s(reduce_inner ? "split, reduced over the inner axis" : "split", Op::Split);
  AxisId groups = s.axis("groups", 2), inner = s.axis("inner", 3), rows = s.axis("rows", 2);
  AxisId whole = s.sized("whole", s.size(groups) * s.size(inner));
  NodeId x = s.x("x", {rows, whole}), w = s.x("w", {groups});
  NodeId parts = s.make(Op::Split, {x}, SplitAttr{whole, groups, inner});
  s.out("y", reduce_inner ? s.make(Op::Mul, {s.b.reduce(Op::Sum, parts, {inner}), w}) : s.make(Op::Mul, {parts, w}));
  return std::move(s).done();
}

DerivativeCase split_constant() {
  Sketch s("split under a sum over both parts", Op::Split);
  AxisId groups = s.axis("groups", 2), inner = s.axis("inner", 3), rows = s.axis("rows", 2);
  AxisId whole = s.sized("whole", s.size(groups) * s.size(inner));
  NodeId x = s.x("x", {rows, whole});
  s.out("y", s.b.reduce(Op::Sum, s.make(Op::Split, {x}, SplitAttr{whole, groups, inner}), {groups, inner}));
  return std::move(s).done();
}

DerivativeCase merge(bool summed) {
  Sketch s(summed ? "merge under a sum" : "merge", Op::Merge);
  AxisId groups = s.axis("groups", 2), inner = s.axis("inner", 3), rows = s.axis("rows", 2);
  AxisId whole = s.sized("whole", s.size(groups) * s.size(inner));
  NodeId x = s.x("x", {rows, groups, inner});
  NodeId y = s.make(Op::Merge, {x}, SplitAttr{whole, groups, inner});
  s.out("y", summed ? s.b.reduce(Op::Sum, y, {whole}) : y);
  return std::move(s).done();
}

struct WindowShape {
  int64_t n, taps, stride, dilation, pad, input_dilation, out;
};

DerivativeCase window(const WindowShape& w, bool fold) {
  Sketch s((fold ? "fold " : "window ") + std::to_string(w.taps) + " taps, stride " + std::to_string(w.stride) +
               ", dilation " + std::to_string(w.dilation) + ", input dilation " + std::to_string(w.input_dilation),
           fold ? Op::Fold : Op::Window);
  AxisId rows = s.axis("rows", 2), in = s.axis("in", w.n), out = s.axis("out", w.out), tap = s.axis("tap", w.taps);
  WindowAttr attr{in, out, tap, w.stride, w.dilation, Size(w.pad), w.input_dilation};
  if (fold) {
    // The folded length must appear in the interface for the interpreter to know it.
    NodeId x = s.x("x", {rows, out, tap}), scale = s.x("scale", {in});
    s.out("y", s.make(Op::Mul, {s.make(Op::Fold, {x}, attr), scale}));
  } else {
    NodeId x = s.x("x", {rows, in}), fill = s.x("fill", {}), w0 = s.x("w", {tap}), shape = s.x("shape", {out});
    s.out("y", s.make(Op::Mul, {s.make(Op::Mul, {s.make(Op::Window, {x, fill}, attr), w0}), shape}));
  }
  return std::move(s).done();
}

DerivativeCase window_2d() {
  Sketch s("windows along two axes, as a max-pool has them", Op::Window);
  AxisId h = s.axis("h", 4), w = s.axis("w", 4), oh = s.sized("oh", Size(2)), ow = s.sized("ow", Size(2)),
         th = s.sized("th", Size(2)), tw = s.sized("tw", Size(2));
  NodeId x = s.x("x", {h, w}), zero = s.b.constant(0.0);
  NodeId rows = s.make(Op::Window, {x, zero}, WindowAttr{h, oh, th, 2, 1, Size(0), 1});
  NodeId both = s.make(Op::Window, {rows, zero}, WindowAttr{w, ow, tw, 2, 1, Size(0), 1});
  s.out("y", s.b.reduce(Op::ReduceMax, both, {th, tw}));
  return std::move(s).done();
}

}  // namespace

std::vector<DerivativeCase> view_cases() {
  std::vector<DerivativeCase> out;
  out.push_back(broadcast());
  out.push_back(broadcast_of_a_constant_cotangent());
  out.push_back(rename());
  out.push_back(transposed());
  out.push_back(slice(5, 1, 1, 3));
  out.push_back(slice(5, 0, 2, 3));
  out.push_back(slice(5, 4, -1, 5));
  out.push_back(slice(5, 4, -2, 2));
  out.push_back(slice(5, 3, -1, 3));
  out.push_back(sliced_sum());
  out.push_back(pad(1));
  out.push_back(pad(3));
  out.push_back(concat());
  out.push_back(split_and_merge(false));
  out.push_back(split_and_merge(true));
  out.push_back(split_constant());
  out.push_back(merge(false));
  out.push_back(merge(true));
  for (bool fold : {false, true}) {
    out.push_back(window({5, 3, 1, 1, 0, 1, 3}, fold));
    out.push_back(window({5, 3, 2, 1, 1, 1, 3}, fold));
    out.push_back(window({7, 2, 1, 3, 2, 1, 8}, fold));
    out.push_back(window({3, 3, 1, 1, 1, 2, 5}, fold));
  }
  out.push_back(window_2d());
  return out;
}

}  // namespace kw::ir::test
