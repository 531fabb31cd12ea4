// The order of factors in the derivative: what a row has in common comes last under its sums, and together elsewhere.
#include <gtest/gtest.h>

#include "ir/derivative/factor_order.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

namespace kw::ir::test {
namespace {

// The text of an op whose first output is the forward's.
Graph joint_of(const std::string& outputs) {
  const std::string text = "op f(x: f32[rows, cols], d: f32[rows, cols], c: f32, r: f32[rows], w: f32[cols])\n" +
                           std::string("  sizes rows = 4, cols = 8\n") + outputs;
  Result<Graph> graph = text::parse(text, "test");
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
  return *std::move(graph);
}

void expect_becomes(const std::string& before, const std::string& after) {
  EXPECT_EQ(text::print(with_common_factors_last(joint_of(before), 1)), text::print(joint_of(after)));
}

TEST(FactorOrder, ComeLastUnderASum) {
  expect_becomes("  y = x * c\n  g = sum((d * c) * x, cols)\nreturn y, g\n",
                 "  y = x * c\n  g = sum((d * x) * c, cols)\nreturn y, g\n");
}

TEST(FactorOrder, OfSomeOfTheSummedAxesComeAfterThoseOfAll) {
  expect_becomes("  y = x * c\n  s = sum(d, cols)\n  g = sum(d * (x * r), rows, cols)\nreturn y, s, g\n",
                 "  y = x * c\n  s = sum(d, cols)\n  g = sum((d * x) * r, rows, cols)\nreturn y, s, g\n");
}

TEST(FactorOrder, OfARowAreMultipliedWithEachOtherFirst) {
  expect_becomes("  y = x * c\n  s = sum(d, cols)\n  g = (d * c) * r + s\nreturn y, s, g\n",
                 "  y = x * c\n  s = sum(d, cols)\n  g = d * (c * r) + s\nreturn y, s, g\n");
}

TEST(FactorOrder, ThatElementsOfARowDoNotShareStayWhereTheyAre) {
  const std::string text = "  y = x * c\n  s = sum((d * w) * x, cols)\n  g = (d * w) * r + s\nreturn y, s, g\n";
  expect_becomes(text, text);
}

TEST(FactorOrder, StayWhereTheyAreInWhatTheForwardReturns) {
  const std::string text = "  y = sum((d * c) * x, cols)\n  g = y * r\nreturn y, g\n";
  expect_becomes(text, text);
}

TEST(FactorOrder, StayWhereTheyAreWhereARoundingStandsBetween) {
  Result<Graph> graph = text::parse(R"(op f(x: bf16[rows, cols], d: bf16[rows, cols], c: bf16)
  sizes rows = 4, cols = 8
  y = x * c
  g = sum((d * c) * x, cols)
return y, g
)",
                                    "test");
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ(text::print(with_common_factors_last(*graph, 1)), text::print(*graph));
}

}  // namespace
}  // namespace kw::ir::test
