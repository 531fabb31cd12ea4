#include "base/text.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Text, NumbersAreTheShortestThatReadBackTheSame) {
  EXPECT_EQ(number_text(1.0), "1");
  EXPECT_EQ(number_text(1e-6), "1e-6");
  EXPECT_EQ(number_text(0.1), "0.1");
}

}  // namespace
}  // namespace kw
