// Generated CPU kernels compute what their graphs mean: every op of tiers 1 and 2, every arrangement of views and
// reductions, and random graphs, at many shapes, types and layouts without compiling again.
#include <gtest/gtest.h>

#include <random>

#include "../unit/act/loop_agreement.h"
#include "../unit/act/loop_cases.h"
#include "ir/random/random_call.h"
#include "ir/random/random_graph.h"
#include "kernel_pass.h"

namespace kw::test {
namespace {

using act::test::LoopCase;
using act::test::Sizes;

std::string case_name(const ::testing::TestParamInfo<LoopCase>& info) { return info.param.name; }

std::string text(const Sizes& sizes) {
  std::string out;
  for (const auto& [name, n] : sizes) out += " " + name + "=" + std::to_string(n);
  return out;
}

class CpuKernels : public ::testing::TestWithParam<LoopCase> {};

TEST_P(CpuKernels, ComputeTheirGraphInEveryLayout) {
  const LoopCase& c = GetParam();
  for (const act::test::Pass& pass : act::test::passes_of(c)) {
    if (pass.name == "forward" && act::test::passes_of(c).size() > 1) continue;  // saving_forward holds it
    auto kernels = KernelPass::make(c.name + "_" + pass.name, pass.graph, Where::Cpu);
    ASSERT_TRUE(kernels) << kernels.error().message;
    kernels->compile_for({Types{}});
    uint64_t seed = 1;
    for (const Sizes& sizes : c.sizes) {
      const ir::Environment call = act::test::inputs_for(pass.graph, sizes, seed++);
      for (Layout layout : kLayouts) {
        kernels->expect_oracle(c.name + " " + pass.name + text(sizes), {}, call, layout);
        if (HasFatalFailure()) {
          for (const auto& [file, source] : kernels->generated().files) std::cerr << source;
          return;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, CpuKernels, ::testing::ValuesIn(act::test::op_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Views, CpuKernels, ::testing::ValuesIn(act::test::view_cases()), case_name);

}  // namespace
}  // namespace kw::test
