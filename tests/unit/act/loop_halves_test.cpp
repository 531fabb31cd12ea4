// What is left of a kernel over an axis of two halves, once each is computed by itself.
#include <gtest/gtest.h>

#include <algorithm>

#include "act/loop/halves.h"
#include "act/loop/kernels.h"
#include "act/loop/print.h"
#include "loop_agreement.h"
#include "loop_cases.h"

namespace kw::act::test {
namespace {

LoopProgram split(const std::string& text) {
  Result<LoopProgram> program = make_program("f", passes_of(LoopCase{"f", text, {}})[0].graph);
  if (!program) ADD_FAILURE() << render(program.error());
  return program ? split_halves(*program) : LoopProgram{};
}

size_t count(const LoopProgram& program, ir::Op op) {
  const std::vector<Value>& values = program.kernels[0].values;
  return static_cast<size_t>(std::count_if(values.begin(), values.end(), [&](const Value& value) {
    const Map* map = std::get_if<Map>(&value.what);
    return map && map->op == op;
  }));
}

void expect_that_it_computes(const LoopProgram& program, const std::string& text) {
  const ir::Graph graph = passes_of(LoopCase{"f", text, {}})[0].graph;
  expect_agreement(text, graph, program, inputs_for(graph, {{"rows", 3}, {"cols", 5}}, 1));
}

constexpr const char* kTwoHalves =
    "op f(a: T[rows, cols], b: T[rows, cols])\n"
    "  y = pad(a * b, 0.0, cols -> both = 2*cols) + pad(a + b, 0.0, cols -> both, start = cols)\n"
    "return y\n";

TEST(LoopHalves, EachHalfOfTwoPaddedTensorsIsOneOfThemAndNothingIsAddedToIt) {
  const LoopProgram program = split(kTwoHalves);
  ASSERT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(program.kernels[0].stages.back().after_stores.size(), 2u) << print(program);
  EXPECT_EQ(count(program, ir::Op::Add), 1u) << "a + b itself\n" << print(program);
  EXPECT_EQ(count(program, ir::Op::Mul), 1u) << print(program);
  expect_that_it_computes(program, kTwoHalves);
}

TEST(LoopHalves, WhatIsPaddedWithAnotherNumberThanZeroIsAdded) {
  std::string text = kTwoHalves;
  text.replace(text.find("0.0"), 3, "0.5");
  const LoopProgram program = split(text);
  EXPECT_EQ(count(program, ir::Op::Add), 2u) << print(program);
  expect_that_it_computes(program, text);
}

TEST(LoopHalves, AZeroThatIsSubtractedFromStays) {
  std::string text = kTwoHalves;
  text.replace(text.find(" + pad"), 6, " - pad");
  const LoopProgram program = split(text);
  EXPECT_EQ(count(program, ir::Op::Sub), 2u) << print(program);
  expect_that_it_computes(program, text);
}

TEST(LoopHalves, ATensorThatTheZeroWidensKeepsItsCast) {
  const std::string text =
      "op f(a: T[rows, cols], b: f32[rows, cols])\n"
      "  y = pad(a, 0.0, cols -> both = 2*cols) + pad(b, 0.0, cols -> both, start = cols)\n"
      "return y\n";
  expect_that_it_computes(split(text), text);
}

}  // namespace
}  // namespace kw::act::test
