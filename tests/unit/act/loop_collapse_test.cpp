#include "act/loop/collapse.h"

#include <gtest/gtest.h>

#include "act/loop/check.h"
#include "act/loop/kernels.h"
#include "act/loop/print.h"
#include "ir/random/random_call.h"
#include "ir/random/random_graph.h"
#include "loop_agreement.h"
#include "loop_cases.h"

namespace kw::act::test {
namespace {

LoopProgram collapsed(const std::string& text) {
  Result<LoopProgram> program = make_program("f", passes_of(LoopCase{"f", text, {}})[0].graph);
  EXPECT_TRUE(program);
  return collapse(*program);
}

std::vector<std::string> axes_of(const LoopProgram& program) {
  std::vector<std::string> names;
  for (const LoopAxis& axis : program.axes) names.push_back(axis.name);
  return names;
}

using Names = std::vector<std::string>;
using Dims = std::vector<std::vector<int32_t>>;

TEST(LoopCollapse, APointwiseOpOnEqualShapesIsOneLoop) {
  LoopProgram program = collapsed("op f(x: f32[a, b, c], y: f32[a, b, c])\n  z = x * y\nreturn z\n");
  EXPECT_EQ(axes_of(program), Names{"a_b_c"});
  EXPECT_EQ(program.axes[0].parts.size(), 3u);
  ASSERT_TRUE(program.buffers[0].collapsed);
  EXPECT_EQ(program.buffers[0].collapsed->dims, (Dims{{0, 1, 2}}));
  EXPECT_EQ(program.buffers[0].collapsed->tensor_shape.size(), 3u);
}

TEST(LoopCollapse, RowsAreOneAxisAndTheReducedAxisStays) {
  LoopProgram program = collapsed("op f(x: f32[a, b, c], w: f32[c])\n  y = x * rsqrt(mean(x^2, c)) * w\nreturn y\n");
  EXPECT_EQ(axes_of(program), (Names{"a_b", "c"}));
  EXPECT_EQ(program.buffers[0].collapsed->dims, (Dims{{0, 1}, {2}}));
}

TEST(LoopCollapse, AxesThatAreReducedTogetherAreOne) {
  LoopProgram program = collapsed("op f(x: f32[n, c, h, w])\n  y = x - mean(x, h, w)\nreturn y\n");
  EXPECT_EQ(axes_of(program), (Names{"n_c", "h_w"}));
}

TEST(LoopCollapse, AnAxisThatATensorLacksKeepsItsNeighboursApart) {
  LoopProgram program = collapsed("op f(x: f32[a, b, c], w: f32[b])\n  y = x * w\nreturn y\n");
  EXPECT_EQ(axes_of(program), (Names{"a", "b", "c"}));
}

TEST(LoopCollapse, ATransposedOutputKeepsAxesApart) {
  EXPECT_EQ(axes_of(collapsed("op f(x: f32[a, b])\n  y = x * 2\nreturn y[b, a]\n")), (Names{"a", "b"}));
}

TEST(LoopCollapse, AnAxisThatIsUsedAsANumberStays) {
  EXPECT_EQ(axes_of(collapsed("op f(x: f32[a, b])\n  y = x * iota(b)\nreturn y\n")), (Names{"a", "b"}));
}

TEST(LoopCollapse, ASlicedAxisStays) {
  LoopProgram program = collapsed("op f(x: f32[a, b, c = 6])\n  y = slice(x, c -> d = 3, start = 1)\nreturn y\n");
  EXPECT_EQ(axes_of(program), (Names{"a_b", "d"}));
}

TEST(LoopCollapse, DimensionsOfSizeOneAreInNoGroup) {
  LoopProgram program = collapsed("op f(x: f32[a, 1, b], y: f32[1, a, b])\n  z = x + y\nreturn z[a, b, 1]\n");
  EXPECT_EQ(axes_of(program), Names{"a_b"});
  EXPECT_EQ(program.buffers[0].collapsed->dims, (Dims{{0, 2}}));
  EXPECT_EQ(program.buffers[1].collapsed->dims, (Dims{{1, 2}}));
  EXPECT_EQ(program.buffers[2].collapsed->dims, (Dims{{0, 1}}));
}

TEST(LoopCollapse, AMergedDimensionIsWalkedAsTheAxisItIs) {
  LoopProgram program = collapsed("op f(x: f32[a, b, c])\n  y = merge(x * 2, (a, b) -> ab)\nreturn y[ab, c]\n");
  EXPECT_EQ(axes_of(program), Names{"a_b_c"});
}

TEST(LoopCollapse, RandomNumbersKeepTheirCounters) {
  LoopProgram program = collapsed("op f(x: f32[a, b], seed: i64)\n  y = x * random(seed, 0, a, b)\nreturn y\n");
  EXPECT_EQ(axes_of(program), Names{"a_b"});
}

TEST(LoopCollapse, TheWorkersOfASumStayAnAxisOfTheirOwn) {
  for (const LoopCase& c : op_cases()) {
    if (c.name != "layer_norm") continue;
    LoopProgram program = collapse(*make_program("f", passes_of(c)[2].graph));
    EXPECT_EQ(axes_of(program), (Names{"batch_seq", "cols", "worker"})) << print(program);
  }
}

class LoopCollapsed : public ::testing::TestWithParam<LoopCase> {};

TEST_P(LoopCollapsed, ComputesWhatTheGraphComputes) {
  const LoopCase& c = GetParam();
  for (const Pass& pass : passes_of(c)) {
    SCOPED_TRACE(pass.name);
    Result<LoopProgram> program = make_program(c.name, pass.graph);
    ASSERT_TRUE(program) << render(program.error());
    const LoopProgram dense = collapse(*program);
    Status sound = check(dense);
    ASSERT_TRUE(sound) << sound.error().message << "\n" << print(dense);
    uint64_t seed = 1;
    for (const Sizes& sizes : c.sizes) {
      expect_agreement(c.name + " " + pass.name, pass.graph, dense, inputs_for(pass.graph, sizes, seed++));
      if (HasFatalFailure()) return;
    }
  }
}

std::string case_name(const ::testing::TestParamInfo<LoopCase>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Ops, LoopCollapsed, ::testing::ValuesIn(op_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Views, LoopCollapsed, ::testing::ValuesIn(view_cases()), case_name);

TEST(LoopCollapse, RandomGraphsComputeTheSame) {
  for (uint64_t seed = 0; seed < 150 && !HasFailure(); ++seed) {
    const ir::Graph graph = ir::random_graph(seed, {.highest_tier = 2});
    Result<LoopProgram> program = make_program("random", graph);
    if (!program) continue;
    const LoopProgram dense = collapse(*program);
    Status sound = check(dense);
    ASSERT_TRUE(sound) << "seed " << seed << ": " << sound.error().message << "\n" << print(dense);
    expect_agreement("seed " + std::to_string(seed), graph, dense, ir::random_call(graph, seed));
  }
}

}  // namespace
}  // namespace kw::act::test
