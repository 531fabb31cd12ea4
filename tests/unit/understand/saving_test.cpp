#include "understand/decisions/saving.h"

#include <gtest/gtest.h>

#include "decided.h"
#include "profile/yaml.h"

namespace kw::understand {
namespace {

const std::string kNorm =
    "op norm(x: T[rows, cols], w: T[cols]; eps = 1e-6)\n"
    "  ms   = mean(f32(x)^2, cols)\n"
    "  rstd = rsqrt(ms + eps)\n"
    "  n    = T(f32(x) * rstd)\n"
    "  y    = n * w\n"
    "return y\n";

void expect_reads_back(const profile::Profile& p) {
  const Result<profile::Profile> back = profile::from_yaml(profile::to_yaml(p), "profile.yaml");
  ASSERT_TRUE(back.has_value()) << render(back.error());
  EXPECT_TRUE(*back == p);
}

TEST(Saving, TheCheapestCutIsTheDefault) { EXPECT_EQ(value(decided(kNorm), "saved"), "x, w, rstd"); }

TEST(Saving, WithTheInputsAloneTheStatisticIsComputedAgain) {
  const profile::Profile p = decided(kNorm, {{"saved", "inputs"}});
  EXPECT_EQ(value(p, "saved"), "x, w");
  EXPECT_NE(p.math.backward.find("mean("), std::string::npos) << p.math.backward;
  EXPECT_LT(p.memory.kept, decided(kNorm).memory.kept);
  EXPECT_EQ(decision(p, "saved").set_by, profile::SetBy::User);
  expect_reads_back(p);
}

TEST(Saving, ANamedValueCanBeSavedToo) {
  const profile::Profile p = decided(kNorm, {{"saved", "x, w, rstd, n"}});
  EXPECT_EQ(value(p, "saved"), "x, w, rstd, n");
  EXPECT_GT(p.memory.kept, decided(kNorm).memory.kept);
  expect_reads_back(p);
}

TEST(Saving, WhatTheBackwardMissesIsNamed) {
  const std::string error = error_of(kNorm, {{"saved", "rstd, w"}});
  EXPECT_NE(error.find("it needs x"), std::string::npos) << error;
}

TEST(Saving, AValueThatIsNotThereIsRefusedWithTheNearest) {
  const std::string error = error_of(kNorm, {{"saved", "x, w, rst"}});
  EXPECT_NE(error.find("did you mean rstd"), std::string::npos) << error;
}

TEST(Saving, AValueThatTheBackwardDoesNotNeedIsLeftOut) {
  const profile::Profile p = decided(kNorm, {{"saved", "x, w, rstd, y"}});
  EXPECT_EQ(value(p, "saved"), "x, w, rstd");
}

}  // namespace
}  // namespace kw::understand
