#include <algorithm>

#include "ir/random/recipe.h"

namespace kw::ir::random {
namespace {

bool fits_without(Draft& d, std::vector<AxisId> axes, AxisId removed, const std::vector<AxisId>& added) {
  std::erase(axes, removed);
  for (AxisId a : added)
    if (std::find(axes.begin(), axes.end(), a) == axes.end()) axes.push_back(a);
  return d.fits(axes);
}

bool holds(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// The value with the indexed axis under another name, if it has it and sometimes: it is another axis either way.
Drawn apart_from(Draft& d, Drawn index, AxisId axis) {
  if (!holds(d.axes_of(index), axis) || d.dice.chance(0.3)) return index;
  AxisId other = d.new_axis(d.size(axis));
  return d.make(Op::Rename, {index}, RenameAttr{{{axis, other}}}, index.low, index.high);
}

}  // namespace

std::optional<Drawn> draw_gather(Draft& d, Op op) {
  std::optional<Drawn> x = d.with_axis(&Draft::number);
  if (!x) return x;
  AxisId axis = d.some_axis(*x);
  Drawn index = apart_from(d, d.index_into(axis), axis);
  if (!fits_without(d, d.axes_of(*x), axis, d.axes_of(index))) return std::nullopt;
  return d.make(op, {*x, index}, AxisList{{axis}}, x->low, x->high);
}

std::optional<Drawn> draw_scatter(Draft& d, Op op) {
  std::optional<Drawn> base = d.with_axis(&Draft::floating);
  if (!base) return base;
  AxisId axis = d.some_axis(*base);
  Drawn index{}, value{};
  if (op == Op::ScatterSet) {
    // A permutation of the axis, so that no place is written twice: the order of writes is not a question.
    AxisId source = d.new_axis(d.size(axis));
    std::optional<Drawn> key = d.floating();
    if (!key) return key;
    Drawn renamed = holds(d.axes_of(*base), axis)
                        ? d.make(Op::Rename, {*base}, RenameAttr{{{axis, source}}}, base->low, base->high)
                        : *base;
    index = d.make(Op::ArgSort, {d.without_ties(renamed, source)}, SortAttr{source, d.dice.chance(0.5)}, 0,
                   double(d.extent(axis) - 1));
    value = d.make(Op::Neg, {renamed}, {}, -renamed.high, -renamed.low);
    return d.make(op, {*base, index, value}, AxisList{{axis}}, std::min(base->low, value.low),
                  std::max(base->high, value.high));
  }
  index = apart_from(d, d.index_into(axis), axis);
  std::optional<Drawn> drawn = d.floating();
  if (!drawn) return drawn;
  value = apart_from(d, *drawn, axis);
  d.make_promotable(*base, value);
  std::vector<AxisId> all = d.axes_of(*base);
  double hits = 1;
  for (const Drawn& v : {index, value})
    for (AxisId a : d.axes_of(v))
      if (!holds(all, a)) {
        all.push_back(a);
        hits *= double(d.extent(a));
      }
  std::erase(all, axis);
  if (!d.fits(all)) return std::nullopt;
  return d.make(op, {*base, index, value}, AxisList{{axis}}, std::min(base->low, base->low + hits * value.low),
                std::max(base->high, base->high + hits * value.high));
}

std::optional<Drawn> draw_segment(Draft& d, Op op) {
  std::optional<Drawn> x = d.with_axis(&Draft::floating);
  if (!x) return x;
  AxisId rows = d.some_axis(*x);
  int64_t runs = d.dice.between(1, 4);
  AxisId segments = d.new_axis(runs), offset_axis = d.new_axis(runs + 1);
  Drawn offsets = d.offsets_of(rows, offset_axis, segments);
  SegmentAttr attr{rows, segments, offset_axis};
  if (op == Op::SegmentIndex) return d.make(op, {offsets}, attr, 0, double(runs - 1));
  if (!fits_without(d, d.axes_of(*x), rows, {segments})) return std::nullopt;
  double n = double(d.extent(rows));
  if (op == Op::SegmentSum)
    return d.make(op, {*x, offsets}, attr, std::min(0.0, n * x->low), std::max(0.0, n * x->high));
  // An empty run is infinite: it is brought back into the range.
  bool is_max = op == Op::SegmentMax;
  x = d.without_ties(*x, rows);
  Drawn extreme = d.make(op, {*x, offsets}, attr, x->low, x->high);
  return d.make(is_max ? Op::Max : Op::Min, {extreme, d.constant(is_max ? -4 : 4)}, {}, std::min(x->low, -4.0),
                std::max(x->high, 4.0));
}

std::optional<Drawn> draw_sort(Draft& d, Op op) {
  std::optional<Drawn> x = d.with_axis(&Draft::number);
  if (!x) return x;
  AxisId axis = d.some_axis(*x);
  SortAttr attr{axis, d.dice.chance(0.5)};
  x = d.without_ties(*x, axis);
  if (op == Op::Sort) return d.make(op, {*x}, attr, x->low, x->high);
  return d.make(op, {*x}, attr, 0, double(d.extent(axis) - 1));
}

std::optional<Drawn> draw_top_k(Draft& d, Op op) {
  std::optional<Drawn> x = d.with_axis(&Draft::number);
  if (!x) return x;
  AxisId axis = d.some_axis(*x);
  TopKAttr attr{axis, d.new_axis(d.dice.between(1, d.extent(axis))), d.dice.chance(0.5)};
  x = d.without_ties(*x, axis);
  if (op == Op::TopK) return d.make(op, {*x}, attr, x->low, x->high);
  return d.make(op, {*x}, attr, 0, double(d.extent(axis) - 1));
}

}  // namespace kw::ir::random
