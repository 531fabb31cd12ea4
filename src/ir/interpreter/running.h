// Accumulators: each takes terms x with bounds e one by one and says, at any time, the value so far and its spread over
// every kernel that combines the same terms in any order. Sums are more exact than f64, so that the oracle of an f64
// kernel adds no error of its own.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "ir/interpreter/accuracy.h"
#include "ir/interpreter/functions.h"
#include "ir/interpreter/rounding.h"

namespace kw::ir::interpreter {

constexpr double kExactInDouble = 0x1p53;  // every whole number up to here

struct SumModel {
  double roundoff;  // of the type that sums are accumulated in; 0 for integers
  int64_t longest_serial_chain;
  double largest = kInfinity;  // finite number of that type
  double smallest = 0;         // and its smallest above zero

  // How many roundings a sum of n terms may have gone through before the one that the oracle makes too: a tree's depth
  // and one serial chain, never n. One or two terms have none.
  double roundings(int64_t n) const {
    if (n <= 2) return 0;
    const int64_t depth = std::bit_width(static_cast<uint64_t>(n - 1));  // ⌈log2 n⌉
    return static_cast<double>(std::min(n - 1, depth + longest_serial_chain));
  }
};

struct RunningSum {
  double sum = 0, lost = 0, inexact = 0, magnitude = 0;
  double finite = 0;  // magnitude of the finite terms
  int64_t terms = 0;

  void add(double x, double e) {  // Neumaier: `lost` keeps what the sum's rounding loses
    const double next = sum + x;
    if (std::isfinite(next)) lost += std::fabs(sum) >= std::fabs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
    inexact += e;
    magnitude += std::fabs(x) + e;
    finite += std::isfinite(x) ? std::fabs(x) + e : 0;
    ++terms;
  }
  double value() const { return sum + lost; }
  // Σ e + roundings · u · Σ (|x| + e). An infinite or undefined term makes the sum so in every order, unless the finite
  // ones can overflow to the other infinity.
  double spread(const SumModel& model) const {
    if (std::isinf(value()) && finite > model.largest) return kInfinity;
    if (!std::isfinite(value())) return std::isfinite(inexact) ? 0 : kInfinity;
    if (may_overflow(model) && !surely_overflows(model)) return kInfinity;
    if (model.roundoff == 0 && magnitude > kExactInDouble) return kInfinity;  // whole numbers that a double has not
    return inexact + scaled(magnitude, model.roundings(terms) * model.roundoff);
  }
  // Where the terms together are beyond the type, a partial sum overflows in one order and not in another; with terms
  // of one sign the sum does in every order.
  bool may_overflow(const SumModel& model) const { return terms > 2 && magnitude > model.largest; }
  bool surely_overflows(const SumModel& model) const {
    constexpr double kSlack = 1e-6;
    return std::fabs(value()) > model.largest * (1 + kSlack) && std::fabs(value()) > magnitude * (1 - kSlack);
  }
};

struct RunningMean : RunningSum {
  double value() const { return RunningSum::value() / static_cast<double>(terms); }
  double spread(const SumModel& model) const {
    if (terms == 0) return 0;
    if (!std::isfinite(value())) return RunningSum::spread(model);
    // The sum may be infinite, or its terms scaled down before.
    if (may_overflow(model) || std::fabs(RunningSum::value()) > model.largest) return kInfinity;
    // A kernel divides, or multiplies with the rounded reciprocal.
    return RunningSum::spread(model) / static_cast<double>(terms) + scaled(value(), 3 * model.roundoff);
  }
};

struct RunningProduct {
  double product = 1, widest = 1, inexact = 0;
  double above = 1, below = 1;  // of the finite factors beyond one, and of those below
  bool has_zero = false;
  int64_t terms = 0;

