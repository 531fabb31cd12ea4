// Random graphs of tiers 1 and 2 on cpu: each is generated, compiled and agrees with the rounded oracle, or is refused
// by a rule that has a name. Refusals stay rare.
#include <gtest/gtest.h>

#include "../unit/act/loop_cases.h"
#include "cpu_pass.h"
#include "example_profiles.h"
#include "ir/random/random_call.h"
#include "ir/random/random_graph.h"

namespace kw::test {
namespace {

struct Tally {
  int graphs = 0, refused = 0;
  std::map<std::string, int> rules;
};

// The graph itself and, where there is one, its backward.
void try_graph(uint64_t seed, Tally& tally) {
  const ir::Graph graph = ir::random_graph(seed, {.operations = 8, .highest_tier = 2, .differentiable = seed % 2 == 0});
  ++tally.graphs;
  std::vector<act::test::Pass> passes = act::test::passes_of(graph);
  if (passes.size() > 1) passes.erase(passes.begin());  // the forward that saves holds it
  std::vector<std::pair<std::string, CpuPass>> made;
  for (const act::test::Pass& pass : passes) {
    auto kernels = CpuPass::make("g" + std::to_string(seed) + "_" + pass.name, pass.graph);
    if (!kernels) {
      const std::string& message = kernels.error().message;
      const size_t rule = message.find("rule ");
      ASSERT_NE(rule, std::string::npos) << seed << ": a refusal without a rule: " << message;
      ++tally.refused;
      ++tally.rules[message.substr(rule)];
      return;
    }
    made.emplace_back(pass.name, *std::move(kernels));
  }
  for (size_t p = 0; p < passes.size(); ++p) {
    auto& [name, kernels] = made[p];
    const ir::Environment call = ir::random_call(passes[p].graph, seed);
    kernels.expect_oracle("seed " + std::to_string(seed) + " " + name, {}, call, kLayouts[seed % std::size(kLayouts)]);
    if (::testing::Test::HasFatalFailure()) {
      for (const auto& [file, source] : kernels.generated().files) std::cerr << source;
      return;
    }
  }
}

TEST(CpuRandomGraphs, VerifyOrAreRefusedByANamedRule) {
  Tally tally;
  const uint64_t count = slow_tests() ? 300 : 60;
  for (uint64_t seed = 1; seed <= count; ++seed) try_graph(seed, tally);
  for (const auto& [rule, n] : tally.rules) std::cout << rule << ": " << n << "\n";
  EXPECT_LT(tally.refused * 20, tally.graphs) << "5% or more are refused";
}

}  // namespace
}  // namespace kw::test
