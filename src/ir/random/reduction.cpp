#include <algorithm>
#include <cmath>

#include "ir/random/recipe.h"

namespace kw::ir::random {
namespace {

// Three axes are what tells the first, a middle and the last one apart.
size_t rank_to_reduce(const Draft& d) { return d.visit ? 3 : 1; }

bool may_reduce(Draft& d, const Drawn& x) { return x.reductions < d.options.most_dependent_reductions; }

// The first, a middle or the last axis of the operand, or several of them.
std::vector<AxisId> reduced_axes(Draft& d, const Drawn& x, bool only_one) {
  std::vector<AxisId> axes = d.axes_of(x);
  size_t n = axes.size();
  switch (d.visit ? *d.visit % (only_one ? 3 : 4) : d.dice.below(only_one ? 3 : 5)) {
    case 0:
      return {axes.front()};
    case 1:
      return {axes.back()};
    case 2:
      return {axes[n / 2]};
    case 3:
      return axes;
    default:
      axes.erase(axes.begin() + d.dice.below(int64_t(n)));
      return axes.empty() ? d.axes_of(x) : axes;
  }
}

double count(const Draft& d, const std::vector<AxisId>& axes) {
  double n = 1;
  for (AxisId a : axes) n *= double(d.extent(a));
  return n;
}

// (a, b) ∘ (c, d) = (a·c, c·b + d): the composition of affine maps, which does not commute.
std::shared_ptr<const Combine> affine(Type type) {
  GraphBuilder b;
  auto scalar = [&](const char* name) { return b.input({name, InputKind::Tensor, type, {}, {}, true, kNoNode}); };
  NodeId a = scalar("a"), shift = scalar("b"), c = scalar("c"), other = scalar("d");
  NodeId slope = b.make(Op::Mul, {a, c});
  NodeId value = b.make(Op::Add, {b.make(Op::Mul, {c, shift}), other});
  b.output({"slope", slope, {}, {}});
  b.output({"value", value, {}, {}});
  return std::make_shared<Combine>(Combine{std::make_shared<Graph>(std::move(b).finish()), {1, 0}});
}

// log(exp(a) + exp(b)), written with the larger of the two in front.
std::shared_ptr<const Combine> log_add_exp(Type type) {
  GraphBuilder b;
  auto scalar = [&](const char* name) { return b.input({name, InputKind::Tensor, type, {}, {}, true, kNoNode}); };
  NodeId x = scalar("x"), y = scalar("y");
  NodeId larger = b.make(Op::Max, {x, y});
  NodeId apart = b.make(Op::Neg, {b.make(Op::Abs, {b.make(Op::Sub, {x, y})})});
  b.output({"z", b.make(Op::Add, {larger, b.make(Op::Log1p, {b.make(Op::Exp, {apart})})}), {}, {}});
  return std::make_shared<Combine>(
      Combine{std::make_shared<Graph>(std::move(b).finish()), {-std::numeric_limits<double>::infinity()}});
}

}  // namespace

std::optional<Drawn> draw_reduction(Draft& d, Op op) {
  bool reals = op == Op::Mean || op == Op::LogSumExp;
  std::optional<Drawn> x = d.with_axis(reals ? &Draft::floating : &Draft::number, rank_to_reduce(d));
  if (!x || !may_reduce(d, *x)) return std::nullopt;
  std::vector<AxisId> axes = reduced_axes(d, *x, false);
  double n = count(d, axes);
  bool real = d.type_of(*x).floating();
  switch (op) {
    case Op::Sum:
      return d.make(op, {*x}, AxisList{axes}, std::min(x->low, n * x->low), std::max(x->high, n * x->high));
    case Op::Prod: {
      if (n > 40) return std::nullopt;
      x = real ? d.within(*x, 0.5, 1.5) : d.integer_within(*x, 1, 2);
      double highest = std::pow(x->high, n);
      return d.make(op, {*x}, AxisList{axes}, 0, highest);
    }
    case Op::ReduceMax:
    case Op::ReduceMin:
      for (AxisId a : axes) x = d.without_ties(*x, a);
      return d.make(op, {*x}, AxisList{axes}, x->low, x->high);
    case Op::LogSumExp:
      return d.make(op, {*x}, AxisList{axes}, x->low, x->high + std::log(n));
    default:
      return d.make(op, {*x}, AxisList{axes}, x->low, x->high);
  }
}

std::optional<Drawn> draw_arg_reduction(Draft& d, Op op) {
  std::optional<Drawn> x = d.with_axis(&Draft::number, rank_to_reduce(d));
  if (!x || !may_reduce(d, *x)) return std::nullopt;
  std::vector<AxisId> axes = reduced_axes(d, *x, true);
  return d.make(op, {d.without_ties(*x, axes[0])}, AxisList{axes}, 0, double(d.extent(axes[0]) - 1));
}

std::optional<Drawn> draw_logic_reduction(Draft& d, Op op) {
  std::optional<Drawn> x = d.with_axis(d.dice.chance(0.6) ? &Draft::boolean : &Draft::number, rank_to_reduce(d));
  if (!x || !may_reduce(d, *x)) return std::nullopt;
  if (d.type_of(*x).floating()) x = d.make(Op::Lt, {*x, d.constant(0.75)}, {}, 0, 1);
  return d.make(op, {*x}, AxisList{reduced_axes(d, *x, false)}, 0, 1);
}

std::optional<Drawn> draw_combine(Draft& d, Op op) {
  std::optional<Drawn> x = d.with_axis(&Draft::floating, rank_to_reduce(d));
  if (!x || !may_reduce(d, *x)) return std::nullopt;
  AxisId axis = reduced_axes(d, *x, true)[0];
  Type type = d.type_of(*x) == Type(DType::F64) || d.dice.chance(0.5) ? Type(DType::F64) : Type(DType::F32);
  bool reverse = op == Op::Scan && d.dice.chance(0.3), exclusive = op == Op::Scan && d.dice.chance(0.3);
  if (d.dice.chance(0.4)) {
    CombineAttr attr{log_add_exp(type), 0, axis, reverse, false};  // its neutral element is infinite
    return d.make(op, {d.without_ties(d.cast(*x, type), axis)}, attr, x->low, x->high + 4);
  }
  std::optional<Drawn> y = d.floating();
  if (!y) return y;
  std::vector<AxisId> axes = d.axes_of(*x);
  for (AxisId a : d.axes_of(*y))
    if (std::find(axes.begin(), axes.end(), a) == axes.end()) axes.push_back(a);
  if (!d.fits(axes)) y = x;
  Drawn slope = d.within(d.cast(*x, type), -0.75, 0.75), shift = d.cast(*y, type);
  CombineAttr attr{affine(type), static_cast<int>(d.dice.below(2)), axis, reverse, exclusive};
  double m = 4 * std::max(1.0, shift.magnitude());
  return d.make(op, {slope, shift}, attr, -m, m);
}

std::optional<Drawn> draw_cumulative(Draft& d, Op op) {
  bool reals = op == Op::CumLogSumExp;
  std::optional<Drawn> x = d.with_axis(reals ? &Draft::floating : &Draft::number);
  if (!x) return x;
  AxisId axis = d.some_axis(*x);
  double n = double(d.extent(axis));
  bool real = d.type_of(*x).floating();
  // The neutral element of an extremum or a logarithm is infinite: it would leave the range.
  bool finite = op == Op::CumSum || op == Op::CumProd;
  ScanAttr attr{axis, d.dice.chance(0.3), finite && d.dice.chance(0.3)};
  if (op == Op::CumSum) return d.make(op, {*x}, attr, std::min(0.0, n * x->low), std::max(0.0, n * x->high));
  if (op == Op::CumProd) {
    if (n > 40) return std::nullopt;
    x = real ? d.within(*x, 0.5, 1.5) : d.integer_within(*x, 1, 2);
    return d.make(op, {*x}, attr, 0, std::pow(x->high, n));
  }
  if (op != Op::CumLogSumExp) x = d.without_ties(*x, axis);
  return d.make(op, {*x}, attr, x->low, x->high + (op == Op::CumLogSumExp ? std::log(n) : 0));
}

std::optional<Drawn> draw_contract(Draft& d, Op op) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    std::optional<Drawn> x = d.with_axis(&Draft::number), y = d.with_axis(&Draft::number);
    if (!x || !y) return std::nullopt;
    std::vector<AxisId> both, all;
    std::set_intersection(d.axes_of(*x).begin(), d.axes_of(*x).end(), d.axes_of(*y).begin(), d.axes_of(*y).end(),
                          std::back_inserter(both));
    std::set_union(d.axes_of(*x).begin(), d.axes_of(*x).end(), d.axes_of(*y).begin(), d.axes_of(*y).end(),
                   std::back_inserter(all));
    if (d.dice.chance(0.15)) both = all;  // an axis of one factor alone may be summed too
    if (both.empty() || all.size() > 6) continue;
    std::vector<AxisId> axes{d.dice.pick(both)};
    if (both.size() > 1 && d.dice.chance(0.3)) axes = both;
    std::vector<AxisId> kept;
    std::set_difference(all.begin(), all.end(), axes.begin(), axes.end(), std::back_inserter(kept));
    if (!d.fits(kept)) continue;
    d.make_promotable(*x, *y);
    double m = x->magnitude() * y->magnitude() * count(d, axes);
    return d.make(op, {*x, *y}, AxisList{axes}, -m, m);
  }
  return std::nullopt;
}

}  // namespace kw::ir::random
