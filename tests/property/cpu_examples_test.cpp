// Every example of tiers 1 and 2, forward and backward, on cpu: in every element type and mixture of them, at twenty
// shapes.
#include <gtest/gtest.h>

#include "example_profiles.h"
#include "example_sweep.h"

namespace kw::test {
namespace {

class CpuExamples : public ::testing::TestWithParam<std::string> {};

TEST_P(CpuExamples, AgreeWithTheOracleAtTwentyShapesWithoutCompilingAgain) {
  expect_example(GetParam(), {.where = Where::Cpu, .types = slow_tests() ? TypeChoice::All : TypeChoice::Some});
}

INSTANTIATE_TEST_SUITE_P(All, CpuExamples, ::testing::ValuesIn(generated_examples()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kw::test
