#include "ir/random/recipe.h"

namespace kw::ir::random {
namespace {

// Numbers of few bits: every type holds them exactly, so that it does not matter where they are rounded.
double plain_number(Dice& dice) { return double(dice.between(-7, 7)) / double(int64_t{1} << dice.between(0, 3)); }

}  // namespace

// Every graph has inputs.
std::optional<Drawn> draw_input(Draft& d, Op) { return d.floating(); }

std::optional<Drawn> draw_const(Draft& d, Op) {
  std::optional<Drawn> x = d.number();
  if (!x) return x;
  bool real = d.type_of(*x).floating();
  Drawn c = real ? d.constant(plain_number(d.dice)) : d.whole_number(d.dice.between(-5, 5));
  if (d.type_of(*x) == Type(DType::U8)) c = d.whole_number(d.dice.between(0, 5));
  if (d.dice.chance(0.3)) {  // a number cast to a type of its own, and as a constant tensor
    c = d.cast(c, d.type_of(*x));
    if (d.dice.chance(0.5)) {
      AxisId axis = d.dice.pick(d.axes());
      if (d.fits({axis}) && d.axes_of(*x).empty()) c = d.make(Op::Broadcast, {c}, AxisList{{axis}}, c.low, c.high);
    }
  }
  return d.make(Op::Add, {*x, c}, {}, x->low + c.low, x->high + c.high);
}

std::optional<Drawn> draw_size(Draft& d, Op) {
  std::optional<Drawn> x = d.number();
  if (!x) return x;
  AxisId axis = d.dice.pick(d.axes());
  double n = double(d.extent(axis));
  Drawn size{d.b.size_of(d.size(axis)), n, n};
  double m = x->magnitude() * n;
  return d.make(Op::Mul, {*x, size}, {}, -m, m);
}

std::optional<Drawn> draw_iota(Draft& d, Op op) {
  AxisId axis = d.dice.pick(d.axes());
  return d.make(op, {}, AxisList{{axis}}, 0, double(d.extent(axis) - 1));
}

std::optional<Drawn> draw_random(Draft& d, Op op) {
  std::vector<AxisId> axes = d.axes();
  for (size_t i = axes.size(); i > 1; --i) std::swap(axes[i - 1], axes[static_cast<size_t>(d.dice.below(int64_t(i)))]);
  axes.resize(static_cast<size_t>(d.dice.between(1, 3)) > axes.size() ? axes.size() : size_t(d.dice.between(1, 2)));
  // Seeds and offsets beyond 32 bits too.
  Drawn seed = d.whole_number(d.dice.between(0, int64_t{1} << 40)),
        offset = d.whole_number(d.dice.between(0, int64_t{1} << 36));
  return d.make(op, {seed, offset}, AxisList{axes}, 0, 1);
}

}  // namespace kw::ir::random
