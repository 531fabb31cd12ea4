#include "base/line_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <sstream>

#include "base/text.h"

namespace kw {
namespace {

// The text that a diff makes of `before`, read back by its own line numbers.
std::string patched(const std::string& before, const std::string& diff) {
  const std::vector<std::string> old = split_lines(before);
  std::string out;
  std::size_t at = 0;
  std::istringstream lines(diff);
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::size_t from = 0;
    if (std::sscanf(line.c_str(), "@@ -%zu,", &from) == 1) {
      for (; at + 1 < from; ++at) out += old[at] + "\n";
      continue;
    }
    if (line[0] != '+') {
      EXPECT_EQ(line.substr(1), old.at(at++));
    }
    if (line[0] != '-') out += line.substr(1) + "\n";
  }
  for (; at < old.size(); ++at) out += old[at] + "\n";
  return out;
}

TEST(LineDiff, EqualTextsHaveNone) { EXPECT_EQ(unified_diff("a\nb\n", "a\nb\n", "f"), ""); }

TEST(LineDiff, OneChangedLineStandsAmongThreeLinesOfContext) {
  EXPECT_EQ(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "f.cu"),
            "--- f.cu\n+++ f.cu\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(LineDiff, ANewFileIsAllAdded) {
  EXPECT_EQ(unified_diff("", "a\nb\n", "f"), "--- f\n+++ f\n@@ -1,0 +1,2 @@\n+a\n+b\n");
}

TEST(LineDiff, EveryDiffOfRandomTextsMakesTheOneOfTheOther) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 400; ++trial) {
    const auto text = [&] {
      std::string out;
      for (unsigned n = random() % 40; n > 0; --n) out += std::string(1, static_cast<char>('a' + random() % 5)) + "\n";
      return out;
    };
    const std::string before = text(), after = text();
    if (before == after) continue;
    ASSERT_EQ(patched(before, unified_diff(before, after, "f")), after) << before << "→\n" << after;
  }
}

TEST(LineDiff, NoLongerThanItMustBe) {
  const std::string diff = unified_diff("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", "f");
  EXPECT_EQ(std::count(diff.begin(), diff.end(), '+') - 3 - 1, 2) << diff;  // "+++" and the one of @@
}

}  // namespace
}  // namespace kw
