// Random graphs of tiers 1 and 2 on cpu.
#include <gtest/gtest.h>

#include "example_profiles.h"
#include "random_sweep.h"

namespace kw::test {
namespace {

TEST(CpuRandomGraphs, VerifyOrAreRefusedByANamedRule) { expect_random_graphs(slow_tests() ? 300 : 60, Where::Cpu); }

}  // namespace
}  // namespace kw::test
