#include <algorithm>
#include <cmath>

#include "ir/random/recipe.h"

namespace kw::ir::random {
namespace {

using Pair = std::optional<std::pair<Drawn, Drawn>>;

// Two operands that broadcast to something of bearable size and whose types promote. Now and then one is a number.
Pair draw_pair(Draft& d, bool integers_too) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    std::optional<Drawn> x = integers_too ? d.number() : d.floating(), y = integers_too ? d.number() : d.floating();
    if (!x || !y) return std::nullopt;
    if (d.dice.chance(0.15)) y = d.draw([&](const Drawn& v) { return d.type_of(v).weak(); });
    if (!y || x->node == y->node) continue;
    std::vector<AxisId> axes;
    std::set_union(d.axes_of(*x).begin(), d.axes_of(*x).end(), d.axes_of(*y).begin(), d.axes_of(*y).end(),
                   std::back_inserter(axes));
    if (!d.fits(axes)) continue;
    if (!d.type_of(*y).weak() && d.dice.chance(0.5)) std::swap(x, y);
    d.make_promotable(*x, *y);
    return std::pair{*x, *y};
  }
  return std::nullopt;
}

bool is_real(Draft& d, const Drawn& x) { return d.type_of(x).floating(); }

}  // namespace

std::optional<Drawn> draw_function(Draft& d, Op op) {
  const Recipe& row = recipe(op);
  // Integers are read as floats; only where the domain holds a few of them.
  if (!d.options.differentiable && d.dice.chance(0.1) && row.domain_high - row.domain_low >= 2)
    if (std::optional<Drawn> x = d.integer()) {
      auto low = static_cast<int64_t>(std::ceil(row.domain_low)),
           high = std::min<int64_t>(low + 3, int64_t(row.domain_high));
      bool is_unsigned = d.type_of(*x) == Type(DType::U8);
      if (is_unsigned && low < 0) low = 0;
      if (low < high) return d.make(op, {d.integer_within(*x, low, high)}, {}, row.low, row.high);
    }
  std::optional<Drawn> x = d.floating();
  if (!x) return x;
  return d.make(op, {d.within(*x, row.domain_low, row.domain_high)}, {}, row.low, row.high);
}

std::optional<Drawn> draw_rounding(Draft& d, Op op) {
  std::optional<Drawn> x = d.number();
  if (!x) return x;
  double m = x->magnitude();
  switch (op) {
    case Op::Neg:
      return d.make(op, {*x}, {}, -x->high, -x->low);
    case Op::Abs:
      return d.make(op, {*x}, {}, 0, m);
    case Op::Sign:
      return d.make(op, {*x}, {}, -1, 1);
    case Op::StopGradient:
      return d.make(op, {*x}, {}, x->low, x->high);
    default:
      return d.make(op, {*x}, {}, std::floor(x->low), std::ceil(x->high));
  }
}

std::optional<Drawn> draw_not(Draft& d, Op op) {
  std::optional<Drawn> x = d.dice.chance(0.6) ? d.boolean() : d.integer();
  if (!x) return x;
  if (d.type_of(*x).boolean()) return d.make(op, {*x}, {}, 0, 1);
  return d.make(op, {*x}, {}, -x->high - 1, -x->low - 1);
}

std::optional<Drawn> draw_cast(Draft& d, Op op) {
  static const std::vector<DType> kTypes{DType::Bool, DType::U8,   DType::I8,     DType::I16,    DType::I32,
                                         DType::I64,  DType::BF16, DType::F8E4M3, DType::F8E5M2, DType::BF16,
                                         DType::F16,  DType::F32,  DType::F64,    DType::F32};
  Type type = d.dice.pick(kTypes);
  if (d.options.differentiable) type = d.dice.chance(0.5) ? Type(DType::F32) : Type(DType::F64);
  if (d.dice.chance(0.3)) type = d.type_of({d.b.graph().inputs[0].node});
  std::optional<Drawn> x = d.number();
  if (type.floating() && !d.visit) x = d.draw([&](const Drawn& v) { return !d.type_of(v).weak(); });
  if (!x || d.type_of(*x) == type) return std::nullopt;
  // What leaves the range of an integer type is undefined in C.
  if (is_real(d, *x) && type.integer()) {
    if (type == Type(DType::U8)) x = d.within(*x, 0, 64);
    x = d.within(*x, -64, 64);
  }
  return d.make(op, {*x}, CastAttr{type}, x->low, x->high);
}

std::optional<Drawn> draw_arithmetic(Draft& d, Op op) {
  Pair pair = draw_pair(d, true);
  if (!pair) return std::nullopt;
  auto [x, y] = *pair;
  double corners[] = {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high};
  switch (op) {
    case Op::Add:
      return d.make(op, {x, y}, {}, x.low + y.low, x.high + y.high);
    case Op::Sub:
      return d.make(op, {x, y}, {}, x.low - y.high, x.high - y.low);
    case Op::Mul:
      return d.make(op, {x, y}, {}, *std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4));
    case Op::Max:
      return d.make(op, {x, y}, {}, std::max(x.low, y.low), std::max(x.high, y.high));
    default:
      return d.make(op, {x, y}, {}, std::min(x.low, y.low), std::min(x.high, y.high));
  }
}

