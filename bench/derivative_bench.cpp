// Derivative, simplification and partition of a graph of 1,000 nodes. The bar for derivative and simplification
// together is 20 ms.
#include <benchmark/benchmark.h>

#include "ir/derivative/derivative.h"
#include "ir/partition.h"
#include "ir/simplify/simplify.h"

namespace {

using namespace kw::ir;

// A deep network of residual rms_norm and gated blocks on one matrix: pointwise, reductions, casts, broadcasts.
Graph residual_blocks(size_t nodes) {
  GraphBuilder b;
  Type T = b.type_parameter("T", DType::BF16);
  AxisId rows = b.axis("rows", Size::symbol(b.symbol("rows", 4096)));
  AxisId cols = b.axis("cols", Size::symbol(b.symbol("cols", 1024)));
  auto input = [&](const std::string& name, std::vector<AxisId> dims) {
    Input in;
    in.name = name;
    in.type = T;
    in.dims = std::move(dims);
    return b.input(std::move(in));
  };
  NodeId x = input("x", {rows, cols});
  for (int block = 0; b.graph().nodes.size() < nodes; ++block) {
    NodeId w = input("w" + std::to_string(block), {cols});
    NodeId x32 = b.cast(x, opmath(T));
    NodeId ms = b.reduce(Op::Mean, b.make(Op::Mul, {x32, x32}), {cols});
    NodeId rstd = b.make(Op::Rsqrt, {b.make(Op::Add, {ms, b.constant(1e-6)})});
    NodeId normed = b.make(Op::Mul, {b.cast(b.make(Op::Mul, {x32, rstd}), T), w});
    NodeId gate = b.make(Op::Mul, {normed, b.make(Op::Sigmoid, {normed})});
    NodeId score = b.make(Op::Exp, {b.make(Op::Tanh, {gate})});
    NodeId share = b.make(Op::Div, {score, b.reduce(Op::Sum, score, {cols})});
    x = b.make(Op::Add, {x, share});
  }
  b.output({"y", x, {rows, cols}, std::nullopt});
  return std::move(b).finish();
}

void BM_Derivative(benchmark::State& state) {
  Graph forward = residual_blocks(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(differentiate(forward));
  state.counters["forward nodes"] = static_cast<double>(forward.nodes.size());
}
BENCHMARK(BM_Derivative)->Arg(250)->Arg(1000)->Arg(4000)->Unit(benchmark::kMillisecond);

void BM_DerivativeAndSimplification(benchmark::State& state) {
  Graph forward = residual_blocks(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(simplify(*differentiate(simplify(forward))));
}
BENCHMARK(BM_DerivativeAndSimplification)->Arg(250)->Arg(1000)->Arg(4000)->Unit(benchmark::kMillisecond);

void BM_Partition(benchmark::State& state) {
  Graph joint = *differentiate(residual_blocks(static_cast<size_t>(state.range(0))));
  for (auto _ : state) benchmark::DoNotOptimize(partition(joint, 1));
}
BENCHMARK(BM_Partition)->Arg(250)->Arg(1000)->Arg(4000)->Unit(benchmark::kMillisecond);

}  // namespace
