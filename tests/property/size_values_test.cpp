// Sizes and positions as numbers of the math: what walks a tensor in another way than it was given still counts as the
// math does.
#include <gtest/gtest.h>

#include "../unit/act/loop_agreement.h"
#include "ir/text/parse.h"
#include "kernel_pass.h"

namespace kw::test {
namespace {

const char* const kTexts[] = {
    "op by_columns(x: T[rows, cols])\n  y = x / size(cols)\nreturn y\n",
    "op by_all(x: T[rows, cols])\n  y = x / size(rows*cols)\nreturn y\n",
    "op by_place(x: T[rows, cols])\n  y = x * f32(iota(cols))\nreturn y\n",
};

class SizeValues : public ::testing::TestWithParam<Where> {};

TEST_P(SizeValues, CountWhatTheMathCounts) {
  for (const char* text : kTexts) {
    const auto graph = ir::text::parse(text, "test");
    ASSERT_TRUE(graph) << render(graph.error());
    auto kernels = KernelPass::make(graph->name, *graph, GetParam());
    ASSERT_TRUE(kernels) << render(kernels.error());
    for (const auto& [rows, cols] : {std::pair{13, 1}, {1, 13}, {3, 16}, {5, 7}})
      for (const Layout layout : kLayouts) {
        const ir::Environment call = act::test::inputs_for(*graph, {{"rows", rows}, {"cols", cols}}, 1);
        kernels->expect_oracle(graph->name, {}, call, layout);
        if (HasFatalFailure()) {
          for (const auto& [file, source] : kernels->generated().files) std::cerr << source;
          return;
        }
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SizeValues, ::testing::Values(Where::Cpu, Where::Emulation),
                         [](const auto& info) { return info.param == Where::Cpu ? "Cpu" : "Emulation"; });

}  // namespace
}  // namespace kw::test
