#include "measure/estimate.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace kw::measure {
namespace {

std::vector<double> numbers(int n) {
  std::vector<double> out;
  for (int i = n; i > 0; --i) out.push_back(i);
  return out;
}

TEST(EstimateTest, TheMedianIsTheMiddleSampleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(estimate(numbers(5)).median, 3);
  EXPECT_EQ(estimate(numbers(6)).median, 3.5);
  EXPECT_EQ(estimate({}).samples, 0);
}

// The ranks that tables of the sign test give for a confidence of 95%.
TEST(EstimateTest, TheIntervalHasTheRanksOfTheSignTest) {
  const auto interval = [](int n) {
    const Estimate e = estimate(numbers(n));
    return std::pair(e.low, e.high);
  };
  EXPECT_EQ(interval(6), std::pair(1.0, 6.0));
  EXPECT_EQ(interval(10), std::pair(2.0, 9.0));
  EXPECT_EQ(interval(20), std::pair(6.0, 15.0));
  EXPECT_EQ(interval(50), std::pair(18.0, 33.0));
}

TEST(EstimateTest, TooFewSamplesHaveTheirWholeRangeAsInterval) {
  const Estimate e = estimate(numbers(4));
  EXPECT_EQ(e.low, 1);
  EXPECT_EQ(e.high, 4);
}

TEST(EstimateTest, OneSlowSampleMovesNeitherMedianNorInterval) {
  std::vector<double> samples(21, 1.0);
  samples[7] = 1000;
  const Estimate e = estimate(samples);
  EXPECT_EQ(e.median, 1);
  EXPECT_EQ(e.width(), 0);
}

TEST(EstimateTest, TheIntervalHoldsTheTrueMedianAboutAsOftenAsItSays) {
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> draw(0, 1);  // its median is 1
  int held = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<double> samples(25);
    for (double& sample : samples) sample = draw(random);
    const Estimate e = estimate(samples);
    held += e.low <= 1 && 1 <= e.high;
  }
  EXPECT_GE(held, 940);
  EXPECT_LT(held, 1000);
}

TEST(EstimateTest, RatiosCancelWhatDriftsDuringTheRun) {
  std::vector<double> slow, fast;
  for (int i = 1; i <= 20; ++i) {
    fast.push_back(i);
    slow.push_back(1.5 * i);
  }
  EXPECT_EQ(ratio(slow, fast).median, 1.5);
  EXPECT_EQ(ratio(slow, fast).width(), 0);
}

TEST(EstimateTest, ADifferenceInsideTheNoiseIsNone) {
  EXPECT_FALSE(differ({10, 9, 11, 9}, {10.5, 9.5, 11.5, 9}));
  EXPECT_TRUE(differ({10, 9, 11, 9}, {13, 12, 14, 9}));
}

TEST(EstimateTest, TextHasTheMedianAndHalfTheInterval) {
  EXPECT_EQ(microseconds({12.34e-6, 12.0e-6, 12.4936e-6, 10}), "12.3 µs ± 2.0%");
}

}  // namespace
}  // namespace kw::measure
