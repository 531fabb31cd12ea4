#include "base/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kw {
namespace {

using Names = std::vector<std::string>;

TEST(NumberText, IsShortAndPlain) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(1), "1");
  EXPECT_EQ(number_text(-2.5), "-2.5");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(1e-6), "1e-6");
  EXPECT_EQ(number_text(1e20), "1e20");
  EXPECT_EQ(number_text(6.02e23), "6.02e23");
  EXPECT_EQ(number_text(4096), "4096");
}

TEST(NumberText, KeepsTheSignOfZeroAndNamesWhatIsNotFinite) {
  EXPECT_EQ(number_text(-0.0), "-0");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(number_text(std::nan("")), "nan");
  EXPECT_EQ(number_text(-std::nan("")), "nan");
}

TEST(NumberText, ReadsBackAsTheSameBits) {
  std::uint64_t bits = 88172645463325252;
  for (int i = 0; i < 100'000; ++i) {
    bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
    const double value = std::bit_cast<double>(bits);
    if (std::isnan(value)) continue;
    const auto read = parse_number(number_text(value));
    ASSERT_TRUE(read) << number_text(value);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(*read), bits) << number_text(value);
  }
  for (const double value : {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(),
                             std::numeric_limits<double>::min(), -0.0}) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(*parse_number(number_text(value))), std::bit_cast<std::uint64_t>(value));
  }
}

TEST(ParseNumber, RefusesWhatIsNotWhollyANumber) {
  for (const char* text : {"", " 1", "1 ", "1x", "+", "+-1", "++1", "0x10", "1e", "1e999", "one", "1,5"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
  EXPECT_EQ(parse_number("+1.5"), 1.5);
  EXPECT_EQ(parse_number("-inf"), -std::numeric_limits<double>::infinity());
}

TEST(ParseInteger, RefusesFractionsAndWhatDoesNotFit) {
  EXPECT_EQ(parse_integer("-42"), -42);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "1.0", "1e3", "9223372036854775808", " 1", "1 "}) {
    EXPECT_FALSE(parse_integer(text)) << text;
  }
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (Names{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (Names{""}));
}

TEST(SplitLines, TakesTheFinalNewlineAsAnEnd) {
  EXPECT_EQ(split_lines(""), Names{});
  EXPECT_EQ(split_lines("a\nb"), (Names{"a", "b"}));
  EXPECT_EQ(split_lines("a\r\n\nb\n"), (Names{"a", "", "b"}));
  EXPECT_EQ(split_lines("\n"), (Names{""}));
}

TEST(JoinTrimIndentReplace, DoWhatTheirNamesSay) {
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(trim(" \t a b \n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(indent("a\n\nb\n", 2), "  a\n\n  b\n");
  EXPECT_EQ(replace_all("aXbX", "X", "XX"), "aXXbXX");
  EXPECT_EQ(replace_all("abc", "", "x"), "abc");
}

TEST(Utf8, AcceptsEveryLengthAndRefusesWhatIsMalformed) {
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("\u03b5 \u20ac \U0001F600"));
  EXPECT_TRUE(is_utf8("\xF4\x8F\xBF\xBF"));     // U+10FFFF, the last one
  EXPECT_FALSE(is_utf8("\x80"));                // continuation alone
  EXPECT_FALSE(is_utf8("\xC3"));                // cut short
  EXPECT_FALSE(is_utf8("\xC0\xAF"));            // overlong
  EXPECT_FALSE(is_utf8("\xE0\x80\xAF"));        // overlong
  EXPECT_FALSE(is_utf8("\xF0\x80\x80\xAF"));    // overlong
  EXPECT_FALSE(is_utf8("\xED\xA0\x80"));        // surrogate
  EXPECT_FALSE(is_utf8("\xF4\x90\x80\x80"));    // beyond U+10FFFF
  EXPECT_FALSE(is_utf8("\xFF\xFE text"));       // UTF-16
  EXPECT_FALSE(is_utf8("\xE2\x82(\xE2\x82)"));  // broken in the middle
}

TEST(ColumnAt, CountsCharactersNotBytes) {
  EXPECT_EQ(column_at("abc", 0), 1);
  EXPECT_EQ(column_at("\u03b5 = x", 2), 2);
  EXPECT_EQ(column_at("\u03b5 = x", 100), 6);
}

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("rsqrt", "rsqr"), 1u);
  EXPECT_EQ(edit_distance("maen", "mean"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3u);
}

TEST(Nearest, OrdersByDistanceThenByName) {
  EXPECT_EQ(nearest("rsqr", {"sqrt", "rsqrt", "relu", "square"}), (Names{"rsqrt"}));
  EXPECT_EQ(nearest("maxx", {"mean", "maxy", "max", "maxi"}), (Names{"max", "maxi", "maxy"}));
  EXPECT_EQ(nearest("maxx", {"maxy", "max", "maxi"}, 1), (Names{"max"}));
}

TEST(Nearest, SuggestsNothingRatherThanSomethingFar) {
  EXPECT_TRUE(nearest("flux_capacitor", {"relu", "softmax"}).empty());
  EXPECT_TRUE(nearest("", {"relu"}).empty());
  EXPECT_TRUE(nearest(std::string(10'000, 'x'), {std::string(10'000, 'y')}).empty());
}

TEST(DidYouMean, IsASentence) {
  EXPECT_EQ(did_you_mean("rsqr", {"rsqrt", "relu"}), "did you mean rsqrt?");
  EXPECT_EQ(did_you_mean("maxx", {"maxy", "max", "maxi"}), "did you mean max, maxi or maxy?");
  EXPECT_EQ(did_you_mean("zzz", {"relu"}), "");
}

}  // namespace
}  // namespace kw
