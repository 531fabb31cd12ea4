#include "verify/attempts.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace kw::verify {
namespace {

Attempt attempt(const std::string& subject, bool failed, const std::string& target = "cpu") {
  return {"2024-05-01T12:00:00Z",
          target,
          subject,
          "k",
          "as planned",
          failed ? std::vector<std::string>{"error"} : std::vector<std::string>{},
          0xABCDEF0123456789};
}

TEST(Attempts, AnAttemptReadsBackAsItWasWritten) {
  const Attempt one = attempt("s", true);
  const auto back = read_attempts(to_line(one) + "\n", "attempts.jsonl");
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), 1u);
  EXPECT_EQ(back->front(), one);
}

TEST(Attempts, FailuresInARowOfTheSameSubjectAreStrikes) {
  std::vector<Attempt> all = {attempt("old", true), attempt("s", true), attempt("s", true)};
  EXPECT_EQ(strikes(all, "cpu", "s"), 2);
  all.push_back(attempt("s", true, "cuda"));  // another target does not count
  EXPECT_EQ(strikes(all, "cpu", "s"), 2);
  EXPECT_EQ(strikes(all, "cpu", "changed"), 0);
  all.push_back(attempt("s", false));
  EXPECT_EQ(strikes(all, "cpu", "s"), 0);
}

TEST(Attempts, ThoseOfAnotherKernelBetweenThemChangeNothing) {
  std::vector<Attempt> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(attempt("s", true));
    all.push_back(attempt("by hand", i == 1));
  }
  EXPECT_EQ(strikes(all, "cpu", "s"), 3);
  EXPECT_EQ(strikes(all, "cpu", "by hand"), 0) << "its last passed";
}

TEST(Attempts, WhatSpillsInOtherTypesIsNoReasonToTryFewerRegisters) {
  Report report;
  report.mixtures = {"T=bf16", "T=f64"};
  for (const GateInfo& gate : gates()) report.verdicts.push_back({gate.gate, Outcome::Passed, "", {}});
  report.verdicts[static_cast<std::size_t>(Gate::Builds)].outcome = Outcome::Failed;
  report.kernels = {{"forward", "sm_80", "T=bf16"}, {"forward", "sm_80", "T=f64", 255, 8, 8}};
  EXPECT_FALSE(only_spills(report));
  report.kernels[0].spill_stored = 4;
  EXPECT_TRUE(only_spills(report));
  EXPECT_TRUE(spills_in_own_types(report, report.kernels[0]));
  EXPECT_FALSE(spills_in_own_types(report, report.kernels[1]));
}

TEST(Attempts, AfterTheThirdStrikeTheLastOneOfThisTargetIsNamed) {
  const std::string file = testing::TempDir() + "three_strikes.jsonl";
  std::string lines;
  for (int i = 0; i < 3; ++i) lines += to_line(attempt("s", true)) + "\n";
  lines += to_line(attempt("s", false, "cuda")) + "\n";
  ASSERT_TRUE(write_file_atomically(file, lines));
  const AttemptLog log(file);
  EXPECT_TRUE(log.may_go_on("relu", "cuda", "s"));
  EXPECT_TRUE(log.may_go_on("relu", "cpu", "changed"));
  const Status refused = log.may_go_on("relu", "cpu", "s");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("relu failed 3 times on cpu (error the last time)"), std::string::npos)
      << refused.error().message;
}

TEST(Attempts, ALineThatIsNoAttemptIsBlamed) {
  for (const char* text : {"{}", "[1]", "nonsense", "{\"when\": 3}"}) {
    const auto read = read_attempts(std::string("\n") + text, "attempts.jsonl");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().place->line, 2);
  }
}

}  // namespace
}  // namespace kw::verify
