#include "ir/interpreter/rounding.h"

#include <algorithm>
#include <bit>

namespace kw::ir::interpreter {
namespace {

// Rounds an f32 value to a narrower float by adding and taking away a number whose last place is the type's: the sum's
// own rounding (to nearest even) does it, subnormals included. Vectorises, where a call of nearbyint would not.
class NarrowFloat {
 public:
  explicit NarrowFloat(DType type)
      : fraction_shift_(52 - (info(type).mantissa_bits - 1)),
        least_exponent_(static_cast<uint64_t>(info(type).min_exponent + 1023) << 52),
        max_finite_(info(type).max_finite),
        overflow_(type == DType::F8E4M3 ? std::numeric_limits<double>::quiet_NaN() : kInfinity) {}

  double operator()(double value) const {
    const uint64_t exponent = std::bit_cast<uint64_t>(value) & kExponentMask;
    const uint64_t at_least = exponent > least_exponent_ ? exponent : least_exponent_;
    const double anchor = 1.5 * std::bit_cast<double>(at_least + (static_cast<uint64_t>(fraction_shift_) << 52));
    const double magnitude = std::fabs((value + anchor) - anchor);
    const double kept = magnitude > max_finite_ ? overflow_ : magnitude;
    // An f32 exponent leaves room for the anchor; infinity and NaN do not.
    const double special = std::isnan(value) ? value : overflow_;
    return std::copysign(exponent == kExponentMask ? special : kept, value);
  }

 private:
  static constexpr uint64_t kExponentMask = 0x7FF0000000000000ull;
  int fraction_shift_;
  uint64_t least_exponent_;
  double max_finite_;
  double overflow_;
};

// Of a value that is computed in f64, as the oracle's own is: its last places, and of a subnormal number the last one.
double last_places(double value, double places) {
  const double error = scaled(value, places * unit_roundoff(DType::F64));
  const bool subnormal = value != 0 && std::fabs(value) < std::numeric_limits<double>::min();
  return subnormal ? std::max(error, std::numeric_limits<double>::denorm_min()) : error;
}

bool is_narrow(DType type) { return is_floating(type) && opmath(type) == DType::F32 && type != DType::F32; }

}  // namespace

double round_through(DType type, double value) {
  if (is_narrow(type)) return NarrowFloat(type)(static_cast<float>(value));
  return round_to(type, value);
}

void round_values(DType type, double* values, int64_t n) {
  if (is_narrow(type)) {
    const NarrowFloat narrow(type);
    for (int64_t i = 0; i < n; ++i) values[i] = narrow(static_cast<float>(values[i]));
  } else if (type == DType::F32) {
    for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(values[i]);
  } else if (type == DType::I64) {
    for (int64_t i = 0; i < n; ++i) values[i] = std::isfinite(values[i]) ? std::trunc(values[i]) : 0;
  } else if (type != DType::F64 && !is_weak(type)) {
    for (int64_t i = 0; i < n; ++i) values[i] = round_to(type, values[i]);
  }
}

double unit_roundoff(DType type) {
  return is_floating(type) && !is_weak(type) ? std::ldexp(1.0, -info(type).mantissa_bits) : 0;
}

namespace {

template <class Round>
void round_with_bounds(const Round& round, DType type, Exactness exactness, double* values, double* spreads,
                       int64_t n) {
  // The oracle works in fp64: where the kernel does too, its own last places are part of the difference.
  const bool as_exact = type == DType::F64, fuses = exactness == Exactness::Fusible && type == opmath(type);
  for (int64_t i = 0; i < n; ++i) {
    const double exact = values[i];
    // Nothing known times an infinite uncertainty: anything.
    const double spread = std::isnan(spreads[i]) ? kInfinity : spreads[i];
    const double rounded = round(exact);
    double bound = 0;
    if (spreads[i] == kInfinity) {
      bound = kInfinity;  // also where the oracle has no number: what overflows here need not overflow there
    } else if (spread > 0 && std::isfinite(exact)) {
      // An end that is a tie here may lie a little beyond it there: a term too small for these sums was lost.
      const double high = exact + spread, low = exact - spread;
      bound = std::max(gap(round(high + std::fabs(high) * 0x1p-52), rounded),
                       gap(round(low - std::fabs(low) * 0x1p-52), rounded));
      if (as_exact) bound += last_places(exact, 2);
    }
    if (fuses) {
      const double unrounded = as_exact ? last_places(rounded, 1) : gap(exact, rounded);
      if (std::isfinite(rounded)) bound = std::max(bound, spread + unrounded);
    }
    values[i] = rounded;
    spreads[i] = bound;
  }
}

}  // namespace

void round_with_bounds(DType type, Exactness exactness, double* values, double* spreads, int64_t n) {
  if (exactness == Exactness::Moved || is_weak(type)) return;
  const auto with = [&](const auto& round) { round_with_bounds(round, type, exactness, values, spreads, n); };
  if (is_narrow(type))
    with([narrow = NarrowFloat(type)](double value) { return narrow(static_cast<float>(value)); });
  else if (type == DType::F32)
    with([](double value) { return static_cast<double>(static_cast<float>(value)); });
  else
    with([type](double value) { return round_to(type, value); });
}

}  // namespace kw::ir::interpreter
