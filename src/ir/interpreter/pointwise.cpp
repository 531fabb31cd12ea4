#include "ir/interpreter/pointwise.h"

namespace kw::ir::interpreter {
namespace {

int bits_of(DType type) { return is_weak(type) ? 64 : 8 * info(type).bytes; }

// Products and powers wrap like PyTorch's, and are exact beyond what doubles keep: of types up to 32 bits the last 32
// are taken before a double is made of them.
template <class Wrapped>
struct IntegerMulFn {
  double operator()(double a, double b) const {
    const auto x = static_cast<uint64_t>(static_cast<int64_t>(a)), y = static_cast<uint64_t>(static_cast<int64_t>(b));
    return static_cast<double>(static_cast<Wrapped>(x * y));
  }
};
template <class Wrapped>
struct IntegerPowFn {
  double operator()(double a, double b) const {
    return static_cast<double>(static_cast<Wrapped>(pow_of_integers(a, b)));
  }
};
template <template <class> class F>
void map_wrapped(PointwiseCall& call) {
  bits_of(call.type) <= 32 ? map_binary<F<int32_t>>(call) : map_binary<F<int64_t>>(call);
}

struct IntegerFloorDivFn {
  double operator()(double a, double b) const {
    const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
    if (y == 0) return 0;
    if (y == -1) return -a;
    return static_cast<double>(x / y - (x % y != 0 && (x < 0) != (y < 0)));
  }
};

struct IntegerModFn {
  double operator()(double a, double b) const {
    const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
    if (y == 0 || y == -1) return 0;
    const int64_t rest = x % y;
    return static_cast<double>(rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
  }
};

void note_zero_divisor(PointwiseCall& call) {
  const TileOperand& divisor = call.in[1];
  for (int64_t i = 0; i < (divisor.step ? call.n : 1); ++i) call.divided_by_zero |= divisor.values[i] == 0;
}

struct CubeFn {
  double operator()(double x) const { return x * x * x; }
};
struct ReciprocalFn {
  double operator()(double x) const { return 1 / x; }
};

}  // namespace

void map_not(PointwiseCall& call) {
  if (call.type == DType::Bool) {
    map_unary<LogicalNotFn>(call);
  } else {
    map_unary<BitwiseNotFn>(call);
  }
}

void spread_not(const PointwiseCall& call) {
  if (call.type == DType::Bool) {
    spread_unary<LogicalNotSpread>(call);
  } else {
    spread_unary<SameSpread>(call);
  }
}

void map_mul(PointwiseCall& call) {
  if (is_floating(call.type)) {
    map_binary<MulFn>(call);
  } else {
    map_wrapped<IntegerMulFn>(call);
  }
}

void map_floor_div(PointwiseCall& call) {
  if (is_floating(call.type)) return map_binary<FloorDivFn>(call);
  note_zero_divisor(call);
  map_binary<IntegerFloorDivFn>(call);
}

void map_mod(PointwiseCall& call) {
  if (is_floating(call.type)) return map_binary<ModFn>(call);
  note_zero_divisor(call);
  map_binary<IntegerModFn>(call);
}

// The exponents that models write are evaluated by what they mean: the library's pow takes 50 times as long.
void map_pow(PointwiseCall& call) {
  if (!is_floating(call.type)) return map_wrapped<IntegerPowFn>(call);
  if (call.in[1].step == 0) {
    const double exponent = *call.in[1].values;
    if (exponent == 2) {
      PointwiseCall square = call;
      square.in[1] = call.in[0];
      return map_binary<MulFn>(square);
    }
    if (exponent == 3) return map_unary<CubeFn>(call);
    if (exponent == 1) return map_unary<SameFn>(call);
    if (exponent == -1) return map_unary<ReciprocalFn>(call);
  }
  map_binary<PowFn>(call);
}

// Shifts by less than nothing or past the width leave what PyTorch leaves: nothing, or the sign.
void map_shl(PointwiseCall& call) {
  const int bits = bits_of(call.type);
  for (int64_t i = 0; i < call.n; ++i) {
    const double a = call.in[0].values[i * call.in[0].step], by = call.in[1].values[i * call.in[1].step];
    const auto x = static_cast<uint64_t>(static_cast<int64_t>(a));
    call.out[i] = by < 0 || by >= bits ? 0 : static_cast<double>(static_cast<int64_t>(x << static_cast<int>(by)));
  }
}

void map_shr(PointwiseCall& call) {
  const int bits = bits_of(call.type);
  for (int64_t i = 0; i < call.n; ++i) {
    const double a = call.in[0].values[i * call.in[0].step], by = call.in[1].values[i * call.in[1].step];
    const auto x = static_cast<int64_t>(a);
    call.out[i] = by < 0 || by >= bits ? (a < 0 ? -1 : 0) : static_cast<double>(x >> static_cast<int>(by));
  }
}

void map_select(PointwiseCall& call) {
  const TileOperand &condition = call.in[0], &then = call.in[1], &otherwise = call.in[2];
  const double *c = condition.values, *a = then.values, *b = otherwise.values;
  double* __restrict out = call.out;
  const int64_t cs = condition.step, as = then.step, bs = otherwise.step;
  if (cs && as && bs) {
    for (int64_t i = 0; i < call.n; ++i) out[i] = c[i] != 0 ? a[i] : b[i];
  } else {
    for (int64_t i = 0; i < call.n; ++i) out[i] = c[i * cs] != 0 ? a[i * as] : b[i * bs];
  }
}

void spread_select(const PointwiseCall& call) {
  const TileOperand &condition = call.in[0], &then = call.in[1], &otherwise = call.in[2];
  for (int64_t i = 0; i < call.n; ++i) {
    const bool taken = condition.values[i * condition.step] != 0;
    const TileOperand &chosen = taken ? then : otherwise, &other = taken ? otherwise : then;
    double spread = bound_at(chosen, i);
    if (bound_at(condition, i) > 0)
      spread = std::max(spread, gap(chosen.values[i * chosen.step], other.values[i * other.step]) + bound_at(other, i));
    call.spreads[i] = spread;
  }
}

}  // namespace kw::ir::interpreter
