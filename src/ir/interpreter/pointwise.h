// Pointwise functions over tiles. An operand is contiguous or one value for the whole tile, so that every inner loop
// vectorises.
#pragma once

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

template <class F>
void map_binary(PointwiseCall& call) {
  const F f;
  const double* a = call.in[0].values;
  const double* b = call.in[1].values;
  double* __restrict out = call.out;
  if (call.in[0].step && call.in[1].step) {
    for (int64_t i = 0; i < call.n; ++i) out[i] = f(a[i], b[i]);
  } else if (call.in[0].step) {
    const double y = *b;
    for (int64_t i = 0; i < call.n; ++i) out[i] = f(a[i], y);
  } else if (call.in[1].step) {
    const double x = *a;
    for (int64_t i = 0; i < call.n; ++i) out[i] = f(x, b[i]);
  } else {
    const double v = f(*a, *b);
    for (int64_t i = 0; i < call.n; ++i) out[i] = v;
  }
}

inline double bound_at(const TileOperand& operand, int64_t i) {
  return operand.bounds ? operand.bounds[i * operand.step] : 0;
}

template <class S>
void spread_unary(const PointwiseCall& call) {
  const TileOperand& x = call.in[0];
  for (int64_t i = 0; i < call.n; ++i) {
    const double e = bound_at(x, i);
    call.spreads[i] = e == 0 ? 0 : S{}(x.values[i * x.step], e, call.out[i]);
  }
}

template <class S>
void spread_binary(const PointwiseCall& call) {
  const TileOperand &a = call.in[0], &b = call.in[1];
  for (int64_t i = 0; i < call.n; ++i) {
    const double ea = bound_at(a, i), eb = bound_at(b, i);
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
