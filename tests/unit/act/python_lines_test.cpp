#include <gtest/gtest.h>

#include "act/emit/lines.h"

namespace kw::act {
namespace {

std::string wrapped_text(const std::string& line, size_t width) {
  Lines lines;
  lines.line(line);
  return python_wrapped(lines, width).text();
}

TEST(PythonLines, AListThatFitsStaysInOneLine) {
  EXPECT_EQ(python_list("def f(", {"x", "y"}, "):", 20), "def f(x, y):");
}

TEST(PythonLines, ALongListGoesIntoTheNextLineAndALongerOneIntoOneForEachItem) {
  EXPECT_EQ(python_list("def function(", {"first", "second"}, "):", 20), "def function(\n    first, second\n):");
  EXPECT_EQ(python_list("def function(", {"first", "second"}, "):", 12), "def function(\n    first,\n    second,\n):");
}

TEST(PythonLines, WhatFitsIsLeftAlone) { EXPECT_EQ(wrapped_text("x = f(a, b)", 20), "x = f(a, b)\n"); }

TEST(PythonLines, ACallIsBrokenInsideItsBrackets) {
  EXPECT_EQ(wrapped_text("tl.store(address, value, mask=mask)", 30), "tl.store(\n    address, value, mask=mask\n)\n");
  EXPECT_EQ(wrapped_text("tl.store(address, value, mask=mask)", 24),
            "tl.store(\n    address,\n    value,\n    mask=mask,\n)\n");
}

TEST(PythonLines, AConversionBehindACallIsBrokenWhereAllBeforeItFits) {
  EXPECT_EQ(wrapped_text("x = load(a).to(float32)", 18), "x = load(a).to(\n    float32\n)\n");
}

TEST(PythonLines, SeveralConversionsStandInBracketsAndEachInItsLineWhereTheyDoNotFitIntoOne) {
  EXPECT_EQ(wrapped_text("yy = f(a, b).to(c).to(d)", 23), "yy = (\n    f(a, b).to(c).to(d)\n)\n");
  EXPECT_EQ(wrapped_text("yy = (a + b).to(c).to(d)", 20), "yy = (\n    (a + b)\n    .to(c)\n    .to(d)\n)\n");
}

TEST(PythonLines, ALongSumThatIsConvertedTwiceIsNoTuple) {
  EXPECT_EQ(wrapped_text("y = (first + second).to(c).to(d)", 18),
            "y = (\n    (\n        first\n        + second\n    )\n    .to(c)\n    .to(d)\n)\n");
}

TEST(PythonLines, AnItemThatIsASumIsBrokenBeforeItsSigns) {
  EXPECT_EQ(wrapped_text("f(alpha + beta(x + y), z)", 19), "f(\n    alpha\n    + beta(x + y),\n    z,\n)\n");
}

TEST(PythonLines, ASumGetsBracketsOfItsOwn) {
  EXPECT_EQ(wrapped_text("total = first + second", 20), "total = (\n    first + second\n)\n");
}

TEST(PythonLines, CommentsAreNotBroken) {
  EXPECT_EQ(wrapped_text("# a comment, which is long (very)", 10), "# a comment, which is long (very)\n");
}

}  // namespace
}  // namespace kw::act
