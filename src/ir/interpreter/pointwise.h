// Pointwise functions over tiles. An operand is contiguous or one value for the whole tile, so that every inner loop
// vectorises.
#pragma once

#include <cstring>
#include <type_traits>

#include "ir/interpreter/functions.h"
#include "ir/interpreter/meaning.h"

namespace kw::ir::interpreter {

template <class F>
void map_unary(PointwiseCall& call) {
  const F f;
  const double* __restrict x = call.in[0].values;
  double* __restrict out = call.out;
  if (call.in[0].step == 0) {
    const double v = f(*x);
    for (int64_t i = 0; i < call.n; ++i) out[i] = v;
  } else {
    for (int64_t i = 0; i < call.n; ++i) out[i] = f(x[i]);
  }
}

// Two doubles at a time, spelled out: the compiler vectorises no loop of unknown length at -O2.
using Lanes = double __attribute__((vector_size(16)));
inline constexpr int64_t kLanes = 2;

inline Lanes load(const double* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
inline Lanes splat(double x) { return Lanes{x, x}; }
inline void store(double* to, const Lanes& lanes) { std::memcpy(to, &lanes, sizeof lanes); }

template <class F, class A, class B>
void map_lanes(const F& f, const A& a, const B& b, double* out, int64_t n) {
  int64_t i = 0;
  if constexpr (std::is_invocable_v<F, Lanes, Lanes>)
    for (; i + kLanes <= n; i += kLanes) store(out + i, f(a.lanes(i), b.lanes(i)));
  for (; i < n; ++i) out[i] = f(a.at(i), b.at(i));
}

struct Stream {
  const double* from;
  double at(int64_t i) const { return from[i]; }
  Lanes lanes(int64_t i) const { return load(from + i); }
};
struct Constant {
  explicit Constant(double x) : x(x), all(splat(x)) {}
  double x;
  Lanes all;
  double at(int64_t) const { return x; }
  const Lanes& lanes(int64_t) const { return all; }
};

template <class F>
void map_binary(PointwiseCall& call) {
  const F f;
  const double *a = call.in[0].values, *b = call.in[1].values;
  if (call.in[0].step && call.in[1].step)
    map_lanes(f, Stream{a}, Stream{b}, call.out, call.n);
  else if (call.in[0].step)
    map_lanes(f, Stream{a}, Constant(*b), call.out, call.n);
  else if (call.in[1].step)
    map_lanes(f, Constant(*a), Stream{b}, call.out, call.n);
  else
    std::fill_n(call.out, call.n, f(*a, *b));
}

inline double bound_at(const TileOperand& operand, int64_t i) {
  return operand.bounds ? operand.bounds[i * operand.step] : 0;
}

// What may be anything may be NaN, which no function makes a number again; a truth is one of two at worst.
template <class S>
inline constexpr bool kTellsTruths = std::is_same_v<S, CompareSpread> || std::is_same_v<S, LogicalNotSpread>;

template <class S>
void spread_unary(const PointwiseCall& call) {
  const TileOperand& x = call.in[0];
  for (int64_t i = 0; i < call.n; ++i) {
    const double e = bound_at(x, i);
    if (!kTellsTruths<S> && std::isinf(e))
      call.spreads[i] = kInfinity;
    else
      call.spreads[i] = e == 0 ? 0 : S{}(x.values[i * x.step], e, call.out[i]);
  }
}

// An operand is NaN whatever the kernel does, and the result with it.
inline bool is_surely_undefined(const TileOperand& a, const TileOperand& b, int64_t i, double out) {
  return std::isnan(out) && ((std::isnan(a.values[i * a.step]) && bound_at(a, i) == 0) ||
                             (std::isnan(b.values[i * b.step]) && bound_at(b, i) == 0));
}

template <class S>
void spread_binary(const PointwiseCall& call) {
  const TileOperand &a = call.in[0], &b = call.in[1];
  for (int64_t i = 0; i < call.n; ++i) {
    const double ea = bound_at(a, i), eb = bound_at(b, i);
    if (!kTellsTruths<S> && (std::isinf(ea) || std::isinf(eb)))
      call.spreads[i] = is_surely_undefined(a, b, i, call.out[i]) ? 0 : kInfinity;
    else
      call.spreads[i] = ea == 0 && eb == 0 ? 0 : S{}(a.values[i * a.step], ea, b.values[i * b.step], eb, call.out[i]);
  }
}

// Those whose loop depends on the type or on the operands.
void map_not(PointwiseCall& call);
void spread_not(const PointwiseCall& call);
void map_mul(PointwiseCall& call);
void map_floor_div(PointwiseCall& call);
void map_mod(PointwiseCall& call);
void map_pow(PointwiseCall& call);
void map_shl(PointwiseCall& call);
void map_shr(PointwiseCall& call);
void map_select(PointwiseCall& call);
void spread_select(const PointwiseCall& call);

}  // namespace kw::ir::interpreter
