// Derivatives of the pointwise ops, in the form and order of operations of PyTorch's own.
#include <cmath>
#include <numbers>

#include "ir/derivative/adjoint.h"

namespace kw::ir::vjp {
namespace {

// The literal of a Const operand, where the exponent or base of a power is known when the graph is read.
const Literal* literal(const Adjoint& at, NodeId n) { return std::get_if<Literal>(&at.b[n].attr); }

Status give(Adjoint& at, NodeId contribution) {
  at.give(0, contribution);
  return {};
}

// PyTorch's tanh and sigmoid derivatives are one kernel each: they compute in opmath and round once.
template <class Formula>
Status give_in_opmath(Adjoint& at, Formula formula) {
  Type wide = opmath(at.node.type);
  return give(at, at.b.cast(formula(at.b.cast(at.dy, wide), at.b.cast(at.y, wide)), at.node.type));
}

Status extremum(Adjoint& at, bool is_max) {
  NodeId a = at.x(0), c = at.x(1);
  NodeId a_is_less = at.b.make(Op::Lt, {a, c}), c_is_less = at.b.make(Op::Lt, {c, a});
  NodeId tie = at.b.make(Op::Eq, {a, c});
  NodeId zero = at.b.constant(0.0);
  // A number as operand is PyTorch's clamp, which passes the whole cotangent at a tie; between tensors it is maximum or
  // minimum, which halves it.
  bool with_number = at.type_of(a).weak() || at.type_of(c).weak();
  NodeId passed = with_number ? at.dy : at.select(tie, at.mul(at.dy, at.b.constant(0.5)), at.dy);
  at.give(0, at.select(is_max ? a_is_less : c_is_less, zero, passed));
  at.give(1, at.select(is_max ? c_is_less : a_is_less, zero, passed));
  return {};
}

}  // namespace

Status neg(Adjoint& at) { return give(at, at.neg(at.dy)); }
Status abs(Adjoint& at) { return give(at, at.mul(at.dy, at.b.make(Op::Sign, {at.x(0)}))); }
Status sqrt(Adjoint& at) { return give(at, at.div(at.dy, at.mul(at.b.constant(2.0), at.y))); }
Status rsqrt(Adjoint& at) {
  return give(at, at.mul(at.mul(at.b.constant(-0.5), at.dy), at.mul(at.square(at.y), at.y)));
}
Status exp(Adjoint& at) { return give(at, at.times_value(at.dy, at.y)); }
Status exp2(Adjoint& at) { return give(at, at.mul(at.times_value(at.dy, at.y), at.b.constant(std::numbers::ln2))); }
Status expm1(Adjoint& at) { return give(at, at.mul(at.dy, at.add(at.y, at.b.constant(1.0)))); }
Status log(Adjoint& at) { return give(at, at.div(at.dy, at.x(0))); }
Status log2(Adjoint& at) { return give(at, at.div(at.dy, at.mul(at.x(0), at.b.constant(std::numbers::ln2)))); }
Status log1p(Adjoint& at) { return give(at, at.div(at.dy, at.add(at.x(0), at.b.constant(1.0)))); }
Status sin(Adjoint& at) { return give(at, at.mul(at.dy, at.b.make(Op::Cos, {at.x(0)}))); }
Status cos(Adjoint& at) { return give(at, at.neg(at.mul(at.dy, at.b.make(Op::Sin, {at.x(0)})))); }
Status tan(Adjoint& at) { return give(at, at.mul(at.dy, at.add(at.b.constant(1.0), at.square(at.y)))); }
Status sinh(Adjoint& at) { return give(at, at.mul(at.dy, at.b.make(Op::Cosh, {at.x(0)}))); }
Status cosh(Adjoint& at) { return give(at, at.mul(at.dy, at.b.make(Op::Sinh, {at.x(0)}))); }

Status asin(Adjoint& at) {
  return give(at, at.mul(at.dy, at.b.make(Op::Rsqrt, {at.sub(at.b.constant(1.0), at.square(at.x(0)))})));
}
Status acos(Adjoint& at) {
  return give(at, at.neg(at.mul(at.dy, at.b.make(Op::Rsqrt, {at.sub(at.b.constant(1.0), at.square(at.x(0)))}))));
}
Status atan(Adjoint& at) { return give(at, at.div(at.dy, at.add(at.square(at.x(0)), at.b.constant(1.0)))); }
Status asinh(Adjoint& at) {
  return give(at, at.mul(at.dy, at.b.make(Op::Rsqrt, {at.add(at.square(at.x(0)), at.b.constant(1.0))})));
}
Status acosh(Adjoint& at) {
  return give(at, at.mul(at.dy, at.b.make(Op::Rsqrt, {at.sub(at.square(at.x(0)), at.b.constant(1.0))})));
}
Status atanh(Adjoint& at) { return give(at, at.div(at.dy, at.sub(at.b.constant(1.0), at.square(at.x(0))))); }

Status tanh(Adjoint& at) {
  return give_in_opmath(at, [&](NodeId dy, NodeId y) { return at.mul(dy, at.sub(at.b.constant(1.0), at.square(y))); });
}
Status sigmoid(Adjoint& at) {
  return give_in_opmath(at, [&](NodeId dy, NodeId y) { return at.mul(at.mul(dy, y), at.sub(at.b.constant(1.0), y)); });
}

Status erf(Adjoint& at) {
  NodeId bell = at.b.make(Op::Exp, {at.neg(at.square(at.x(0)))});
  return give(at, at.mul(at.dy, at.mul(at.b.constant(2.0 * std::numbers::inv_sqrtpi), bell)));
}
Status erfc(Adjoint& at) {
  NodeId bell = at.b.make(Op::Exp, {at.neg(at.square(at.x(0)))});
  return give(at, at.mul(at.dy, at.mul(at.b.constant(-2.0 * std::numbers::inv_sqrtpi), bell)));
}
Status erfinv(Adjoint& at) {
  NodeId inverse_bell = at.b.make(Op::Exp, {at.square(at.y)});
  return give(at, at.mul(at.dy, at.mul(at.b.constant(0.5 / std::numbers::inv_sqrtpi), inverse_bell)));
}

Status cast(Adjoint& at) { return give(at, at.dy); }  // giving it casts it back

Status add(Adjoint& at) {
  at.give(0, at.dy);
  at.give(1, at.dy);
  return {};
}

Status sub(Adjoint& at) {
  at.give(0, at.dy);
  if (at.wants(1)) at.give(1, at.neg(at.summed_to(1, at.dy)), at.axes_of(at.x(1)));
  return {};
}

Status mul(Adjoint& at) {
  if (at.x(0) == at.x(1)) return give(at, at.mul(at.b.constant(2.0), at.mul(at.dy, at.x(0))));
  if (at.wants(0)) at.give(0, at.mul(at.dy, at.x(1)));
  if (at.wants(1)) at.give(1, at.mul(at.dy, at.x(0)));
  return {};
}

// The divisor lacks the axes that its cotangent is summed over, so the division comes behind the sum.
Status div(Adjoint& at) {
  NodeId divisor = at.x(1);
  if (at.wants(0)) at.give(0, at.div(at.dy, divisor));
  if (at.wants(1)) {
    NodeId sum = at.summed_to(1, at.mul(at.dy, at.y));
    at.give(1, at.div(at.neg(sum), divisor), at.axes_of(divisor));
  }
  return {};
}

Status mod(Adjoint& at) {
  at.give(0, at.dy);
  if (at.wants(1)) {
    NodeId quotient = at.b.make(Op::FloorDiv, {at.x(0), at.x(1)});
    at.give(1, at.neg(at.summed_to(1, at.mul(at.dy, quotient))), at.axes_of(at.x(1)));
  }
  return {};
}

// x^p: p*x^(p-1) and y*ln(x), with PyTorch's values where these are 0*inf: x^0 has no slope in x, 0^p none in p.
Status pow(Adjoint& at) {
  NodeId base = at.x(0), exponent = at.x(1);
  NodeId zero = at.b.constant(0.0);
  if (at.wants(0)) {
    if (const Literal* known = literal(at, exponent)) {
      double p = known->number();
      const int64_t* whole = std::get_if<int64_t>(&known->value);
      NodeId less_one = whole ? at.b.integer(*whole - 1) : at.b.constant(p - 1);
      NodeId power = p == 2 ? base : at.b.make(Op::Pow, {base, less_one});
      if (p == 1) at.give(0, at.dy);
      if (p != 0 && p != 1) at.give(0, at.mul(at.dy, at.mul(exponent, power)));
    } else {
      NodeId power = at.b.make(Op::Pow, {base, at.sub(exponent, at.b.integer(1))});
      NodeId flat = at.b.make(Op::Eq, {exponent, zero});
      at.give(0, at.select(flat, zero, at.mul(at.dy, at.mul(exponent, power))));
    }
  }
  if (at.wants(1)) {
    const Literal* known = literal(at, base);
    if (known && known->number() > 0) {
      at.give(1, at.mul(at.mul(at.dy, at.y), at.b.constant(std::log(known->number()))));
    } else {
      NodeId flat = at.b.make(Op::And, {at.b.make(Op::Eq, {base, zero}), at.b.make(Op::Le, {zero, exponent})});
      NodeId slope = at.mul(at.y, at.b.make(Op::Log, {base}));
      at.give(1, at.mul(at.dy, at.select(flat, zero, slope)));
    }
  }
  return {};
}

Status atan2(Adjoint& at) {
  NodeId over = at.x(0), under = at.x(1);
  NodeId scaled = at.div(at.dy, at.add(at.square(over), at.square(under)));
  if (at.wants(0)) at.give(0, at.mul(scaled, under));
  if (at.wants(1)) at.give(1, at.neg(at.summed_to(1, at.mul(scaled, over))), at.axes_of(under));
  return {};
}

Status max(Adjoint& at) { return extremum(at, true); }
Status min(Adjoint& at) { return extremum(at, false); }

Status select(Adjoint& at) {
  NodeId zero = at.b.constant(0.0);
  if (at.wants(1)) at.give(1, at.select(at.x(0), at.dy, zero));
  if (at.wants(2)) at.give(2, at.select(at.x(0), zero, at.dy));
  return {};
}

}  // namespace kw::ir::vjp
