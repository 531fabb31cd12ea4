// A fallback is another kernel: the last family that a profile lists beside its first gives files of its own for the
// processor and for a GPU, and they compute the same.
#include <gtest/gtest.h>

#include <set>

#include "act/act.h"
#include "example_profiles.h"
#include "example_sweep.h"

namespace kw::test {
namespace {

class Fallbacks : public ::testing::TestWithParam<std::string> {};

TEST_P(Fallbacks, GiveOtherKernelsThanThePlan) {
  const profile::Profile profile = example_profile(GetParam());
  ASSERT_FALSE(profile.plan.forward.fallbacks.empty());
  for (const kernel::Target target : {kernel::Target::Cpu, kernel::Target::Cuda}) {
    const auto planned = act::act(profile, {}, target);
    ASSERT_TRUE(planned) << render(planned.error());
    std::set<std::map<std::string, std::string>> seen = {planned->files};
    profile::Profile changed = profile;
    take_family(changed, profile.plan.forward.fallbacks.back());
    const auto fallback = act::act(changed, {}, target);
    ASSERT_TRUE(fallback) << render(fallback.error());
    EXPECT_TRUE(seen.insert(fallback->files).second) << kernel::name_of(target);
    EXPECT_NE(fallback->manifest, planned->manifest) << kernel::name_of(target);
    EXPECT_EQ(act::act(profile, {}, target)->files, planned->files);
  }
}

class RunFallbacks : public ::testing::TestWithParam<std::string> {};

TEST_P(RunFallbacks, AgreeWithTheOracle) {
  SweepOptions options;
  options.shapes = slow_tests() ? 10 : 5;
  options.types = TypeChoice::One;
  options.most = 4000;
  options.family = "composed";
  expect_example(GetParam(), options);
}

INSTANTIATE_TEST_SUITE_P(All, Fallbacks, ::testing::ValuesIn(generated_examples()),
                         [](const auto& info) { return info.param; });

// Every fourth example, or all of them among the slow tests.
std::vector<std::string> examples_to_run() {
  std::vector<std::string> chosen;
  const std::vector<std::string> all = generated_examples();
  for (std::size_t i = 0; i < all.size(); i += slow_tests() ? 1 : 4) chosen.push_back(all[i]);
  return chosen;
}

INSTANTIATE_TEST_SUITE_P(All, RunFallbacks, ::testing::ValuesIn(examples_to_run()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kw::test
