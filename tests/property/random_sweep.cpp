#include "random_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "ir/random/random_call.h"
#include "ir/random/random_graph.h"
#include "ir/text/print.h"
#include "understand/decisions/decide.h"
#include "understand/read_source.h"
#include "verify/judge.h"

namespace kw::test {
namespace {

// As `kw` has it from math text.
Result<profile::Profile> decided(uint64_t seed, bool gradients) {
  const ir::Graph graph = ir::random_graph(seed, {.operations = 8, .highest_tier = 2, .differentiable = seed % 2 == 0});
  KW_TRY(const understand::LocatedSource located, understand::locate_source("", ir::text::print(graph)));
  KW_TRY(understand::Reading reading, understand::read_source(located, {}));
  for (ir::Input& input : reading.graph.inputs) input.differentiable &= gradients;
  return understand::decide(reading, "g" + std::to_string(seed), {.kind = located.kind}, {});
}

constexpr double kMostOfTier3 = 0.2;  // of graphs that are drawn of tiers 1 and 2

struct RandomOp {
  profile::Profile profile;
  act::OpMath math;
  Result<act::Generated> generated;  // or the refusal
};

Result<RandomOp> random_op(uint64_t seed, Where where, bool gradients = true) {
  KW_TRY(profile::Profile profile, decided(seed, gradients));
  KW_TRY(act::OpMath math, act::math_of(profile));
  auto generated = act::act(profile, {}, device_of(where).target());
  return RandomOp{std::move(profile), std::move(math), std::move(generated)};
}

// The gradient of a reduction by any combine is a scan.
bool is_tier_3(const act::OpMath& math) {
  return needs_scan(math.forward) || (math.backward && needs_scan(*math.backward));
}

std::string rule_of(const Error& refusal) {
  const size_t rule = refusal.message.find("rule ");
  EXPECT_NE(rule, std::string::npos) << "a refusal without a rule: " << render(refusal);
  return rule == std::string::npos ? refusal.message : refusal.message.substr(rule);
}

// One call, every pass on its own, with what it saves.
void expect_passes(const act::OpMath& math, uint64_t seed, Where where) {
  auto kernels = KernelPass::make(math, where);
  ASSERT_TRUE(kernels) << render(kernels.error());
  const Layout layout = kLayouts[seed % std::size(kLayouts)];
  kernels->expect_oracle("forward", {}, ir::random_call(math.forward, seed), layout, 0);
  if (!math.backward || testing::Test::HasFatalFailure()) return;
  kernels->expect_oracle("backward", {}, ir::random_call(*math.backward, seed), layout, 1);
}

void expect_verified(const RandomOp& op, uint64_t seed) {
  const auto subject = verify::subject_of(op.profile, op.generated->manifest, op.generated->files, false);
  ASSERT_TRUE(subject) << render(subject.error());
  verify::JudgeOptions options;
  options.cases.seed = seed;
  options.cases.only_own_types = true;
  options.cases.most_elements = options.cases.most_to_reach = 500;
  options.check_oracle = false;
  options.brief = true;  // cuda_compile_test.cpp compiles random graphs for real GPUs
  options.device = device_options();
  options.device.limits.threads = 0;  // as many as the judge takes of itself
  const auto report = verify::judge(*subject, options);
  ASSERT_TRUE(report) << render(report.error());
  ASSERT_TRUE(report->passed()) << verify::to_text(*report);
}

void expect_random_graph(uint64_t seed, Where where) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  auto op = random_op(seed, where);
  ASSERT_TRUE(op) << render(op.error());
  if (!op->generated) {
    rule_of(op->generated.error());
    if (!is_tier_3(op->math)) return;
    op = random_op(seed, where, false);
    ASSERT_TRUE(op) << render(op.error());
  }
  if (!op->generated) {
    rule_of(op->generated.error());
    return;
  }
  expect_passes(op->math, seed, where);
  if (!testing::Test::HasFatalFailure()) expect_verified(*op, seed);
  if (testing::Test::HasFatalFailure())
    for (const auto& [file, source] : op->generated->files) std::cerr << source;
}

}  // namespace

bool needs_scan(const ir::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const ir::Node& node) { return ir::info(node.op).kind == ir::OpKind::Scan; });
}

void expect_random_graphs(uint64_t first, uint64_t count, Where where) {
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFatalFailure(); ++seed)
    expect_random_graph(seed, where);
}

void expect_few_refusals(uint64_t count, Where where, double most) {
  std::map<std::string, int> refused;  // by rule
  int tier_3 = 0, all = 0;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    auto op = random_op(seed, where);
    ASSERT_TRUE(op) << seed << ": " << render(op.error());
    if (!op->generated && is_tier_3(op->math)) {
      rule_of(op->generated.error());
      ++tier_3;
      op = random_op(seed, where, false);  // its forward alone
      ASSERT_TRUE(op) << seed << ": " << render(op.error());
    }
    if (op->generated) continue;
    ++refused[rule_of(op->generated.error())];
    ++all;
  }
  for (const auto& [rule, n] : refused) std::cout << rule << ": " << n << " of " << count << " graphs\n";
  std::cout << all << " of " << count << " graphs are refused; of " << tier_3
            << " the forward alone is asked for, whose gradients are of tier 3 (rule scan)\n";
  EXPECT_LT(all, most * static_cast<double>(count)) << "too many are refused";
  EXPECT_LT(tier_3, kMostOfTier3 * static_cast<double>(count)) << "too many are of tier 3";
}

}  // namespace kw::test
