// Random graphs of tiers 1 and 2 on cpu, forward and backward: each is generated, compiled and agrees with the rounded
// oracle. The one thing that is refused, by the name of its rule, is a reduction by a combine of the op's own.
#include <gtest/gtest.h>

#include <future>

#include "../unit/act/loop_cases.h"
#include "example_profiles.h"
#include "ir/random/random_call.h"
#include "ir/random/random_graph.h"
#include "kernel_pass.h"

namespace kw::test {
namespace {

struct Tried {
  uint64_t seed;
  std::string what;
  ir::Graph graph;
  KernelPass kernels;
};

struct Tally {
  int passes = 0;
  std::map<std::string, int> refused;  // by rule
};

// A backward that needs a scan (that of a reduction by any combine) is of tier 3.
bool is_tier_3(const ir::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const ir::Node& node) { return ir::info(node.op).kind == ir::OpKind::Scan; });
}

std::vector<Tried> passes_of(uint64_t seed, Tally& tally) {
  const ir::Graph graph = ir::random_graph(seed, {.operations = 8, .highest_tier = 2, .differentiable = seed % 2 == 0});
  std::vector<act::test::Pass> passes = act::test::passes_of(graph);
  if (passes.size() > 1) passes.erase(passes.begin() + (is_tier_3(passes[1].graph) ? 1 : 0));
  std::vector<Tried> made;
  for (act::test::Pass& pass : passes) {
    if (is_tier_3(pass.graph)) continue;
    ++tally.passes;
    auto kernels = KernelPass::make("g" + std::to_string(seed) + "_" + pass.name, pass.graph, Where::Cpu);
    if (kernels) {
      made.push_back(
          {seed, "seed " + std::to_string(seed) + " " + pass.name, std::move(pass.graph), *std::move(kernels)});
      continue;
    }
    const std::string& message = kernels.error().message;
    const size_t rule = message.find("rule ");
    EXPECT_NE(rule, std::string::npos) << seed << ": a refusal without a rule: " << message;
    ++tally.refused[rule == std::string::npos ? message : message.substr(rule)];
  }
  return made;
}

TEST(CpuRandomGraphs, VerifyUnlessTheyReduceByACombine) {
  Tally tally;
  std::vector<Tried> all;
  const uint64_t count = slow_tests() ? 300 : 60;
  for (uint64_t seed = 1; seed <= count; ++seed)
    for (Tried& tried : passes_of(seed, tally)) all.push_back(std::move(tried));
  auto every_other = [&](size_t first) {
    for (size_t i = first; i < all.size(); i += 2) all[i].kernels.compile_for({{}});
  };
  auto beside = std::async(std::launch::async, every_other, 1);
  every_other(0);
  beside.get();
  for (Tried& tried : all) {
    const ir::Environment call = ir::random_call(tried.graph, tried.seed);
    tried.kernels.expect_oracle(tried.what, {}, call, kLayouts[tried.seed % std::size(kLayouts)]);
    if (HasFatalFailure()) {
      for (const auto& [file, source] : tried.kernels.generated().files) std::cerr << source;
      return;
    }
  }
  for (const auto& [rule, n] : tally.refused) {
    std::cout << rule << ": " << n << " of " << tally.passes << " passes\n";
    EXPECT_EQ(rule, "rule combine");
  }
}

}  // namespace
}  // namespace kw::test
