#include "ir/interpreter/folds.h"

#include <cstring>
#include <memory>

#include "ir/interpreter/running.h"

namespace kw::ir::interpreter {
namespace {

// ---- any accumulator as a fold ----
template <class State>
void start_states(double* states, int64_t n) {
  static_assert(sizeof(State) % sizeof(double) == 0 && std::is_trivially_destructible_v<State>);
  std::uninitialized_value_construct_n(reinterpret_cast<State*>(states), n);
}

template <class State>
void fold_states(const FoldRun& run) {
  auto* states = std::launder(reinterpret_cast<State*>(run.states));
  if (run.stride == 0) {
    State state = *states;
    for (int64_t i = 0; i < run.n; ++i) state.add(run.values[i], run.bounds ? run.bounds[i] : 0);
    *states = state;
  } else {
    for (int64_t i = 0; i < run.n; ++i) states[i * run.stride].add(run.values[i], run.bounds ? run.bounds[i] : 0);
  }
}

template <class State>
void finish_states(const FoldResult& result) {
  const auto* states = std::launder(reinterpret_cast<const State*>(result.states));
  for (int64_t i = 0; i < result.outputs; ++i) {
    result.values[i] = states[i].value();
    if (result.spreads) result.spreads[i] = states[i].spread(result.model);
  }
}

template <class State>
constexpr FoldMode mode() {
  return {sizeof(State) / sizeof(double), start_states<State>, fold_states<State>, finish_states<State>};
}

// ---- plain doubles, for the speed of real semantics ----
template <int kStart>
void start_plain(double* states, int64_t n) {
  std::fill_n(states, n, static_cast<double>(kStart));
}

void finish_plain(const FoldResult& result) { std::copy_n(result.states, result.outputs, result.values); }

double sum_of_run(const double* x, int64_t n) {
  using Lanes = double __attribute__((vector_size(64)));
  Lanes even{}, odd{};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    Lanes a, b;
    std::memcpy(&a, x + i, sizeof a);
    std::memcpy(&b, x + i + 8, sizeof b);
    even += a;
    odd += b;
  }
  even += odd;
  double sum = ((even[0] + even[1]) + (even[2] + even[3])) + ((even[4] + even[5]) + (even[6] + even[7]));
  for (; i < n; ++i) sum += x[i];
  return sum;
}

void fold_sum(const FoldRun& run) {
  double* __restrict sum = run.states;
  const double* __restrict x = run.values;
  if (run.stride == 0) {
    *sum += sum_of_run(x, run.n);
  } else if (run.stride == 1) {
    for (int64_t i = 0; i < run.n; ++i) sum[i] += x[i];
  } else {
    for (int64_t i = 0; i < run.n; ++i) sum[i * run.stride] += x[i];
  }
}

void finish_mean(const FoldResult& result) {
  for (int64_t i = 0; i < result.outputs; ++i) result.values[i] = result.states[i] / static_cast<double>(result.terms);
}

void fold_product(const FoldRun& run) {
  for (int64_t i = 0; i < run.n; ++i) run.states[i * run.stride] *= run.values[i];
}

constexpr FoldMode kPlainSum{1, start_plain<0>, fold_sum, finish_plain};
constexpr FoldMode kPlainMean{1, start_plain<0>, fold_sum, finish_mean};
constexpr FoldMode kPlainProduct{1, start_plain<1>, fold_product, finish_plain};

}  // namespace

const Folding kFoldSum{kPlainSum, mode<RunningSum>()};
const Folding kFoldMean{kPlainMean, mode<RunningMean>()};
const Folding kFoldProd{kPlainProduct, mode<RunningProduct>()};
const Folding kFoldMax{mode<ReducedExtreme<MaxFn>>(), mode<ReducedExtreme<MaxFn>>()};
const Folding kFoldMin{mode<ReducedExtreme<MinFn>>(), mode<ReducedExtreme<MinFn>>()};
const Folding kFoldAny{mode<RunningLogic<true>>(), mode<RunningLogic<true>>()};
const Folding kFoldAll{mode<RunningLogic<false>>(), mode<RunningLogic<false>>()};
const Folding kFoldLogSumExp{mode<RunningLogSumExp>(), mode<RunningLogSumExp>()};

}  // namespace kw::ir::interpreter
