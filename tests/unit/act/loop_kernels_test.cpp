// Which kernels, stages and buffers a pass becomes.
#include <gtest/gtest.h>

#include <algorithm>

#include "act/loop/kernels.h"
#include "act/loop/print.h"
#include "loop_cases.h"

namespace kw::act::test {
namespace {

const LoopCase& case_named(const std::string& name) {
  for (const std::vector<LoopCase>* cases : {&op_cases(), &view_cases()})
    for (const LoopCase& c : *cases)
      if (c.name == name) return c;
  ADD_FAILURE() << "there is no case " << name;
  return op_cases()[0];
}

LoopProgram program_of(const std::string& name, const std::string& pass_name) {
  for (const Pass& pass : passes_of(case_named(name)))
    if (pass.name == pass_name) return *make_program(name, pass.graph);
  ADD_FAILURE() << name << " has no " << pass_name;
  return {};
}

size_t loops(const LoopKernel& kernel) {
  return static_cast<size_t>(
      std::count_if(kernel.stages.begin(), kernel.stages.end(), [](const Stage& s) { return !s.loop.empty(); }));
}

std::vector<std::string> workspace(const LoopProgram& program) {
  std::vector<std::string> names;
  for (const Buffer& buffer : program.buffers)
    if (buffer.role == Buffer::Role::Workspace) names.push_back(buffer.name);
  return names;
}

TEST(LoopKernels, APointwiseOpIsOneKernelWithoutLoops) {
  for (const char* name :
       {"relu_squared", "silu", "gelu_tanh", "swiglu", "swiglu_packed", "geglu", "mish", "hardswish"})
    for (const char* pass : {"saving_forward", "backward"}) {
      LoopProgram program = program_of(name, pass);
      EXPECT_EQ(program.kernels.size(), 1u) << print(program);
      EXPECT_EQ(loops(program.kernels[0]), 0u);
      EXPECT_EQ(workspace(program), std::vector<std::string>());
    }
}

TEST(LoopKernels, ANormIsOneKernelWithAStagePerDependentReductionAndOneForTheResult) {
  struct Expected {
    const char* name;
    size_t loops;
  };
  for (const Expected& e : {Expected{"rms_norm_llama", 2},
                            {"layer_norm", 3},
                            {"softmax", 3},
                            {"log_softmax", 2},
                            {"group_norm", 3},
                            {"instance_norm", 3},
                            {"batch_norm", 3},
                            {"poly_norm", 2},
                            {"five_stages", 6}}) {
    LoopProgram program = program_of(e.name, "forward");
    ASSERT_EQ(program.kernels.size(), 1u) << print(program);
    EXPECT_EQ(loops(program.kernels[0]), e.loops) << print(program);
    EXPECT_EQ(workspace(program), std::vector<std::string>());
  }
}

TEST(LoopKernels, WeightGradientsRideAlongAndOneKernelAddsTheirSlices) {
  LoopProgram program = program_of("layer_norm", "backward");
  ASSERT_EQ(program.kernels.size(), 2u) << print(program);
  EXPECT_EQ(workspace(program).size(), 2u) << print(program);
  EXPECT_EQ(program.kernels[1].stages.size(), 1u);
  EXPECT_EQ(program.kernels[1].stages[0].reductions.size(), 2u) << "both sums over the workers are in one kernel";
  ASSERT_TRUE(program.workers);
  EXPECT_EQ(program.symbols[static_cast<size_t>(*program.workers)].name, "workers");
}

TEST(LoopKernels, GroupNormSumsItsWeightGradientsOverBothKindsOfAxes) {
  LoopProgram program = program_of("group_norm", "backward");
  EXPECT_TRUE(program.workers) << print(program);
}

TEST(LoopKernels, ASumOverAPartOfTheRowsHasAKernelOfItsOwn) {
  // One slice per worker would be as large as the tensor itself.
  LoopProgram program = program_of("sums_over_a_part_of_the_rows", "backward");
  EXPECT_FALSE(program.workers) << print(program);
}

TEST(LoopKernels, AReductionOfEverythingEndsItsKernel) {
  LoopProgram program = program_of("frobenius", "forward");
  ASSERT_EQ(program.kernels.size(), 2u) << print(program);
  EXPECT_TRUE(program.kernels[0].parallel.empty());
  EXPECT_EQ(workspace(program).size(), 1u);
}

TEST(LoopKernels, AReductionThatALaterKernelNeedsIsReadFromTheOutputThatHoldsIt) {
  LoopProgram program = program_of("dependent_reductions_over_different_axes", "forward");
  for (const std::string& name : workspace(program)) {
    EXPECT_NE(name, "row_2") << print(program);
    EXPECT_NE(name, "column_2") << print(program);
  }
}

TEST(LoopKernels, TheLastAxisOfTheLargestTensorIsTheLastLoop) {
  LoopCase c{"order", "op f(w: f32[cols], x: f32[rows, cols])\n  y = x * w\nreturn y\n", {}};
  LoopProgram program = *make_program("f", passes_of(c)[0].graph);
  ASSERT_EQ(program.axes.size(), 2u);
  EXPECT_EQ(program.axes[0].name, "rows");
  EXPECT_EQ(program.axes[1].name, "cols");
}

TEST(LoopKernels, AnAxisOfSizeOneIsNoLoop) {
  LoopProgram program = program_of("poly_norm", "forward");
  for (const LoopAxis& axis : program.axes) EXPECT_NE(axis.size, ir::Size(1)) << axis.name;
}

TEST(LoopKernels, NumbersAreFoldedAndConditionsThatAlwaysHoldVanish) {
  LoopCase c{
      "fold",
      "op f(x: f32[n])\n  a = x * (2.0 * 3.0 + 1)\n  y = concat(a: n -> m)\n  z = pad(y, 0, m -> k = m)\nreturn z\n",
      {}};
  LoopProgram program = *make_program("f", passes_of(c)[0].graph);
  ASSERT_EQ(program.kernels.size(), 1u);
  int maps = 0;
  for (const Value& value : program.kernels[0].values) maps += std::holds_alternative<Map>(value.what);
  EXPECT_EQ(maps, 1) << print(program);
}

TEST(LoopKernels, APaddedInputIsALoadThatIsMadeOnlyInside) {
  LoopCase c{"pad", "op f(x: f32[n])\n  y = pad(x, 7.0, n -> m = n + 4, start = 2)\nreturn y\n", {}};
  LoopProgram program = *make_program("f", passes_of(c)[0].graph);
  const std::vector<Value>& values = program.kernels[0].values;
  EXPECT_EQ(std::count_if(values.begin(), values.end(),
                          [](const Value& v) {
                            const Map* map = std::get_if<Map>(&v.what);
                            return map && map->op == ir::Op::Select;
                          }),
            0)
      << print(program);
}

}  // namespace
}  // namespace kw::act::test
