// Random graphs of tiers 1 and 2 as CUDA, in the emulation.
#include <gtest/gtest.h>

#include "example_profiles.h"
#include "random_sweep.h"

namespace kw::test {
namespace {

TEST(EmulatedRandomGraphs, VerifyOrAreRefusedByANamedRule) {
  // Reductions by a combine are not generated for cuda.
  expect_random_graphs(slow_tests() ? 50 : 10, Where::Emulation, 0.2);
}

}  // namespace
}  // namespace kw::test
