#include "random_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "../unit/act/loop_cases.h"
#include "ir/random/random_call.h"
#include "ir/random/random_graph.h"

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

std::vector<Tried> passes_of(uint64_t seed, Where where, Tally& tally) {
  const ir::Graph graph = ir::random_graph(seed, {.operations = 8, .highest_tier = 2, .differentiable = seed % 2 == 0});
  std::vector<act::test::Pass> passes = act::test::passes_of(graph);
  if (passes.size() > 1) passes.erase(passes.begin() + (is_tier_3(passes[1].graph) ? 1 : 0));
  std::vector<Tried> made;
  for (act::test::Pass& pass : passes) {
    if (is_tier_3(pass.graph)) continue;
    ++tally.passes;
    auto kernels = KernelPass::make("g" + std::to_string(seed) + "_" + pass.name, pass.graph, where);
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

}  // namespace

void expect_random_graphs(uint64_t first, uint64_t count, Where where) {
  Tally tally;
  std::vector<Tried> all;
  for (uint64_t seed = first; seed < first + count; ++seed)
    for (Tried& tried : passes_of(seed, where, tally)) all.push_back(std::move(tried));
  for (Tried& tried : all) {
    const ir::Environment call = ir::random_call(tried.graph, tried.seed);
    tried.kernels.expect_oracle(tried.what, {}, call, kLayouts[tried.seed % std::size(kLayouts)]);
    if (testing::Test::HasFatalFailure()) {
      for (const auto& [file, source] : tried.kernels.generated().files) std::cerr << source;
      return;
    }
  }
}

void expect_few_refusals(uint64_t count, Where where, double most) {
  Tally tally;
  for (uint64_t seed = 1; seed <= count; ++seed) passes_of(seed, where, tally);
  int refused = 0;
  for (const auto& [rule, n] : tally.refused) {
    std::cout << rule << ": " << n << " of " << tally.passes << " passes\n";
    refused += n;
  }
  EXPECT_LT(refused, most * tally.passes) << "too many are refused";
}

}  // namespace kw::test
