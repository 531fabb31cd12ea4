// Which sums of a CPU kernel are taken apart, and that they stay the same sums.
#include <gtest/gtest.h>

#include <algorithm>

#include "act/emit/cpu/linear_sums.h"
#include "act/loop/kernels.h"
#include "act/loop/print.h"
#include "loop_agreement.h"
#include "loop_cases.h"

namespace kw::act::test {
namespace {

struct Split {
  LoopProgram before, after;
};

Split split(const std::string& text) {
  Result<LoopProgram> program = make_program("f", passes_of(LoopCase{"f", text, {}})[0].graph);
  if (!program) ADD_FAILURE() << render(program.error());
  Split out{*program, *program};
  const cpp::CppTypes types(out.before.type_parameters);
  for (LoopKernel& kernel : out.after.kernels) kernel = cpu::split_linear_sums(kernel, types);
  return out;
}

size_t loops(const LoopProgram& program) {
  const std::vector<Stage>& stages = program.kernels[0].stages;
  return static_cast<size_t>(
      std::count_if(stages.begin(), stages.end(), [](const Stage& stage) { return !stage.loop.empty(); }));
}

void expect_that_it_computes(const LoopProgram& program, const std::string& text) {
  const ir::Graph graph = passes_of(LoopCase{"f", text, {}})[0].graph;
  expect_agreement(text, graph, program, inputs_for(graph, {{"rows", 3}, {"cols", 5}}, 1));
}

constexpr const char* kTwoFactors =
    "op f(a: T[rows, cols], b: T[rows, cols])\n"
    "  s = sum(wide(a) * wide(b), cols)\n"
    "  z = wide(a) * s - wide(b) / (s^2 + 1.0)\n"
    "  y = T(z - sum(z, cols))\n"
    "return y\n";

TEST(LinearSums, FactorsThatComeLaterAreTakenOutAndAPassOverTheRowFallsAway) {
  const Split sums = split(kTwoFactors);
  EXPECT_EQ(loops(sums.before), 3u) << print(sums.before);
  EXPECT_EQ(loops(sums.after), 2u) << print(sums.after);
  expect_that_it_computes(sums.after, kTwoFactors);
}

TEST(LinearSums, ASumOfRoundedValuesStaysAsItIs) {
  std::string text = kTwoFactors;
  text.replace(text.find("z = wide(a)"), std::string("z = wide(a)").size(), "z = a");
  text.replace(text.find("* s -"), 5, "* T(s) -");
  text.replace(text.find("wide(b) / (s^2"), 14, "b / (T(s)^2");
  const Split sums = split(text);
  EXPECT_EQ(print(sums.after), print(sums.before));
}

TEST(LinearSums, ASumOfDifferencesFromWhatDoesNotVaryIsNotTakenApart) {
  const Split sums = split(
      "op f(a: T[rows, cols])\n"
      "  z = wide(a) - mean(wide(a), cols)\n"
      "  y = T(z - sum(z, cols))\n"
      "return y\n");
  EXPECT_EQ(print(sums.after), print(sums.before));
}

TEST(LinearSums, ASumOfWhatIsNoProductStaysAsItIs) {
  const Split sums = split(
      "op f(a: T[rows, cols])\n"
      "  z = exp(wide(a) * mean(wide(a), cols))\n"
      "  y = T(z - sum(z, cols))\n"
      "return y\n");
  EXPECT_EQ(print(sums.after), print(sums.before));
}

}  // namespace
}  // namespace kw::act::test
