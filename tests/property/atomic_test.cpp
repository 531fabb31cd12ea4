// Sums in any order, only where the profile asks for them: then the kernels say so, and verify lets runs differ.
#include <gtest/gtest.h>

#include "act/act.h"
#include "example_profiles.h"
#include "verify/judge.h"

namespace kw::test {
namespace {

using Pins = std::map<std::string, std::string>;

bool adds_atomically(const act::Generated& generated) {
  for (const auto& [file, text] : generated.files)
    if (text.find("add_atomically") != std::string::npos || text.find("kRagged, true>") != std::string::npos)
      return true;
  return false;
}

verify::Report judged(const profile::Profile& profile, const act::Generated& generated) {
  const auto subject = verify::subject_of(profile, generated.manifest, generated.files, false);
  KW_ASSERT(subject, "the kernels are of the profile");
  verify::JudgeOptions options;
  options.cases.only_own_types = true;
  options.cases.most_elements = 4000;
  options.check_oracle = false;
  options.spills = true;
  options.device.cache_folder = std::string(KW_BINARY_DIR) + "/kernel_cache";
  auto report = verify::judge(*subject, options);
  EXPECT_TRUE(report) << render(report.error());
  return report ? *report : verify::Report{};
}

TEST(AtomicTest, NoExampleAddsAtomicallyUnlessItsProfileAsks) {
  for (const std::string& example : generated_examples()) {
    const auto generated = act::act(example_profile(example), {}, kernel::Target::Cuda);
    ASSERT_TRUE(generated) << example;
    EXPECT_FALSE(adds_atomically(*generated)) << example;
    EXPECT_TRUE(generated->manifest.deterministic) << example;
  }
}

TEST(AtomicTest, LeaveToDifferIsNotAskingForAtomicGradients) {
  const profile::Profile profile = example_profile("rms_norm_llama", {{"deterministic", "no"}});
  const auto generated = act::act(profile, {}, kernel::Target::Cuda);
  ASSERT_TRUE(generated);
  EXPECT_FALSE(adds_atomically(*generated));
  EXPECT_TRUE(generated->manifest.deterministic);
}

struct Asked {
  std::string example;
  Pins pins;
};

class Atomic : public ::testing::TestWithParam<Asked> {};

TEST_P(Atomic, SumsAreRightInAnyOrderAndTheGateIsRelaxedExactlyThen) {
  const profile::Profile profile = example_profile(GetParam().example, GetParam().pins);
  const auto generated = act::act(profile, {}, kernel::Target::Cuda);
  ASSERT_TRUE(generated) << render(generated.error());
  EXPECT_TRUE(adds_atomically(*generated));
  EXPECT_FALSE(generated->manifest.deterministic);
  const verify::Report report = judged(profile, *generated);
  EXPECT_TRUE(report.passed()) << to_text(report);
  EXPECT_EQ(report.verdict(verify::Gate::Deterministic).outcome, verify::Outcome::Skipped);
  // The same kernels under a profile that wants the same bits.
  profile::Profile strict = profile;
  strict.numerics.deterministic = true;
  const verify::Report refused = judged(strict, *generated);
  EXPECT_EQ(refused.verdict(verify::Gate::Interface).outcome, verify::Outcome::Failed) << to_text(refused);
}

TEST_P(Atomic, OtherTargetsStayDeterministic) {
  const profile::Profile profile = example_profile(GetParam().example, GetParam().pins);
  const auto generated = act::act(profile, {}, kernel::Target::Cpu);
  ASSERT_TRUE(generated);
  EXPECT_TRUE(generated->manifest.deterministic);
}

INSTANTIATE_TEST_SUITE_P(Asked, Atomic,
                         ::testing::Values(Asked{"rms_norm_llama",
                                                 {{"deterministic", "no"}, {"reduce.weight", "atomic"}}},
                                           Asked{"dyt", {{"deterministic", "no"}, {"reduce.weight", "atomic"}}},
                                           Asked{"mse", {{"deterministic", "no"}}}),
                         [](const auto& info) { return info.param.example; });

}  // namespace
}  // namespace kw::test
