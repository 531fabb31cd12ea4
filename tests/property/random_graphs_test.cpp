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

// Vectors of a type that is wider than the rows', of which a quarter is as many elements.
TEST(RandomGraph, WideVectorsBesideNarrowRows) { expect_random_graphs(49, 1, Where::Emulation); }

// A slice of one element between two axes, which are no neighbours in the tensor that it is of.
TEST(RandomGraph, ASliceOfOneBetweenTwoAxes) { expect_random_graphs(129, 1, Where::Cpu); }

// A slice of rows from their beginning on, which do not follow each other in the tensor that it is of.
TEST(RandomGraph, ASliceFromTheBeginningOfRows) { expect_random_graphs(141, 1, Where::Cpu); }

// A product that is subnormal on its way in one order, and nothing in another.
TEST(RandomGraph, AProductOfManySmallFactors) { expect_random_graphs(262, 1, Where::Cpu); }

TEST(RefusedGraphs, AreUnderFivePercentOnCpu) { expect_few_refusals(300, Where::Cpu); }
TEST(RefusedGraphs, AreUnderFivePercentOnCuda) { expect_few_refusals(300, Where::Emulation); }

}  // namespace
}  // namespace kw::test
