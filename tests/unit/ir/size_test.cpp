#include "ir/size.h"

#include <gtest/gtest.h>

namespace kw::ir {
namespace {

std::string text(const Size& s) {
  return s.text([](SymbolId id) { return std::string(1, static_cast<char>('a' + id)); });
}

const Size a = Size::symbol(0), b = Size::symbol(1);

TEST(Size, HasOneNormalForm) {
  EXPECT_EQ((a + b) * (a - b), a * a - b * b);
  EXPECT_EQ(Size(2) * a + a - Size(3) * a, Size(0));
  EXPECT_EQ(text(Size(2) * a + Size(1)), "2*a + 1");
  EXPECT_EQ(text(a - Size(1)), "a - 1");
  EXPECT_EQ(text(Size(1) - a), "1 - a");
}

TEST(Size, DividesExactlyWhereTheDivisorDividesEveryTerm) {
  EXPECT_EQ(floor_div(a * b, b), a);
  EXPECT_EQ(floor_div(Size(4) * a + Size(2), Size(2)), Size(2) * a + Size(1));
  EXPECT_EQ(floor_div(a * b + b, b), a + Size(1));
  EXPECT_EQ(text(floor_div(a + Size(1), Size(2))), "(a + 1)//2");
  EXPECT_EQ(floor_div(Size(-3), Size(2)), Size(-2));
  EXPECT_EQ(floor_div(floor_div(a, Size(2)), Size(3)), floor_div(a, Size(6)));
}

TEST(Size, EvaluatesAndSubstitutesThroughQuotients) {
  Size s = floor_div(a + Size(2) - Size(3), Size(2)) + Size(1);
  EXPECT_EQ(s.evaluate([](SymbolId) { return std::optional<int64_t>(224); }), 112);
  EXPECT_EQ(s.evaluate([](SymbolId) { return std::optional<int64_t>(); }), std::nullopt);
  EXPECT_EQ(floor_div(a, Size(2)).substitute([](SymbolId) { return std::optional(Size(2) * b); }), b);
}

TEST(Size, AgreesWithIntegersOnRandomExpressions) {
  uint64_t state = 7;
  auto next = [&state](int64_t n) {
    return static_cast<int64_t>((state = state * 6364136223846793005ull + 1442695040888963407ull) >> 33) % n;
  };
  for (int trial = 0; trial < 2000; ++trial) {
    int64_t va = 1 + next(50), vb = 1 + next(50), x = va, y = vb;
    Size s = a, t = b;
    for (int step = 0; step < 5; ++step) {
      switch (next(4)) {
        case 0:
          s = s + t, x = x + y;
          break;
        case 1:
          s = s * Size(2) - t, x = 2 * x - y;
          break;
        case 2:
          t = t * Size(3) + Size(1), y = 3 * y + 1;
          break;
        default: {
          int64_t d = 1 + next(4);
          s = floor_div(s, Size(d));
          int64_t q = x / d;
          x = q - (x % d != 0 && x < 0 ? 1 : 0);
        }
      }
    }
    auto value_of = [&](SymbolId id) { return std::optional(id == 0 ? va : vb); };
    EXPECT_EQ(s.evaluate(value_of), x) << text(s);
  }
}

}  // namespace
}  // namespace kw::ir
