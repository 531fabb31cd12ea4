// Which sums a kernel may hold between two numbers before it rounds them.
#include <gtest/gtest.h>

#include "act/emit/cpp/held_sums.h"
#include "act/loop/kernels.h"
#include "act/loop/print.h"
#include "loop_cases.h"

namespace kw::act::cpp {
namespace {

HeldSums held(const std::string& body, bool rounds = true) {
  const std::string text = "op f(x: T[n], z: T[n])\n" + body + "return y\n";
  const Result<LoopProgram> program = make_program("f", test::passes_of(test::LoopCase{"f", text, {}})[0].graph);
  if (!program) ADD_FAILURE() << render(program.error());
  if (!program) return {};
  HeldSums found = find_held_sums(program->kernels[0], [&](ir::Type) { return rounds; });
  EXPECT_EQ(found.same.size(), 2 * found.sums.size()) << print(*program);
  return found;
}

void expect_held(const std::string& body, double least, double most) {
  const HeldSums found = held(body);
  ASSERT_EQ(found.sums.size(), 1u) << body;
  EXPECT_EQ(found.sums.begin()->second.least, least) << body;
  EXPECT_EQ(found.sums.begin()->second.most, most) << body;
}

TEST(HeldSums, ASumThatIsOnlyWantedBetweenTwoNumbersIsHeldThere) {
  expect_held("  s = x + 3.0\n  y = x * select(s >= 6, 6, select(s <= 0, 0, s))\n", 0, 6);
  expect_held("  s = x - z\n  y = x * select(s <= 0.5, 0.5, select(s >= 2, 2, s))\n", 0.5, 2);
}

TEST(HeldSums, AComparisonThatAsksForNothingBeyondTheTwoNumbersLeavesItHeld) {
  const std::string bounded = "  s = x + 3.0\n  b = select(s >= 6, 6, select(s <= 0, 0, s))\n";
  for (const char* question : {"s <= 0", "s > 0", "s >= 6", "s < 6", "s < 2", "s >= 2"})
    expect_held(bounded + "  y = select(" + question + ", z, b)\n", 0, 6);
  for (const char* question : {"s < 0", "s >= 0", "s > 6", "s <= 6", "s < 7", "s > -1"})
    EXPECT_TRUE(held(bounded + "  y = select(" + question + ", z, b)\n").sums.empty()) << question;
}

TEST(HeldSums, ASumThatIsWantedElsewhereTooIsNotHeld) {
  const std::string bounded = "  s = x + 3.0\n  b = select(s >= 6, 6, select(s <= 0, 0, s))\n";
  EXPECT_TRUE(held(bounded + "  y = b * s\n").sums.empty());
  EXPECT_TRUE(held("  s = x + 3.0\n  i = select(s <= 0, 0, s)\n  y = select(s >= 6, 6, i) * i\n").sums.empty());
}

TEST(HeldSums, WhatCouldBeInfiniteNegativeOrInexactIsNotHeld) {
  for (const char* body : {
           "  s = x + 3.0\n  y = x * select(s <= 0, 0, s)\n",                           // no greatest number
           "  s = x + 3.0\n  y = x * select(s >= 1, 1, select(s <= -1, -1, s))\n",      // negative
           "  s = x + 3.0\n  y = x * select(s >= 1, 1, select(s <= -0.0, -0.0, s))\n",  // -0
           "  s = x + 3.0\n  y = x * select(s >= 1, 1, select(s < 0, 0, s))\n",         // -0 stays
           "  s = x + 3.0\n  y = x * select(s >= 0.1, 0.1, select(s <= 0, 0, s))\n",    // 0.1 is no number of T
           "  s = x + 0.1\n  y = x * select(s >= 6, 6, select(s <= 0, 0, s))\n",        // nor are its sums
           "  s = x * z\n  y = x * select(s >= 6, 6, select(s <= 0, 0, s))\n",          // a product may be subnormal
           "  s = x + 3.0\n  y = x * select(s >= 6, 5, select(s <= 0, 0, s))\n",        // another number
           "  s = x + 3.0\n  y = x * select(s >= 0, 0, select(s <= 6, 6, s))\n",        // the wrong way round
           "  s = x + 3.0\n  y = x * select(z >= 6, 6, select(s <= 0, 0, s))\n",        // of something else
       })
    EXPECT_TRUE(held(body).sums.empty()) << body;
}

TEST(HeldSums, WhatIsNotRoundedIsLeftAsItIs) {
  EXPECT_TRUE(held("  s = x + 3.0\n  y = x * select(s >= 6, 6, select(s <= 0, 0, s))\n", false).sums.empty());
}

}  // namespace
}  // namespace kw::act::cpp
