// A quotient is a number of its type before anything is added to it: one beyond the largest is infinite, whatever
// would bring it back.
#include <gtest/gtest.h>

#include "../unit/act/loop_agreement.h"
#include "ir/text/parse.h"
#include "kernel_pass.h"

namespace kw::test {
namespace {

class Quotients : public ::testing::TestWithParam<Where> {};

TEST_P(Quotients, AreRoundedBeforeASum) {
  const auto graph =
      ir::text::parse("op f(x: T[rows, cols], w: T[rows, 1], z: T[rows, cols])\n  y = x / w - z\nreturn y\n", "test");
  ASSERT_TRUE(graph) << render(graph.error());
  auto kernels = KernelPass::make("f", *graph, GetParam());
  ASSERT_TRUE(kernels) << render(kernels.error());
  ir::Environment call = act::test::inputs_for(*graph, {{"rows", 3}, {"cols", 16}}, 1);
  const auto fill = [&](const char* name, double value) {
    for (double& v : call.inputs.at(name).values) v = value;
  };
  fill("x", 3e38);
  fill("w", 0.875);
  fill("z", 1e38);
  for (const Layout layout : {Layout::Dense, Layout::Transposed})
    kernels->expect_oracle("overflow", {{"T", ir::DType::F32}}, call, layout);
  fill("x", 0x1.8p-30);
  fill("w", 0x1.3p-128);  // as a mean of subnormal numbers is
  fill("z", 1);
  kernels->expect_oracle("a subnormal divisor", {{"T", ir::DType::F32}}, call, Layout::Dense);
}

INSTANTIATE_TEST_SUITE_P(Devices, Quotients, ::testing::Values(Where::Cpu, Where::Emulation),
                         [](const auto& info) { return info.param == Where::Cpu ? "Cpu" : "Emulation"; });

}  // namespace
}  // namespace kw::test
