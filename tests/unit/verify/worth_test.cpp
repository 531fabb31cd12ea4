#include "verify/worth.h"

#include <gtest/gtest.h>

namespace kw::verify {
namespace {

Worth worth(double limit, double eager, std::optional<double> compiled) {
  Worth out;
  out.limit = limit;
  out.bytes = 300e6;
  out.eager = {eager, eager, eager, 9};
  if (compiled) out.compiled = measure::Estimate{*compiled, *compiled, *compiled, 9};
  return out;
}

TEST(WorthTest, TheGainIsAgainstTheFasterOfEagerAndCompiled) {
  EXPECT_DOUBLE_EQ(worth(0.010, 0.050, 0.020).gain(), 2);
  EXPECT_DOUBLE_EQ(worth(0.010, 0.015, 0.020).gain(), 1.5);
  EXPECT_DOUBLE_EQ(worth(0.010, 0.050, std::nullopt).gain(), 5);
  EXPECT_DOUBLE_EQ(worth(0.010, 0.050, 0.020).saved(), 0.010);
}

TEST(WorthTest, FromElevenTenthsOnAKernelIsAdvised) {
  EXPECT_TRUE(worth(0.010, 0.050, 0.0112).worthwhile());
  EXPECT_FALSE(worth(0.010, 0.050, 0.0109).worthwhile());
  EXPECT_EQ(worth(0.010, 0.050, 0.020).advice(),
            "A kernel can be up to 2.0 times as fast as torch.compile: it saves at most 10 ms of a call.");
}

TEST(WorthTest, WhatIsNotAdvisedHasItsReason) {
  EXPECT_EQ(worth(0.010, 0.050, 0.0105).advice(),
            "Not worth a kernel: torch.compile needs 10.5 ms, and moving 300 MB takes 10 ms here. A kernel saves at "
            "most 0.5 ms of a call; use torch.compile.");
  Worth arithmetic = worth(0.010, 0.0105, std::nullopt);
  arithmetic.memory_bound = false;
  EXPECT_EQ(
      arithmetic.advice(),
      "Not worth a kernel: PyTorch needs 10.5 ms, and its arithmetic takes 10 ms here. A kernel saves at most 0.5 "
      "ms of a call.");
}

TEST(WorthTest, MuchFasterThanTheLimitIsNoAnswer) {
  const Worth measured = worth(0.010, 0.050, 0.0089);
  EXPECT_FALSE(measured.worthwhile());
  EXPECT_EQ(
      measured.advice(),
      "Not known: torch.compile needs 8.9 ms, and moving 300 MB takes 10 ms here, which cannot be: something else "
      "used this machine meanwhile. Try again when it is idle.");
}

TEST(WorthTest, FasterThanTheLimitSavesNothing) {
  const Worth measured = worth(0.010, 0.050, 0.0099);
  EXPECT_FALSE(measured.worthwhile());
  EXPECT_NE(measured.advice().find("at most 0 ms"), std::string::npos) << measured.advice();
}

}  // namespace
}  // namespace kw::verify
