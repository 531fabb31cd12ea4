// Every example of tiers 1 and 2, forward and backward, on cpu: in every element type and mixture of them, at twenty
// shapes; and some of them where every output goes past the cache, and on processors that lack what this one may have.
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

// One of each way to compute an output: by lanes of the processor's own types, of halves, in long bodies, in blocks.
std::vector<std::string> a_few_examples() {
  if (slow_tests()) return generated_examples();
  return {"gelu_erf", "layer_norm", "rms_norm_llama", "silu", "softmax"};
}

SweepOptions few_shapes(Where where) {
  SweepOptions options;
  options.where = where;
  options.shapes = 6;
  options.longest = 5'000;
  options.types = TypeChoice::Two;
  return options;
}

class SomeCpuExamples : public ::testing::TestWithParam<std::string> {};

// The rows of the long shape, and of some others, are long enough.
TEST_P(SomeCpuExamples, AgreeWithTheOracleWhereTheirOutputsGoPastTheCache) {
  SweepOptions options = few_shapes(Where::CpuOfFourThreads);
  options.parameters = {{"stream_bytes", "0"}};
  expect_example(GetParam(), options);
}

TEST_P(SomeCpuExamples, AgreeWithTheOracleOnAProcessorWithoutAvx512) {
  expect_example(GetParam(), few_shapes(Where::CpuWithoutAvx512));
}

TEST_P(SomeCpuExamples, AgreeWithTheOracleOnTheFirstProcessorOfItsKind) {
  expect_example(GetParam(), few_shapes(Where::CpuOfTheFirst));
}

INSTANTIATE_TEST_SUITE_P(All, SomeCpuExamples, ::testing::ValuesIn(a_few_examples()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kw::test
