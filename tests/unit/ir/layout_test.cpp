#include "ir/layout.h"

#include <gtest/gtest.h>

namespace kw::ir {
namespace {

std::optional<std::size_t> rank_of(const std::string& input) {
  if (input == "x") return 3;
  if (input == "w") return 1;
  return std::nullopt;
}

class Written : public ::testing::TestWithParam<const char*> {};
TEST_P(Written, ALayoutReadsBackAsItWasWritten) {
  const auto layout = parse_layout(GetParam());
  ASSERT_TRUE(layout) << render(layout.error());
  EXPECT_EQ(text_of(*layout), GetParam());
  EXPECT_EQ(layout_flaw(layout->like, 3, rank_of), "");
}
INSTANTIATE_TEST_SUITE_P(Layout, Written,
                         ::testing::Values("contiguous", "any", "like x", "like x, w", "like x[0, 2, 1]",
                                           "like x[0, 1.0, 1.1]", "like x[0*1, -, 2]", "like (x, w)[1, 0, 2]",
                                           "like contiguous[1, 0, -], x", "like format(x)",
                                           "like ((x)[2, 1, 0], x)[0, 2, 1]"));

struct Bad {
  const char* text;
  const char* because;
};
void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.text; }

class Unreadable : public ::testing::TestWithParam<Bad> {};
TEST_P(Unreadable, WhatIsNoLayoutIsRefusedWithTheReason) {
  const auto layout = parse_layout(GetParam().text);
  ASSERT_FALSE(layout) << text_of(*layout);
  EXPECT_NE(layout.error().message.find(GetParam().because), std::string::npos) << layout.error().message;
}
INSTANTIATE_TEST_SUITE_P(
    Layout, Unreadable,
    ::testing::Values(Bad{"", "does not begin with like"}, Bad{"x", "does not begin with like"},
                      Bad{"like ", "does not begin with like"}, Bad{"like x,", "an operand is missing"},
                      Bad{"like x[0", "a ']' is missing"}, Bad{"like (x", "a ')' is missing"},
                      Bad{"like x[a]", "the number of a dimension is missing"}, Bad{"like x[-1]", "a ']' is missing"},
                      Bad{"like x[99999]", "the number of a dimension is missing"},
                      Bad{"like x] ", "something follows it"}, Bad{"like x z", "something follows it"}));

TEST(Layout, NestingWithoutEndIsRefused) {
  const std::string deep = "like " + std::string(5000, '(') + "x" + std::string(5000, ')');
  const auto layout = parse_layout(deep);
  ASSERT_FALSE(layout);
  EXPECT_NE(layout.error().message.find("nested too deep"), std::string::npos);
}

class Unfit : public ::testing::TestWithParam<Bad> {};
TEST_P(Unfit, ALayoutThatDoesNotFitItsTensorsIsFound) {
  const auto layout = parse_layout(GetParam().text);
  ASSERT_TRUE(layout) << render(layout.error());
  EXPECT_NE(layout_flaw(layout->like, 3, rank_of).find(GetParam().because), std::string::npos)
      << layout_flaw(layout->like, 3, rank_of);
}
INSTANTIATE_TEST_SUITE_P(Layout, Unfit,
                         ::testing::Values(Bad{"like y", "there is no input 'y'"},
                                           Bad{"like x[0, 1]", "has 2 dimensions, and the tensor 3"},
                                           Bad{"like x[0, 1, 3]", "names dimension 3"},
                                           Bad{"like w[1, -, -]", "names dimension 1"},
                                           Bad{"like (y)[0, 1, 2]", "there is no input 'y'"},
                                           Bad{"like (x)[0*1, 2, -]", "only those of an input can be"},
                                           Bad{"like contiguous[0.0, 0.1, 1]", "only those of an input can be"}));

TEST(Layout, InputsTakeOtherNames) {
  const auto operand = parse_layout_operand("(x, w)[1, 0, 2]");
  ASSERT_TRUE(operand);
  EXPECT_EQ(inputs_of(*operand), (std::vector<std::string>{"x", "w"}));
  EXPECT_EQ(text_of(rename_inputs(*operand, [](const std::string& name) { return name + "_0"; })),
            "(x_0, w_0)[1, 0, 2]");
}

}  // namespace
}  // namespace kw::ir
