#include <algorithm>

#include "ir/random/recipe.h"

namespace kw::ir::random {
namespace {

bool fits_with(Draft& d, const Drawn& x, std::initializer_list<AxisId> removed, std::initializer_list<AxisId> added) {
  std::vector<AxisId> axes = d.axes_of(x);
  for (AxisId a : removed) std::erase(axes, a);
  axes.insert(axes.end(), added);
  return d.fits(axes);
}

// Any value that has an axis.
std::optional<Drawn> draw_viewed(Draft& d, size_t rank = 1) {
  if (d.visit) return d.with_axis(&Draft::number, rank);
  return d.draw([&](const Drawn& v) { return d.axes_of(v).size() >= rank && !d.type_of(v).weak(); });
}

}  // namespace

std::optional<Drawn> draw_broadcast(Draft& d, Op op) {
  std::optional<Drawn> x = d.visit ? d.number() : d.draw([&](const Drawn& v) { return !d.type_of(v).weak(); });
  if (!x) return x;
  AxisId axis = d.dice.pick(d.axes());
  const std::vector<AxisId>& axes = d.axes_of(*x);
  if (std::find(axes.begin(), axes.end(), axis) != axes.end() || !fits_with(d, *x, {}, {axis})) return std::nullopt;
  return d.make(op, {*x}, AxisList{{axis}}, x->low, x->high);
}

// x times itself with one axis under another name: the outer product along it.
std::optional<Drawn> draw_rename(Draft& d, Op op) {
  std::optional<Drawn> x = d.with_axis(&Draft::floating);
  if (!x) return x;
  AxisId axis = d.some_axis(*x), other = d.new_axis(d.size(axis));
  Drawn renamed = d.make(op, {*x}, RenameAttr{{{axis, other}}}, x->low, x->high);
  if (!fits_with(d, *x, {}, {other})) return renamed;
  double m = x->magnitude() * x->magnitude();
  return d.make(Op::Mul, {*x, renamed}, {}, -m, m);
}

std::optional<Drawn> draw_slice(Draft& d, Op op) {
  std::optional<Drawn> x = draw_viewed(d);
  if (!x) return x;
  AxisId axis = d.some_axis(*x);
  Size n = d.size(axis);
  SliceAttr attr{axis, kUnit, Size(0), 1};
  switch (d.dice.below(4)) {
    case 0:  // all but the ends
      if (d.extent(axis) < 2) return std::nullopt;
      attr.start = Size(d.dice.between(0, 1));
      attr.to = d.new_axis(n - Size(1));
      break;
    case 1:  // every second one
      attr.start = Size(d.extent(axis) > 1 ? d.dice.between(0, 1) : 0);
      attr.step = 2;
      attr.to = d.new_axis(ceil_div(n - attr.start, Size(2)));
      break;
    case 2:  // backwards
      attr.start = n - Size(1);
      attr.step = -1;
      attr.to = d.new_axis(n);
      break;
    default:  // the first one alone
      attr.to = d.new_axis(Size(1));
      break;
  }
  return d.make(op, {*x}, attr, x->low, x->high);
}

std::optional<Drawn> draw_pad(Draft& d, Op op) {
  std::optional<Drawn> x = d.with_axis(&Draft::number);
  if (!x) return x;
  AxisId axis = d.some_axis(*x);
  int64_t start = d.dice.between(0, 2), step = d.dice.chance(0.3) ? 2 : 1, after = d.dice.between(0, 2);
  AxisId to = d.new_axis((d.size(axis) - Size(1)) * Size(step) + Size(1 + start + after));
  if (!fits_with(d, *x, {axis}, {to})) return std::nullopt;
  Drawn fill = d.type_of(*x).floating() ? d.constant(d.dice.pick(std::vector<double>{0, 0.5, -1}))
                                        : d.whole_number(d.dice.between(0, 2));
  return d.make(op, {*x, fill}, SliceAttr{axis, to, Size(start), step}, std::min(x->low, fill.low),
                std::max(x->high, fill.high));
}

std::optional<Drawn> draw_concat(Draft& d, Op op) {
  int64_t count = d.dice.between(1, 3);
  std::vector<Drawn> parts;
  ConcatAttr attr{{}, kUnit};
  Size total(0);
  double low = 0, high = 0;
  std::vector<AxisId> axes;
  for (int64_t i = 0; i < count; ++i) {
    std::optional<Drawn> x = d.with_axis(&Draft::number);
    if (!x) return x;
    if (!parts.empty()) {
      d.make_promotable(parts[0], *x);
      if (!promote(d.type_of(parts.back()), d.type_of(*x)).known()) continue;
    }
    AxisId axis = d.some_axis(*x);
    total = total + d.size(axis);
    for (AxisId a : d.axes_of(*x))
      if (a != axis && std::find(axes.begin(), axes.end(), a) == axes.end()) axes.push_back(a);
    attr.from.push_back(axis);
    parts.push_back(*x);
    low = std::min(low, x->low);
    high = std::max(high, x->high);
  }
  // Three types may promote in pairs alone (fp8): then all are cast.
  Type type;
  bool mixed = false;
  for (const Drawn& part : parts) {
    mixed = mixed || !promote(type, d.type_of(part)).known() || d.type_of(part) == Type(DType::F8E4M3) ||
            d.type_of(part) == Type(DType::F8E5M2);
    type = promote(type, d.type_of(part));
  }
  if (mixed && parts.size() > 1)
    for (Drawn& part : parts) part = d.cast(part, DType::F32);
  attr.to = d.new_axis(total);
  axes.push_back(attr.to);
  if (!d.fits(axes)) return std::nullopt;
  return d.make(op, parts, attr, low, high);
}

std::optional<Drawn> draw_split(Draft& d, Op op) {
  // An axis that is known to be even, or the merger of two others.
  AxisId even = d.axes()[1];
  std::optional<Drawn> x = d.draw([&](const Drawn& v) {
    const std::vector<AxisId>& axes = d.axes_of(v);
    return std::find(axes.begin(), axes.end(), even) != axes.end() && !d.type_of(v).weak();
  });
  if (!x || d.visit) {
    x = d.number();
    if (x && std::find(d.axes_of(*x).begin(), d.axes_of(*x).end(), even) != d.axes_of(*x).end()) return std::nullopt;
    if (!x || !fits_with(d, *x, {}, {even})) return std::nullopt;
    x = d.make(Op::Broadcast, {*x}, AxisList{{even}}, x->low, x->high);
  }
  Size half = floor_div(d.size(even), Size(2));
  bool pairs = d.dice.chance(0.5);  // [half, 2] or [2, half]
  AxisId outer = d.new_axis(pairs ? half : Size(2)), inner = d.new_axis(pairs ? Size(2) : half);
  if (!fits_with(d, *x, {even}, {outer, inner})) return std::nullopt;
  return d.make(op, {*x}, SplitAttr{even, outer, inner}, x->low, x->high);
}

std::optional<Drawn> draw_merge(Draft& d, Op op) {
  std::optional<Drawn> x = draw_viewed(d, 2);
  if (!x) return x;
  AxisId outer = d.some_axis(*x), inner = d.some_axis(*x);
  if (outer == inner) return std::nullopt;
  AxisId whole = d.new_axis(d.size(outer) * d.size(inner));
  return d.make(op, {*x}, SplitAttr{whole, outer, inner}, x->low, x->high);
}

std::optional<Drawn> draw_window(Draft& d, Op op) {
  std::optional<Drawn> x = d.with_axis(&Draft::number);
  if (!x) return x;
  WindowAttr attr;
  attr.axis = d.some_axis(*x);
  attr.stride = d.dice.between(1, 3);
  attr.dilation = d.dice.between(1, 2);
  attr.input_dilation = d.dice.chance(0.3) ? 2 : 1;
  int64_t taps = d.dice.between(1, 3), pad = d.dice.between(0, 2);
  attr.pad_before = Size(pad);
  int64_t covered = (taps - 1) * attr.dilation + 1;
  Size spread = (d.size(attr.axis) - Size(1)) * Size(attr.input_dilation) + Size(1 + 2 * pad);
  Size out = floor_div(spread - Size(covered), Size(attr.stride)) + Size(1);
  if (d.b.graph().hinted(spread) < covered) return std::nullopt;
  attr.out = d.new_axis(out);
  attr.tap = d.new_axis(taps);
  if (!fits_with(d, *x, {attr.axis}, {attr.out, attr.tap})) return std::nullopt;
  Drawn fill = d.type_of(*x).floating() ? d.constant(d.dice.pick(std::vector<double>{0, 0.5, -1}))
                                        : d.whole_number(d.dice.between(0, 2));
  return d.make(op, {*x, fill}, attr, std::min(x->low, fill.low), std::max(x->high, fill.high));
}

std::optional<Drawn> draw_fold(Draft& d, Op op) {
  std::optional<Drawn> x = d.with_axis(&Draft::floating, 2);
  if (!x) return x;
  WindowAttr attr;
  attr.out = d.some_axis(*x);
  attr.tap = d.some_axis(*x);
  if (attr.out == attr.tap) return std::nullopt;
  attr.stride = d.dice.between(1, 3);
  attr.dilation = d.dice.between(1, 2);
  attr.input_dilation = d.dice.chance(0.3) ? 2 : 1;
  int64_t pad = d.dice.between(0, 2);
  attr.pad_before = Size(pad);
  // As long as the windows reach, less the padding on both sides.
  Size reach = (d.size(attr.out) - Size(1)) * Size(attr.stride) + (d.size(attr.tap) - Size(1)) * Size(attr.dilation) +
               Size(1 - 2 * pad);
  if (*d.b.graph().hinted(reach) < 1) return std::nullopt;
  attr.axis = d.new_axis(floor_div(reach - Size(1), Size(attr.input_dilation)) + Size(1));
  if (!fits_with(d, *x, {attr.out, attr.tap}, {attr.axis})) return std::nullopt;
  double m = x->magnitude() * double(d.extent(attr.tap));
  return d.make(op, {*x}, attr, -m, m);
}

}  // namespace kw::ir::random
