// The interpreter on rms_norm, forward and backward, on 4096 × 4096. The bar for the two together in real semantics is
// 1.5 s on one core.
#include <benchmark/benchmark.h>

#include <random>

#include "ir/derivative/derivative.h"
#include "ir/interpreter/interpreter.h"
#include "ir/simplify/simplify.h"

namespace {

using namespace kw::ir;

Graph rms_norm() {
  GraphBuilder b;
  const Type T = b.type_parameter("T", DType::BF16);
  const AxisId rows = b.axis("rows", Size::symbol(b.symbol("rows")));
  const AxisId cols = b.axis("cols", Size::symbol(b.symbol("cols")));
  auto input = [&](const char* name, std::vector<AxisId> dims) {
    Input in;
    in.name = name;
    in.type = T;
    in.dims = std::move(dims);
    return b.input(std::move(in));
  };
  const NodeId x = input("x", {rows, cols}), w = input("w", {cols});
  const NodeId x32 = b.cast(x, opmath(T));
  const NodeId ms = b.reduce(Op::Mean, b.make(Op::Pow, {x32, b.integer(2)}), {cols});
  const NodeId rstd = b.make(Op::Rsqrt, {b.make(Op::Add, {ms, b.constant(1e-6)})});
  const NodeId y = b.make(Op::Mul, {b.cast(b.make(Op::Mul, {x32, rstd}), T), w});
  b.output({"y", y, {rows, cols}, std::nullopt});
  return std::move(b).finish();
}

Array random_array(std::vector<int64_t> shape) {
  Array array{std::move(shape), {}};
  size_t count = 1;
  for (int64_t n : array.shape) count *= static_cast<size_t>(n);
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  array.values.resize(count);
  for (double& v : array.values) v = round_to(DType::BF16, uniform(generator));
  return array;
}

Environment inputs(int64_t rows, int64_t cols) {
  Environment call;
  call.inputs["x"] = random_array({rows, cols});
  call.inputs["w"] = random_array({cols});
  return call;
}

void run(benchmark::State& state, const Graph& graph, Environment call, const InterpretOptions& options) {
  for (auto _ : state) {
    auto outputs = interpret(graph, call, options);
    if (!outputs) state.SkipWithError(outputs.error().message.c_str());
    benchmark::DoNotOptimize(outputs);
  }
}

void BM_RmsNormForward(benchmark::State& state) { run(state, rms_norm(), inputs(state.range(0), state.range(0)), {}); }
BENCHMARK(BM_RmsNormForward)->Arg(4096)->Unit(benchmark::kMillisecond);

void BM_RmsNormForwardAndBackward(benchmark::State& state) {
  Environment call = inputs(state.range(0), state.range(0));
  call.inputs["d_y"] = call.inputs["x"];
  run(state, simplify(*differentiate(rms_norm())), std::move(call), {});
}
BENCHMARK(BM_RmsNormForwardAndBackward)->Arg(4096)->Unit(benchmark::kMillisecond);

void BM_RmsNormRoundedWithBounds(benchmark::State& state) {
  Environment call = inputs(state.range(0), state.range(0));
  call.inputs["d_y"] = call.inputs["x"];
  run(state, bind_types(simplify(*differentiate(rms_norm()))), std::move(call),
      {.semantics = Semantics::Rounded, .track_bounds = true});
}
BENCHMARK(BM_RmsNormRoundedWithBounds)->Arg(1024)->Unit(benchmark::kMillisecond);

// What a run costs beside its arithmetic: planning a small graph.
void BM_RmsNormTiny(benchmark::State& state) { run(state, rms_norm(), inputs(2, 3), {}); }
BENCHMARK(BM_RmsNormTiny)->Unit(benchmark::kMicrosecond);

}  // namespace