  void add(double x, double e) {
    const double size = std::fabs(x);
    product *= x;
    widest *= size + e;
    inexact += e;
    if (std::isfinite(x)) (size > 1 ? above : below) *= size;
    has_zero |= x == 0;
    ++terms;
  }
  double value() const { return product; }
  // Every factor's rounding stays in a product whatever the order, so that here n roundings are the fewest.
  double spread(const SumModel& model) const {
    // A part of them overflows in one order, and meets small ones before in another.
    if (above > model.largest && below < 1) return kInfinity;
    // What is no number at all where small factors come to nothing before they meet one without end; and whole numbers
    // beyond those that a double holds.
    if (std::isinf(product) && below < model.smallest) return kInfinity;
    if (model.roundoff == 0 && widest > kExactInDouble) return kInfinity;
    if (!std::isfinite(product)) return std::isfinite(inexact) ? 0 : kInfinity;
    const double rounding = terms > 1 ? std::expm1(static_cast<double>(terms) * model.roundoff) : 0;
    const double bound = scaled(widest, rounding) + (inexact > 0 ? gap(widest, std::fabs(product)) : 0);
    // Or is subnormal there, and loses bits before it meets large ones.
    const bool may_lose = terms > 2 && !has_zero && below < model.smallest / model.roundoff;
    return may_lose ? bound + static_cast<double>(terms) * model.smallest * above : bound;
  }
};

template <class F>  // MaxFn or MinFn
struct RunningExtreme {
  static double start() { return F{}(-1, 1) == 1 ? -kInfinity : kInfinity; }
  double extreme = start(), high = start(), low = start();

  void add(double x, double e) {
    extreme = F{}(extreme, x);
    high = F{}(high, x + e);
    low = F{}(low, x - e);
  }
  double value() const { return extreme; }
  double spread(const SumModel&) const { return std::max(gap(high, extreme), gap(low, extreme)); }
};

// Over whole axes: of nothing PyTorch refuses it, so that anything goes.
template <class F>
struct ReducedExtreme : RunningExtreme<F> {
  bool is_empty = true;

  void add(double x, double e) {
    is_empty = false;
    RunningExtreme<F>::add(x, e);
  }
  double spread(const SumModel& model) const { return is_empty ? kInfinity : RunningExtreme<F>::spread(model); }
};

template <bool kAny>
struct RunningLogic {
  int64_t decided = 0, surely = 0, perhaps = 0;

  void add(double x, double e) {
    const bool unsure = e > 0 && std::fabs(x) <= e, decides = (x != 0) == kAny;
    decided |= decides;
    surely |= decides && !unsure;
    perhaps |= unsure;
  }
  double value() const { return (decided != 0) == kAny ? 1 : 0; }
  double spread(const SumModel&) const { return perhaps && !surely ? 1 : 0; }
};

// m + log Σ exp(x - m), rescaled whenever a larger m comes.
struct RunningLogSumExp {
  double m = -kInfinity, sum = 0, high = 0, low = 0;
  double lost = 0;      // by the roundings of `sum`, whose terms are positive
  double distance = 0;  // Σ exp(x - m) |x - m|
  int64_t terms = 0;

  void add(double x, double e) {
    ++terms;
    if (x == -kInfinity && e == 0) return;
    if (x > m) {
      const double shift = m == -kInfinity || x == kInfinity ? -kInfinity : m - x, scale = std::exp(shift);
      distance = scale == 0 ? 0 : (distance - sum * shift) * scale;
      sum *= scale;
      lost *= scale;
      high *= scale;
      low *= scale;
      m = x;
    }
    const double term = x == m ? 1 : std::exp(x - m);
    const double next = sum + term;
    if (std::isfinite(next)) lost += sum >= term ? (sum - next) + term : (term - next) + sum;
    sum = next;
    high += e == 0 ? term : std::exp(x + e - m);
    low += e == 0 ? term : std::exp(x - e - m);
    if (x != m) distance += term * std::fabs(x - m);
  }
  double value() const { return std::isinf(m) && !std::isnan(sum) ? m : m + std::log(sum + lost); }
  double spread(const SumModel& model) const {
    const double u = model.roundoff, log_sum = std::log(sum);
    const bool exact = (high == sum && low == sum) || std::isnan(sum);
    const double moved = exact ? 0 : std::max(gap(std::log(high), log_sum), gap(std::log(low), log_sum));
    if (std::isinf(m) || std::isnan(sum) || terms <= 1) return moved;
    // Each term: exp within its ulps (2 u each) of a difference that was itself rounded; the mean distance weighs both.
    const double mean_distance = distance / sum;
    const double exps = (2 * (ulps_exp(DType::F32, 0, 0) + 1.173 * mean_distance) + mean_distance) * u;
    // An online kernel rescales its partial sums wherever it joins two of them.
    const double joins = 2 * ulps_exp(DType::F32, 0, 0) * std::bit_width(static_cast<uint64_t>(terms)) * u;
    const double last = 2 * u * std::fabs(log_sum) + 2 * u * (std::fabs(m) + std::fabs(value()));
    return moved + exps + joins + model.roundings(terms) * u + last;
  }
};

}  // namespace kw::ir::interpreter
