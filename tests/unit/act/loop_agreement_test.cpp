// The loop form of a pass means what its graph means.
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

class LoopAgreement : public ::testing::TestWithParam<LoopCase> {};

std::string case_name(const ::testing::TestParamInfo<LoopCase>& info) { return info.param.name; }

TEST_P(LoopAgreement, TheProgramOfEveryPassComputesItsGraph) {
  const LoopCase& c = GetParam();
  for (const Pass& pass : passes_of(c)) {
    SCOPED_TRACE(pass.name);
    Result<LoopProgram> program = make_program(c.name + "_" + pass.name, pass.graph);
    ASSERT_TRUE(program) << render(program.error());
    Status sound = check(*program);
    ASSERT_TRUE(sound) << sound.error().message << "\n" << print(*program);
    uint64_t seed = 1;
    for (const Sizes& sizes : c.sizes) {
      std::string what = c.name + " " + pass.name;
      for (const auto& [name, n] : sizes) what += " " + name + "=" + std::to_string(n);
      expect_agreement(what, pass.graph, *program, inputs_for(pass.graph, sizes, seed++));
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, LoopAgreement, ::testing::ValuesIn(op_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Views, LoopAgreement, ::testing::ValuesIn(view_cases()), case_name);

// Seeds are dealt to several tests, so that a failure is found without running the others.
class LoopOfRandomGraphs : public ::testing::TestWithParam<int> {
 protected:
  static constexpr int kSeeds = 50;
  uint64_t seed(int i) const { return static_cast<uint64_t>(GetParam() * kSeeds + i); }

  // False where the pass is refused, by a rule of this name.
  static bool agrees(const std::string& what, const ir::Graph& pass, const ir::Environment& call,
                     const std::string& rule = "") {
    Result<LoopProgram> program = make_program("random", pass);
    if (!program) {
      EXPECT_NE(program.error().message.find(": rule " + rule), std::string::npos) << program.error().message;
      return false;
    }
    Status sound = check(*program);
    EXPECT_TRUE(sound) << what << ": " << sound.error().message << "\n" << print(*program);
    if (sound) expect_agreement(what, pass, *program, call);
    return true;
  }
};

TEST_P(LoopOfRandomGraphs, ComputesWhatTheGraphComputesOrIsRefusedByANamedRule) {
  int refused = 0;
  for (int i = 0; i < kSeeds && !HasFailure(); ++i) {
    const ir::Graph graph = ir::random_graph(seed(i), {.highest_tier = 2});
    refused += !agrees("seed " + std::to_string(seed(i)), graph, ir::random_call(graph, seed(i)));
  }
  EXPECT_LE(refused, kSeeds / 20);
}

TEST_P(LoopOfRandomGraphs, ComputesTheirBackwardUnlessItIsAScan) {
  for (int i = 0; i < kSeeds && !HasFailure(); ++i) {
    const ir::Graph graph = ir::random_graph(seed(i), {.operations = 6, .highest_tier = 2, .differentiable = true});
    for (const Pass& pass : passes_of(graph))
      if (pass.name != "forward")
        agrees(pass.name + " of seed " + std::to_string(seed(i)), pass.graph, ir::random_call(pass.graph, seed(i)),
               "scan");
  }
}

TEST_P(LoopOfRandomGraphs, OfAllTiersAreComputedOrRefused) {
  for (int i = 0; i < kSeeds && !HasFailure(); ++i) {
    const ir::Graph graph = ir::random_graph(seed(i));
    agrees("seed " + std::to_string(seed(i)), graph, ir::random_call(graph, seed(i)));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, LoopOfRandomGraphs, ::testing::Range(0, 3));

}  // namespace
}  // namespace kw::act::test
