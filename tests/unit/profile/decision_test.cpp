#include "profile/decision.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "example_profile.h"

namespace kw::profile {
namespace {

TEST(Decision, ThePublishedTableIsTheOneThatIsUsed) {
  std::vector<std::string> published;
  for (const std::string& line : split_lines(*read_text(std::string(KW_SOURCE_DIR) + "/docs/profile.md")))
    if (line.starts_with("| ") && !line.starts_with("| id |") && !line.starts_with("| ---")) published.push_back(line);
  std::vector<std::string> used;
  for (const DecisionKind& kind : decision_kinds()) {
    const std::string weight = kind.weight == Weight::Engine ? "the plan" : std::string(to_text(kind.weight));
    used.push_back("| " + std::string(kind.id) + " | " + std::string(kind.title) + " | " + weight + " | " +
                   (kind.settable ? "yes" : "no") + " |");
  }
  EXPECT_EQ(published, used);
}

TEST(Decision, WhatChangesNumbersComesFirst) {
  Weight last = Weight::Numbers;
  for (const DecisionKind& kind : decision_kinds()) {
    EXPECT_GE(kind.weight, last) << kind.id;
    last = kind.weight;
  }
}

TEST(Decision, TheEndOfAnIdIsEnoughWhereItIsTheOnlyOne) {
  const Profile profile = example_profile();
  EXPECT_EQ(resolve_decision(profile, "casting"), "casting");
  EXPECT_EQ(resolve_decision(profile, "T"), "type.T");
  EXPECT_EQ(resolve_decision(profile, "eps"), "value.eps");
  EXPECT_EQ(resolve_decision(profile, "forward"), "plan.forward");
  EXPECT_EQ(resolve_decision(profile, "U"), std::nullopt);
  EXPECT_EQ(resolve_decision(profile, ""), std::nullopt);
}

TEST(Decision, AnEndThatTwoIdsShareIsNotEnough) {
  Profile profile = example_profile();
  profile.interface.inputs[0].name = "T";
  EXPECT_EQ(resolve_decision(profile, "T"), std::nullopt);
  EXPECT_EQ(resolve_decision(profile, "type.T"), "type.T");
}

TEST(Decision, AFixedTypeIsDecidedPerTensorAndAParameterOnce) {
  Profile profile = example_profile();
  profile.interface.inputs[1].type = "i64";
  const std::vector<std::string> ids = expected_decisions(profile);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), "type.w"), 1);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), "type.x"), 0);
}

}  // namespace
}  // namespace kw::profile
