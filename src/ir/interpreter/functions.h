// The pointwise primitives as functions of doubles, and how an error of the operands moves each.
//
// A `spread` gives, from operands x ± e and the exact value v at their centre, a width that covers the function over
// the whole box: by the ends where it is monotone, by its slope elsewhere. Where the function is not defined everywhere
// in the box, or jumps without limit, the width is infinite.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ir/interpreter/rounding.h"

namespace kw::ir::interpreter {

inline constexpr double kPi = 3.14159265358979323846;

double erfinv(double x);
int64_t pow_of_integers(double base, double exponent);

// ---- one operand ----
#define KW_FUNCTION(Name, expression)                        \
  struct Name {                                              \
    double operator()(double x) const { return expression; } \
  }
KW_FUNCTION(NegFn, -x);
KW_FUNCTION(AbsFn, std::fabs(x));
KW_FUNCTION(SignFn, static_cast<double>((x > 0) - (x < 0)));
KW_FUNCTION(FloorFn, std::floor(x));
KW_FUNCTION(CeilFn, std::ceil(x));
KW_FUNCTION(RoundFn, std::nearbyint(x));
KW_FUNCTION(TruncFn, std::trunc(x));
KW_FUNCTION(SqrtFn, std::sqrt(x));
KW_FUNCTION(RsqrtFn, 1 / std::sqrt(x));
KW_FUNCTION(ExpFn, std::exp(x));
KW_FUNCTION(Exp2Fn, std::exp2(x));
KW_FUNCTION(Expm1Fn, std::expm1(x));
KW_FUNCTION(LogFn, std::log(x));
KW_FUNCTION(Log2Fn, std::log2(x));
KW_FUNCTION(Log1pFn, std::log1p(x));
KW_FUNCTION(SinFn, std::sin(x));
KW_FUNCTION(CosFn, std::cos(x));
KW_FUNCTION(TanFn, std::tan(x));
KW_FUNCTION(AsinFn, std::asin(x));
KW_FUNCTION(AcosFn, std::acos(x));
KW_FUNCTION(AtanFn, std::atan(x));
KW_FUNCTION(SinhFn, std::sinh(x));
KW_FUNCTION(CoshFn, std::cosh(x));
KW_FUNCTION(TanhFn, std::tanh(x));
KW_FUNCTION(AsinhFn, std::asinh(x));
KW_FUNCTION(AcoshFn, std::acosh(x));
KW_FUNCTION(AtanhFn, std::atanh(x));
KW_FUNCTION(ErfFn, std::erf(x));
KW_FUNCTION(ErfcFn, std::erfc(x));
KW_FUNCTION(ErfinvFn, erfinv(x));
KW_FUNCTION(SigmoidFn, 1 / (1 + std::exp(-x)));
KW_FUNCTION(LogicalNotFn, static_cast<double>(x == 0));
KW_FUNCTION(BitwiseNotFn, -x - 1);
KW_FUNCTION(SameFn, x);
#undef KW_FUNCTION

template <class F>
struct MonotoneSpread {
  double operator()(double x, double e, double v) const { return std::max(gap(F{}(x - e), v), gap(F{}(x + e), v)); }
};
struct SameSpread {
  double operator()(double, double e, double) const { return e; }
};
struct SineSpread {  // |sin'| and |cos'| are at most 1, and the whole range is 2 wide
  double operator()(double, double e, double) const { return std::min(e, 2.0); }
};
struct CoshSpread {
  double operator()(double x, double e, double v) const {
    const double ends = MonotoneSpread<CoshFn>{}(x, e, v);
    return std::fabs(x) < e ? std::max(ends, v - 1) : ends;
  }
};
struct TanSpread {
  double operator()(double x, double e, double v) const {
    const double low = std::tan(x - e), high = std::tan(x + e);
    const bool crosses_a_pole = !(e < kPi / 2) || !(low <= v) || !(v <= high);
    return crosses_a_pole ? kInfinity : std::max(high - v, v - low);
  }
};
struct LogicalNotSpread {
  double operator()(double, double e, double) const { return e > 0 ? 1 : 0; }
};

// ---- two operands; those on any T also take vectors of doubles ----
struct AddFn {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct SubFn {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct MulFn {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct DivFn {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct ModFn {
  double operator()(double a, double b) const {
    const double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
};
// As PyTorch: the quotient of what remains without the rest, so that no rounding of a/b reaches the next integer.
struct FloorDivFn {
  double operator()(double a, double b) const {
    if (b == 0) return a / b;
    double rest = std::fmod(a, b);
    double quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(0.0, a / b);
    const double whole = std::floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
  }
};
struct PowFn {
  double operator()(double a, double b) const { return std::pow(a, b); }
};
struct Atan2Fn {
  double operator()(double a, double b) const { return std::atan2(a, b); }
};
struct MaxFn {
  double operator()(double a, double b) const { return a > b || a != a ? a : b; }
};
struct MinFn {
  double operator()(double a, double b) const { return a < b || a != a ? a : b; }
};
struct LtFn {
  double operator()(double a, double b) const { return a < b; }
};
struct LeFn {
  double operator()(double a, double b) const { return a <= b; }
};
struct EqFn {
  double operator()(double a, double b) const { return a == b; }
};
struct NeFn {
  double operator()(double a, double b) const { return a != b; }
};
struct AndFn {
  double operator()(double a, double b) const {
    return static_cast<double>(static_cast<int64_t>(a) & static_cast<int64_t>(b));
  }
};
struct OrFn {
  double operator()(double a, double b) const {
    return static_cast<double>(static_cast<int64_t>(a) | static_cast<int64_t>(b));
  }
};
struct XorFn {
  double operator()(double a, double b) const {
    return static_cast<double>(static_cast<int64_t>(a) ^ static_cast<int64_t>(b));
  }
};

struct SumSpread {  // Add, Sub
  double operator()(double, double ea, double, double eb, double) const { return ea + eb; }
};
struct ProductSpread {
  double operator()(double a, double ea, double b, double eb, double v) const {
    const bool sure_signs = std::fabs(a) > ea && std::fabs(b) > eb;
    if (std::isinf(v) && sure_signs && (std::isinf(a) || std::isinf(b))) return 0;
    return scaled(b, ea) + scaled(a, eb) + (ea == 0 ? 0 : scaled(ea, eb));
  }
};
struct QuotientSpread {
  double operator()(double a, double ea, double b, double eb, double v) const {
    const double least = std::fabs(b) - eb;
    if (std::isinf(a) && std::isfinite(ea) && least > 0) return 0;
    if (b != 0 && least > 0) return std::isinf(b) ? gap(0, scaled(1 / b, ea)) : (ea + scaled(v, eb)) / least;
    // Over an exact zero the quotient is infinite, and sure where the dividend's sign is.
    return b == 0 && eb == 0 && std::fabs(a) > ea ? 0 : kInfinity;
  }
};
struct FloorDivSpread {
  double operator()(double a, double ea, double b, double eb, double v) const {
    const double quotient = a / b, spread = QuotientSpread{}(a, ea, b, eb, quotient);
    if (!std::isfinite(spread)) return kInfinity;
    return std::max(gap(std::floor(quotient - spread), v), gap(std::floor(quotient + spread), v));
  }
};
struct ModSpread {
  double operator()(double a, double ea, double b, double eb, double) const {
    const double quotient = std::floor(a / b);
    if (FloorDivSpread{}(a, ea, b, eb, quotient) > 0) return std::fabs(b) + eb;  // it may wrap around
    return ea + scaled(quotient, eb);
  }
};
double pow_spread(double a, double ea, double b, double eb, double v);
struct PowSpread {
  double operator()(double a, double ea, double b, double eb, double v) const { return pow_spread(a, ea, b, eb, v); }
};
struct Atan2Spread {
  double operator()(double y, double ey, double x, double ex, double v) const {
    const bool on_the_cut = std::fabs(y) <= ey && x - ex <= 0;
    if (on_the_cut) return 2 * kPi;
    double widest = 0;  // the angle over a box that misses the origin has its extremes at corners
    for (double cy : {y - ey, y + ey})
      for (double cx : {x - ex, x + ex}) widest = std::max(widest, gap(std::atan2(cy, cx), v));
    return widest;
  }
};
template <class F>
struct CornerSpread {  // Max, Min: monotone in both operands
  double operator()(double a, double ea, double b, double eb, double v) const {
    return std::max(gap(F{}(a - ea, b - eb), v), gap(F{}(a + ea, b + eb), v));
  }
};
struct CompareSpread {  // Lt, Le, Eq, Ne: undecided where the intervals meet
  double operator()(double a, double ea, double b, double eb, double) const {
    if (std::isnan(a) || std::isnan(b)) return 0;
    if (std::isinf(ea) || std::isinf(eb)) return 1;
    return std::fabs(a - b) <= ea + eb ? 1 : 0;
  }
};
// Over bools every alternative is tried; an uncertain integer may give anything.
template <class F>
struct LogicSpread {
  double operator()(double a, double ea, double b, double eb, double v) const {
    const bool logical = (a == 0 || a == 1) && (b == 0 || b == 1) && ea <= 1 && eb <= 1;
    if (!logical) return kInfinity;
    bool differs = false;
    if (ea > 0) differs |= F{}(1 - a, b) != v;
    if (eb > 0) differs |= F{}(a, 1 - b) != v;
    if (ea > 0 && eb > 0) differs |= F{}(1 - a, 1 - b) != v;
    return differs ? 1 : 0;
  }
};
struct UnknownSpread {  // shifts by or of an uncertain integer
  double operator()(double, double, double, double, double) const { return kInfinity; }
};

}  // namespace kw::ir::interpreter
