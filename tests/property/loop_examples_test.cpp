// The loop form of every example, from its file in examples/ to the programs of its passes as the profile plans them,
// and of the random graphs that kernels are tried on: its interpreter agrees with the graph's.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "../unit/act/loop_agreement.h"
#include "act/act.h"
#include "act/loop/check.h"
#include "act/loop/collapse.h"
#include "act/loop/halves.h"
#include "act/loop/print.h"
#include "example_profiles.h"
#include "ir/random/random_call.h"
#include "ir/random/random_graph.h"
#include "random_sweep.h"
#include "verify/shapes.h"

namespace kw::test {
namespace {

std::vector<std::string> all_examples() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(KW_SOURCE_DIR) / "examples"))
    if (file.path().extension() == ".py") names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

struct Form {
  std::string name;
  act::LoopProgram program;
};

// The program, and what the targets make of it before they write it. None where a rule that has a name refuses it.
std::vector<Form> forms_of(const std::string& what, const ir::Graph& pass, const act::ProgramOptions& options) {
  Result<act::LoopProgram> program = act::make_program("loop", pass, options);
  if (!program) {
    EXPECT_NE(program.error().message.find(": rule "), std::string::npos) << what << ": " << program.error().message;
    return {};
  }
  const act::LoopProgram halves = act::split_halves(*program), dense = act::collapse(*program);
  for (const act::LoopProgram& checked : {*program, dense}) {  // halves are beyond the checker
    const Status sound = act::check(checked);
    EXPECT_TRUE(sound) << what << ": " << sound.error().message << "\n" << act::print(checked);
  }
  return {{"", *program}, {", collapsed", dense}, {", in halves", halves}, {", both", act::collapse(halves)}};
}

void expect_agreement(const std::string& what, const ir::Graph& pass, const std::vector<Form>& forms,
                      const ir::Environment& call) {
  for (const Form& form : forms) {
    if (testing::Test::HasFailure()) return;
    act::test::expect_agreement(what + form.name, pass, form.program, call);
  }
}

// ---- examples ----

// Every second call holds numbers between 0 and 1, as distributions do, and other scalars than the defaults.
ir::Environment forward_call(const ir::Graph& forward, const kernel::Sizes& sizes, size_t number) {
  ir::Environment call = act::test::inputs_for(forward, sizes, number + 1);
  if (number % 2 == 0) return call;
  for (auto& [name, array] : call.inputs)
    for (double& value : array.values) value = (value + 2.001) / 4.002;
  for (const ir::Input& input : forward.inputs)
    if (input.kind == ir::InputKind::Scalar && input.type.floating() && input.default_value)
      call.inputs[input.name] = ir::Array::scalar(input.default_value->number() * 1.25);
  return call;
}

// What the forward was given and what it saved, beside the gradients of its results.
ir::Environment backward_call(const act::OpMath& math, const ir::Environment& forward, const kernel::Sizes& sizes,
                              size_t number) {
  ir::Environment call = act::test::inputs_for(*math.backward, sizes, number + 100);
  const auto results = ir::interpret(math.forward, forward);
  EXPECT_TRUE(results) << render(results.error());
  for (const ir::Input& input : math.backward->inputs)
    if (auto given = forward.inputs.find(input.name); given != forward.inputs.end())
      call.inputs[input.name] = given->second;
  for (size_t i = 0; results && i < results->size(); ++i)
    if (auto saved = call.inputs.find(math.forward.outputs[i].name); saved != call.inputs.end())
      saved->second = (*results)[i];
  return call;
}

class LoopOfExamples : public ::testing::TestWithParam<std::string> {};

TEST_P(LoopOfExamples, ComputesWhatTheGraphComputesInBothPassesAsThePlanHasThem) {
  const profile::Profile profile = example_profile(GetParam());
  const std::vector<std::string>& generated = generated_examples();
  const bool served = std::find(generated.begin(), generated.end(), GetParam()) != generated.end();
  EXPECT_EQ(served, profile.tier <= 2) << "what is generated are the examples of tiers 1 and 2";
  const auto math = act::math_of(profile);
  ASSERT_TRUE(math) << render(math.error());

  const auto forward = forms_of("forward", math->forward, math->forward_program);
  EXPECT_TRUE(!forward.empty() || profile.tier > 2) << "the forward is refused";
  std::vector<Form> backward;
  if (math->backward) {
    backward = forms_of("backward", *math->backward, math->backward_program);
    EXPECT_TRUE(!backward.empty() || profile.tier > 2) << "the backward is refused";
  }
  if (forward.empty() && backward.empty()) return;

  constexpr int64_t kMost = 6000;  // elements: interpreters are slow
  const auto shapes = verify::shapes_to_try(verify::subject_of(math->forward, {}, {}), kMost);
  EXPECT_GE(shapes.size(), served ? 5u : 1u);
  for (size_t number = 0; number < shapes.size() && !HasFailure(); ++number) {
    std::string at;
    for (const auto& [name, n] : shapes[number]) at += " " + name + "=" + std::to_string(n);
    const ir::Environment call = forward_call(math->forward, shapes[number], number);
    expect_agreement("forward" + at, math->forward, forward, call);
    if (!backward.empty())
      expect_agreement("backward" + at, *math->backward, backward, backward_call(*math, call, shapes[number], number));
  }
}

INSTANTIATE_TEST_SUITE_P(All, LoopOfExamples, ::testing::ValuesIn(all_examples()),
                         [](const auto& info) { return info.param; });

// ---- random graphs ----

constexpr uint64_t kBatches = 10;  // tests can run beside each other

class LoopOfSweptGraphs : public ::testing::TestWithParam<uint64_t> {};

// Seeds, sizes and tiers are those of random_sweep.cpp: what is compiled and run there is interpreted here.
TEST_P(LoopOfSweptGraphs, ComputesWhatTheGraphComputesInEveryPassUnlessItIsOfTier3) {
  const uint64_t each = (slow_tests() ? 300 : 60) / kBatches, first = 1 + GetParam() * each;
  int passes = 0, refused = 0;
  for (uint64_t seed = first; seed < first + each && !HasFailure(); ++seed) {
    const ir::Graph graph =
        ir::random_graph(seed, {.operations = 8, .highest_tier = 2, .differentiable = seed % 2 == 0});
    for (const act::test::Pass& pass : act::test::passes_of(graph)) {
      const std::string what = pass.name + " of seed " + std::to_string(seed);
      const auto forms = forms_of(what, pass.graph, {});
      if (needs_scan(pass.graph)) continue;
      ++passes;
      refused += forms.empty();
      expect_agreement(what, pass.graph, forms, ir::random_call(pass.graph, seed));
    }
  }
  EXPECT_GE(passes, static_cast<int>(each));
  EXPECT_LE(refused, std::max(1, passes / 10));
}

INSTANTIATE_TEST_SUITE_P(Batches, LoopOfSweptGraphs, ::testing::Range(uint64_t{0}, kBatches));

}  // namespace
}  // namespace kw::test
