#include "base/result.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

Error sample() {
  return Error{ErrorKind::BadInput, "unknown call torch.rsqr", Place{"norm.py", 3, 10, 20}, "  return torch.rsqr(x)",
               "did you mean torch.rsqrt?"};
}

TEST(Render, ShowsWhatWhereTheLineACaretAndWhatToDo) {
  EXPECT_EQ(render(sample()),
            "norm.py:3:10: error: unknown call torch.rsqr\n"
            "  return torch.rsqr(x)\n"
            "         ^~~~~~~~~~\n"
            "hint: did you mean torch.rsqrt?\n");
}

TEST(Render, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(render(Error{ErrorKind::BadInput, "no op given", {}, {}, {}}), "kw: error: no op given\n");
  EXPECT_EQ(render(Error{ErrorKind::BadInput, "there is no such file", Place{"a.py"}, {}, {}}),
            "a.py: error: there is no such file\n");
  EXPECT_EQ(render(Error{ErrorKind::BadInput, "bad", Place{"a.py", 2}, "x = 1", {}}), "a.py:2: error: bad\nx = 1\n");
}

TEST(Render, KeepsTheCaretUnderTheColumnBehindTabsAndWideText) {
  EXPECT_EQ(render(Error{ErrorKind::BadInput, "bad", Place{"a", 1, 3, 0}, "\t\u03b5x", {}}),
            "a:1:3: error: bad\n\t\u03b5x\n\t ^\n");
}

TEST(Render, PutsTheCaretBehindTheLineWhenTheColumnIsPastIt) {
  EXPECT_EQ(render(Error{ErrorKind::BadInput, "cut short", Place{"a", 1, 99, 120}, "ab", {}}),
            "a:1:99: error: cut short\nab\n  ^\n");
}

TEST(Render, ShowsAWindowOfAVeryLongLine) {
  std::string line(100'000, 'x');
  line[50'000] = '!';
  const std::string text = render(Error{ErrorKind::BadInput, "bad", Place{"a", 1, 50'001, 50'002}, line, {}});
  EXPECT_LT(text.size(), 500u);
  const std::size_t shown = text.find('\n') + 1, marks = text.find('\n', shown) + 1;
  EXPECT_EQ(text.find('!') - shown, text.find('^') - marks);
}

TEST(Render, DoesNotSendControlCharactersToTheTerminal) {
  const std::string text = render(Error{ErrorKind::BadInput, "bad", Place{"a", 1, 1}, "\x1b[31mred", {}});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(WithSource, TakesTheLineThatThePlaceNames) {
  Error error = sample();
  error.source_line.clear();
  EXPECT_EQ(with_source(error, "one\ntwo\r\nthree\r\nfour").source_line, "three");
  EXPECT_EQ(with_source(error, "one\ntwo").source_line, "");
  error.place.reset();
  EXPECT_EQ(with_source(error, "one\ntwo\nthree").source_line, "");
}

Result<int> half(int value) {
  if (value % 2 != 0) return bad_input("odd", Place{"numbers", value});
  return value / 2;
}

Result<std::string> quarter(int value) {
  KW_TRY(const int once, half(value));
  int twice = 0;
  KW_TRY(twice, half(once));
  return std::to_string(twice);
}

Status check(int value) {
  KW_CHECK(half(value));
  return {};
}

TEST(Try, TakesTheValueOrReturnsTheError) {
  EXPECT_EQ(quarter(8).value(), "2");
  EXPECT_EQ(quarter(6).error().place->line, 3);
  EXPECT_EQ(quarter(3).error().message, "odd");
  EXPECT_TRUE(check(2));
  EXPECT_EQ(check(1).error().kind, ErrorKind::BadInput);
}

TEST(ErrorKinds, AreTheExitCodes) {
  EXPECT_EQ(static_cast<int>(bad_input("x").value().kind), 2);
  EXPECT_EQ(static_cast<int>(missing_tool("x", "y").value().kind), 4);
  EXPECT_EQ(static_cast<int>(fail(ErrorKind::NeedsApproval, "x").value().kind), 3);
}

TEST(AssertDeathTest, NamesTheBugAndAborts) {
  EXPECT_DEATH(KW_ASSERT(1 + 1 == 3, "sums are off"), "bug at result_test.cpp:[0-9]+: sums are off \\(1 \\+ 1 == 3");
}

}  // namespace
}  // namespace kw
