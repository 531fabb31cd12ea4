// Random graphs of tiers 1 and 2, forward and backward, on cpu and as CUDA in the emulation.
#include <gtest/gtest.h>

#include "example_profiles.h"
#include "random_sweep.h"

namespace kw::test {
namespace {

constexpr uint64_t kBatches = 10;  // tests can run beside each other

class RandomGraphs : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomGraphs, VerifyOnCpu) {
  const uint64_t each = (slow_tests() ? 300 : 60) / kBatches;
  expect_random_graphs(1 + GetParam() * each, each, Where::Cpu);
}

TEST_P(RandomGraphs, VerifyInEmulation) {
  const uint64_t each = (slow_tests() ? 50 : 10) / kBatches;
  expect_random_graphs(1 + GetParam() * each, each, Where::Emulation);
}

INSTANTIATE_TEST_SUITE_P(Batches, RandomGraphs, ::testing::Range(uint64_t{0}, kBatches));

// Elements that are left over behind whole vectors, in a tensor with a dimension of one.
TEST(RandomGraph, RestOfVectorsBesideADimensionOfOne) { expect_random_graphs(50, 1, Where::Emulation); }

// argmax of a sum whose product has another reader, which is one instruction in one loop and two in the other.
TEST(RandomGraph, PositionOfAnExtremeOfFusedSums) { expect_random_graphs(16, 1, Where::Emulation); }

TEST(RefusedGraphs, AreUnderFivePercentOnCpu) { expect_few_refusals(300, Where::Cpu); }
TEST(RefusedGraphs, AreUnderFivePercentOnCuda) { expect_few_refusals(300, Where::Emulation); }

}  // namespace
}  // namespace kw::test
