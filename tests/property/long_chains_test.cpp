// A sum that rides along with others takes no more roundings in a row than the oracle's bound has room for, however
// long the axes are: of positive terms in single precision a naive one loses more.
#include <gtest/gtest.h>

#include <iostream>

#include "../unit/act/loop_agreement.h"
#include "ir/random/dice.h"
#include "ir/text/parse.h"
#include "kernel_pass.h"

namespace kw::test {
namespace {

struct LongChain {
  const char* text;
  std::map<std::string, int64_t> sizes;
};

const LongChain kLongChains[] = {
    // Every row adds to a slice.
    {"op rows(x: f32[rows, cols])\n"
     "  squares = sum(x * x, cols)\n"
     "  total   = sum(x, rows)\n"
     "return squares, total\n",
     {{"rows", 300'007}, {"cols", 1}}},
    // All elements of a column add to one place.
    {"op columns(x: f32[rows, batch, cols])\n"
     "  some  = any(x > 0.5, rows)\n"
     "  whole = mean(x, rows, batch, cols)\n"
     "return some, whole\n",
     {{"rows", 300'007}, {"batch", 1}, {"cols", 3}}},
    // Likewise, each column to a place of its own.
    {"op columns_apart(x: f32[cols, batch], d: f32[rows, cols])\n"
     "  each = max(x * d, 0.25)\n"
     "  sums = sum(each, rows)\n"
     "  all_of = sum(each, rows, cols)\n"
     "return sums[cols, batch], all_of[batch]\n",
     {{"rows", 300'007}, {"cols", 2}, {"batch", 3}}},
};

class LongChains : public ::testing::TestWithParam<Where> {};

TEST_P(LongChains, StayWithinTheBoundOfPositiveTerms) {
  for (const LongChain& chain : kLongChains) {
    const auto graph = ir::text::parse(chain.text, "test");
    ASSERT_TRUE(graph) << render(graph.error());
    auto kernels = KernelPass::make(graph->name, *graph, GetParam());
    ASSERT_TRUE(kernels) << render(kernels.error());
    ir::Environment call = act::test::inputs_for(*graph, chain.sizes, 1);
    ir::random::Dice dice(7);
    for (auto& [name, array] : call.inputs)
      for (double& value : array.values) value = dice.uniform();
    kernels->expect_oracle(graph->name, {}, rounded(*graph, {}, std::move(call)), Layout::Dense);
    if (HasFailure())
      for (const auto& [file, source] : kernels->generated().files) std::cerr << source;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, LongChains, ::testing::Values(Where::Cpu, Where::Emulation),
                         [](const auto& info) { return info.param == Where::Cpu ? "Cpu" : "Emulation"; });

}  // namespace
}  // namespace kw::test
