#include "profile/review.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "example_profile.h"
#include "profile/columns.h"

namespace kw::profile {
namespace {

std::string page_of(const Profile& profile, ReviewOptions options = {}, ApprovalState state = ApprovalState::Missing) {
  const auto source = [](std::string_view file, int line) {
    return std::string(file) == "source.py" && line == 3 ? "    return x * w  # here" : "";
  };
  return review_page(profile, state, source, options);
}

TEST(Review, EveryLineFitsTheWidth) {
  Profile profile = example_profile();
  profile.decisions[0].because = std::string(300, 'w') + " and more";
  profile.source.given = std::string(200, 'p');
  for (const int width : {80, 120})
    for (const std::string& line : split_lines(page_of(
             profile,
             {.all = true, .files = {{"act/cpu/rms_norm_forward.cpp", "forward, C++ with OpenMP"}}, .width = width})))
      EXPECT_LE(columns(line), static_cast<std::size_t>(width)) << line;
}

TEST(Review, ADecisionIsShownWithItsEvidenceAndItsConsequence) {
  Profile profile = example_profile();
  profile.decisions[0].instead_of = {"gemma", "none"};
  const std::string page = page_of(profile);
  EXPECT_NE(page.find("casting         llama: the source says so"), std::string::npos) << page;
  EXPECT_NE(page.find("at source.py:3  return x * w  # here"), std::string::npos) << page;
  EXPECT_NE(page.find("if wrong: the result would not be what the source means. Instead: gemma | none"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("kw set rms_norm casting=gemma"), std::string::npos) << page;
}

TEST(Review, TheStateOfTheApprovalIsInTheFirstLine) {
  EXPECT_NE(split_lines(page_of(example_profile()))[0].find("not approved"), std::string::npos);
  EXPECT_NE(split_lines(page_of(example_profile(), {}, ApprovalState::Current))[0].find("· approved"),
            std::string::npos);
  EXPECT_NE(split_lines(page_of(example_profile(), {}, ApprovalState::Void))[0].find("changed since approval"),
            std::string::npos);
}

TEST(Review, HeadingsAreBoldOnlyWhenAsked) {
  EXPECT_EQ(page_of(example_profile()).find('\x1b'), std::string::npos);
  EXPECT_NE(page_of(example_profile(), {.bold = true}).find("\x1b[1mDECIDE\x1b[0m"), std::string::npos);
}

TEST(Review, WhatWasAssumedOrSetIsOnTheFirstScreenAndSaysSo) {
  Profile profile = example_profile();
  for (Decision& d : profile.decisions) {
    EXPECT_EQ(is_key_decision(d), d.id == "saved" || d.id == "fp32" || d.id == "backward") << d.id;
    if (d.id == "shape.x") d.set_by = SetBy::Assumption;
    if (d.id == "plan.forward") d.set_by = SetBy::User;
  }
  const std::string page = page_of(profile);
  EXPECT_NE(page.find("shape.x         rows, cols (assumed)"), std::string::npos) << page;
  EXPECT_NE(page.find("plan.forward    row, then column (set by you)"), std::string::npos) << page;
}

TEST(Review, ALongIdDoesNotRunIntoItsValue) {
  Profile profile = example_profile();
  profile.interface.assumed.emplace_back("config.hidden_size", "512");
  profile.decisions.push_back(
      {"assumed.config.hidden_size", "512", "its default", "", {}, "another size", SetBy::Assumption});
  const std::string page = page_of(profile);
  EXPECT_NE(page.find("  assumed.config.hidden_size\n                  512 (assumed): its default\n"),
            std::string::npos)
      << page;
}

TEST(Review, OneShapeIsOne) {
  Profile profile = example_profile();
  profile.shapes.test.resize(1);
  EXPECT_NE(page_of(profile).find("TESTED  1 shape, "), std::string::npos);
}

TEST(Review, AGainThatIsNoneIsNotShown) {
  Profile profile = example_profile();
  profile.memory.kept = 1000000;
  profile.memory.eager_kept = 1000100;
  EXPECT_EQ(page_of(profile).find("1.0×"), std::string::npos);
}

TEST(Review, BytesAreReadable) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(32 << 10), "32 KiB");
  EXPECT_EQ(bytes_text((64 << 20) + (100 << 10)), "64.1 MiB");
  EXPECT_EQ(bytes_text(std::int64_t{3} << 29), "1.50 GiB");
}

TEST(Columns, LongMathGoesOnFurtherIn) {
  EXPECT_EQ(wrapped_math("  y = aaaa + bbbb + cccc", 16),
            (std::vector<std::string>{"  y = aaaa +", "      bbbb +", "      cccc"}));
  EXPECT_EQ(wrapped_math("  short", 16), (std::vector<std::string>{"  short"}));
}

TEST(Columns, WordsThatAreTooLongAreCut) {
  for (const std::string& line : wrapped(std::string(50, 'x') + " y", 20)) EXPECT_LE(columns(line), 20u);
  EXPECT_EQ(wrapped("", 20), (std::vector<std::string>{""}));
  EXPECT_EQ(cut("größer", 4), "grö…");
}

TEST(Columns, TwoTextsStandSideBySide) {
  const std::vector<std::string> rows = side_by_side("a\nb\n", "c\n", 25);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], "  a          │ c");
  EXPECT_EQ(rows[1], "  b          │");
}

}  // namespace
}  // namespace kw::profile