std::optional<Drawn> draw_division(Draft& d, Op op) {
  Pair pair = draw_pair(d, !d.options.differentiable);
  if (!pair) return std::nullopt;
  auto [x, y] = *pair;
  if (d.type_of(y).weak()) std::swap(x, y);
  double least = 1;
  if (is_real(d, y)) {
    y = d.within(y, 0.5, 4.5);
    least = 0.5;
  } else {
    y = d.integer_within(y, 1, 5);
  }
  double m = x.magnitude() / least;
  if (op == Op::Mod) return d.make(op, {x, y}, {}, 0, y.high);
  return d.make(op, {x, y}, {}, std::floor(-m), std::ceil(m));
}

std::optional<Drawn> draw_pow(Draft& d, Op op) {
  Pair pair = draw_pair(d, !d.options.differentiable);
  if (!pair) return std::nullopt;
  auto [x, y] = *pair;
  if (d.type_of(x).weak()) std::swap(x, y);
  if (d.dice.chance(0.4)) {  // x², x³
    int64_t exponent = d.dice.between(2, 3);
    if (is_real(d, x)) x = d.within(x, -4, 4);
    if (!is_real(d, x)) x = d.integer_within(x, 0, 5);
    return d.make(op, {x, d.whole_number(exponent)}, {}, exponent == 2 ? 0 : -64, 125);
  }
  if (!is_real(d, x) && !is_real(d, y))
    return d.make(op, {d.integer_within(x, 0, 4), d.integer_within(y, 0, 3)}, {}, 0, 64);
  x = is_real(d, x) ? d.within(x, 0.25, 4.25) : d.integer_within(x, 1, 4);
  y = is_real(d, y) ? (d.type_of(y).weak() ? y : d.within(y, -2, 2)) : d.integer_within(y, 0, 2);
  return d.make(op, {x, y}, {}, 0, 20);
}

std::optional<Drawn> draw_atan2(Draft& d, Op op) {
  Pair pair = draw_pair(d, false);
  if (!pair) return std::nullopt;
  auto [x, y] = *pair;
  if (d.type_of(y).weak()) std::swap(x, y);
  return d.make(op, {x, d.within(y, 0.25, 8.25)}, {}, -1.75, 1.75);  // away from the cut
}

std::optional<Drawn> draw_comparison(Draft& d, Op op) {
  Pair pair = draw_pair(d, true);
  if (!pair) return std::nullopt;
  return d.make(op, {pair->first, pair->second}, {}, 0, 1);
}

std::optional<Drawn> draw_logic(Draft& d, Op op) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    bool logical = d.dice.chance(0.6);
    std::optional<Drawn> x = logical ? d.boolean() : d.integer(), y = logical ? d.boolean() : d.integer();
    if (!x || !y) continue;
    std::vector<AxisId> axes;
    std::set_union(d.axes_of(*x).begin(), d.axes_of(*x).end(), d.axes_of(*y).begin(), d.axes_of(*y).end(),
                   std::back_inserter(axes));
    if (!d.fits(axes)) continue;
    if (logical) return d.make(op, {*x, *y}, {}, 0, 1);
    double m = 2 * std::max(x->magnitude(), y->magnitude()) + 1;
    bool is_unsigned = x->low >= 0 && y->low >= 0;
    return d.make(op, {*x, *y}, {}, is_unsigned ? 0 : -m, m);
  }
  return std::nullopt;
}

std::optional<Drawn> draw_shift(Draft& d, Op op) {
  std::optional<Drawn> x = d.integer();
  if (!x) return x;
  Drawn by = d.whole_number(d.dice.between(1, 3));
  if (d.dice.chance(0.5))
    if (std::optional<Drawn> y = d.integer(); y && d.fits(d.axes_of(*y)) && d.axes_of(*y) == d.axes_of(*x))
      by = d.integer_within(*y, 0, 3);
  double m = op == Op::Shl ? 8 * x->magnitude() : x->magnitude();
  return d.make(op, {*x, by}, {}, x->low < 0 ? -m : 0, m);
}

std::optional<Drawn> draw_select(Draft& d, Op op) {
  Pair pair = draw_pair(d, true);
  if (!pair) return std::nullopt;
  std::optional<Drawn> condition = d.boolean();
  if (!condition || !d.fits(d.axes_of(*condition))) {
    std::optional<Drawn> x = d.floating();
    if (!x) return x;
    condition = d.make(Op::Lt, {*x, d.constant(0.25)}, {}, 0, 1);
  }
  std::vector<AxisId> axes = d.axes_of(*condition);
  for (const Drawn& v : {pair->first, pair->second})
    for (AxisId a : d.axes_of(v)) axes.push_back(a);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  if (!d.fits(axes)) return std::nullopt;
  return d.make(op, {*condition, pair->first, pair->second}, {}, std::min(pair->first.low, pair->second.low),
                std::max(pair->first.high, pair->second.high));
}

}  // namespace kw::ir::random
