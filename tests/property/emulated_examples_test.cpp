// Every example of tiers 1 and 2, forward and backward, as CUDA in the emulation: no race, no access that may not be,
// and results within the oracle's bound, the same to the bit in two orders of threads and blocks.
#include <gtest/gtest.h>

#include "example_profiles.h"
#include "example_sweep.h"

namespace kw::test {
namespace {

class EmulatedExamples : public ::testing::TestWithParam<std::string> {};

TEST_P(EmulatedExamples, AgreeWithTheOracleInEveryOrder) {
  SweepOptions options;
  options.where = Where::Emulation;
  options.shapes = slow_tests() ? 20 : 8;
  options.types = slow_tests() ? TypeChoice::All : TypeChoice::Some;
  options.most = 6'000;
  options.longest = 40'000;
  options.most_to_reach = 80'000;
  expect_example(GetParam(), options);
}

TEST_P(EmulatedExamples, AgreeWithTheOracleAsAPackageHasThem) {
  SweepOptions options;
  options.where = Where::Emulation;
  options.shapes = slow_tests() ? 20 : 6;
  options.types = slow_tests() ? TypeChoice::Two : TypeChoice::One;
  options.most = 6'000;
  options.longest = 40'001;
  expect_packaged_example(GetParam(), options);
}

TEST_P(EmulatedExamples, AreCleanUnderTheSanitizers) {
  SweepOptions options;
  options.where = Where::SanitizedEmulation;
  options.shapes = slow_tests() ? 10 : 5;
  options.most = 6'000;
  options.longest = 40'000;
  options.most_to_reach = 80'000;
  options.types = slow_tests() ? TypeChoice::Two : TypeChoice::One;
  options.most_unreached = 6;  // some kernels are for types of 16 bits alone
  expect_example(GetParam(), options);
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedExamples, ::testing::ValuesIn(generated_examples()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kw::test
