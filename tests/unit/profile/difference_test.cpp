#include "profile/difference.h"

#include <gtest/gtest.h>

#include "example_profile.h"
#include "profile/schedules.h"

namespace kw::profile {
namespace {

TEST(Difference, EqualProfilesHaveNone) { EXPECT_TRUE(difference(example_profile(), example_profile()).empty()); }

TEST(Difference, AChangedDecisionShowsOldAndNewValue) {
  Profile after = example_profile();
  after.numerics.casting = "gemma";
  after.decisions[0].value = "gemma";
  const std::vector<Change> changes = difference(example_profile(), after);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(to_text(changes), "casting: llama → gemma\n");
}

TEST(Difference, ChangedMathShowsItsLines) {
  Profile after = example_profile();
  after.math.forward = replaced(after.math.forward, "ms + eps", "ms");
  const std::string text = to_text(difference(example_profile(), after));
  EXPECT_NE(text.find("-   rstd = rsqrt(ms + eps)"), std::string::npos) << text;
  EXPECT_NE(text.find("+   rstd = rsqrt(ms)"), std::string::npos) << text;
}

TEST(Difference, AFieldThatNoDecisionCoversShowsToo) {
  Profile after = example_profile();
  after.interface.constraints = {"cols % 2 == 0"};
  EXPECT_FALSE(difference(example_profile(), after).empty());
}

TEST(Schedules, RowsReadBackEqual) {
  const std::vector<ScheduleRow> rows = {{"cuda",
                                          "sm_90",
                                          {{"T", "bf16"}},
                                          "cols <= 8192",
                                          "forward",
                                          "row",
                                          {{"vector", "8"}},
                                          "measured: 91% of the limit"},
                                         {"cpu", "x86-64", {}, "", "backward", "row", {}, "the family's own formula"}};
  const Result<std::vector<ScheduleRow>> back = schedules_from_yaml(schedules_to_yaml(rows), "schedules.yaml");
  ASSERT_TRUE(back.has_value()) << render(back.error());
  EXPECT_EQ(*back, rows);
  EXPECT_TRUE(schedules_from_yaml(schedules_to_yaml({}), "schedules.yaml")->empty());
}

TEST(Schedules, AnUnknownKeyIsRefused) {
  EXPECT_FALSE(schedules_from_yaml("schema: 1\nschedules: []\nextra: 1\n", "schedules.yaml").has_value());
}

}  // namespace
}  // namespace kw::profile
