// What cases have shown, added up: the numbers of a report, and the gates that are concluded from them.
#include "verify/record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kw::verify {
namespace {

using ir::DType;

constexpr double kUlp = 0x1p-23;  // of f32 at 1

// A tensor of ones of which the first elements are so many ulps off, each with a bound of ten.
OutputError output(const std::string& tensor, DType type, size_t elements, const std::vector<double>& ulps_off) {
  const double ulp = type == DType::BF16 ? 0x1p-7 : kUlp;
  const ir::Array expected{
      {static_cast<int64_t>(elements)}, std::vector<double>(elements, 1.0), std::vector<double>(elements, 10 * ulp)};
  std::vector<double> got = expected.values;
  for (size_t i = 0; i < ulps_off.size(); ++i) got[i] += ulps_off[i] * ulp;
  OutputError error{"forward", tensor, type, ir::compare(expected, got, type)};
  error.measured = error.report;
  return error;
}

// After one case with these outputs.
Record record_of(const std::vector<OutputError>& errors, Values values = Values::Ordinary) {
  const Subject subject;
  Record record(subject, 1);
  record.report.cases = 1;
  for (const OutputError& error : errors) record.add(error, values);
  record.conclude(subject, 1, 1);
  return record;
}

Verdict near_bound(const std::vector<OutputError>& errors, Values values = Values::Ordinary) {
  return record_of(errors, values).verdict(Gate::NearBound);
}

TEST(NearBound, AnErrorNearItsBoundIsFlaggedAndNamed) {
  const Verdict verdict = near_bound({output("x", DType::F32, 100, {1}), output("y", DType::F32, 100, {2, 9.5})});
  EXPECT_EQ(verdict.outcome, Outcome::Flagged);
  EXPECT_EQ(verdict.line, "y of the forward pass in f32: 95 % of its bound");
  EXPECT_EQ(verdict.evidence, std::vector<std::string>{verdict.line});
}

TEST(NearBound, OneThatIsFarFromItIsNot) {
  for (const double ulps : {0.0, 1.0, 8.5, 9.0}) {
    const Verdict verdict = near_bound({output("y", DType::F32, 100, {ulps})});
    EXPECT_EQ(verdict.outcome, Outcome::Passed) << ulps;
    EXPECT_EQ(verdict.line, "every error in f32 and f64 is below 90 % of its bound");
    EXPECT_TRUE(verdict.evidence.empty());
  }
}

TEST(NearBound, ValuesThatAreNotOrdinaryCountToo) {
  EXPECT_EQ(near_bound({output("y", DType::F32, 100, {9.5})}, Values::Large).outcome, Outcome::Flagged);
}

// Half of an ulp of 16 bits is most of any bound.
TEST(NearBound, NarrowTypesAreNotAsked) {
  EXPECT_EQ(near_bound({output("y", DType::BF16, 100, {9.5})}).outcome, Outcome::Passed);
}

TEST(NearBound, IsSoftAndLeavesWhatIsBeyondToTheGateError) {
  EXPECT_FALSE(info(Gate::NearBound).hard);
  const Record flagged = record_of({output("y", DType::F32, 100, {9.5})});
  EXPECT_EQ(flagged.report.verdict(Gate::Error).outcome, Outcome::Passed);
  EXPECT_EQ(near_bound({output("y", DType::F32, 100, {11})}).outcome, Outcome::Passed);
}

// Two of two thousand may be farther off than the percentile; the third is the one that it is.
OutputError known() { return output("y", DType::F32, 2000, {8, 4, 2, 1, 1, 1}); }

TEST(GatesThatCouldNotLook, AreNotedAndDoNotPass) {
  Subject subject;
  Record record(subject, 1);
  record.report.cases = 1;
  record.orders = 3;
  record.not_built = "NVRTC, which compiles CUDA, is not there";
  record.conclude(subject, 1, 1);
  EXPECT_EQ(record.report.verdict(Gate::Builds).outcome, Outcome::Flagged);
  EXPECT_NE(record.report.verdict(Gate::Builds).line.find(record.not_built), std::string::npos);
  EXPECT_EQ(record.report.verdict(Gate::Casting).outcome, Outcome::Flagged);
  EXPECT_EQ(record.report.verdict(Gate::Casting).line, "none of 3 other orders of rounding would have been seen");
}

TEST(GatesThatCouldNotLook, PassWhereTheyCould) {
  Subject subject;
  Record record(subject, 1);
  record.report.cases = 1;
  record.orders = 3;
  record.orders_apart = 1;
  record.conclude(subject, 1, 1);
  EXPECT_EQ(record.report.verdict(Gate::Builds).outcome, Outcome::Passed);
  EXPECT_EQ(record.report.verdict(Gate::Casting).outcome, Outcome::Passed);
}

TEST(RoundedCount, IsInMillionsFromOneOn) {
  EXPECT_EQ(rounded_count(999'999), "999999");
  EXPECT_EQ(rounded_count(37'600'000), "38 million");
}

TEST(ReportedErrors, AreMaximumPercentileAndUlps) {
  const Record record = record_of({known()});
  ASSERT_EQ(record.report.errors.size(), 1u);
  const ErrorRow& row = record.report.errors[0];
  EXPECT_EQ(row.elements, 2000);
  EXPECT_EQ(row.max_error, 8 * kUlp);
  EXPECT_EQ(row.error_99_9, 2 * kUlp);
  EXPECT_EQ(row.max_ulps, 8);
  EXPECT_EQ(row.ulps_99_9, 2);
  EXPECT_EQ(row.max_share, 0.8);
  EXPECT_EQ(row.bound, 10 * kUlp);
  EXPECT_EQ(record.report.verdict(Gate::Error).line,
            "2000 elements; nearest to its bound: y (f32), 80 %, ordinary values at most 8 ulps off, 99.9 % within 2");
}

TEST(ReportedErrors, AreThoseOfTheWorstCaseWithOrdinaryValues) {
  const Subject subject;
  Record record(subject, 1);
  record.add(output("y", DType::F32, 2000, {3, 3, 3}), Values::Ordinary);
  record.add(known(), Values::Ordinary);
  record.add(output("y", DType::F32, 10, {9}), Values::Large);  // its share of the bound counts
  record.add(output("y", DType::BF16, 10, {5}), Values::Ordinary);
  ASSERT_EQ(record.report.errors.size(), 2u) << "a row for each type";
  const ErrorRow& row = record.report.errors[0];
  EXPECT_EQ(row.cases, 3);
  EXPECT_EQ(row.elements, 4010);
  EXPECT_EQ(row.max_ulps, 8);
  EXPECT_EQ(row.ulps_99_9, 3);
  EXPECT_EQ(row.max_error, 8 * kUlp);
  EXPECT_EQ(row.error_99_9, 3 * kUlp);
  EXPECT_EQ(row.max_share, 0.9);
  EXPECT_EQ(record.report.errors[1].type, "bf16");
  EXPECT_EQ(record.report.errors[1].max_ulps, 5);
}

TEST(ReportedErrors, StandInEveryFormOfTheReport) {
  const Report report = record_of({known()}).report;
  const auto row = nlohmann::json::parse(to_json(report))["errors"][0];
  EXPECT_EQ(row["max_error"], 8 * kUlp);
  EXPECT_EQ(row["error_99_9"], 2 * kUlp);
  EXPECT_EQ(row["max_ulps"], 8);
  EXPECT_EQ(row["ulps_99_9"], 2);
  // pass, tensor, type, elements, max error, 99.9 %, max ulps, 99.9 % ulps, bound, share
  EXPECT_NE(to_markdown(report).find("| forward | y | f32 | 2000 | 9.54e-07 | 2.38e-07 | 8 | 2 | 1.19e-06 | 0.8 |"),
            std::string::npos)
      << to_markdown(report);
  std::string cells;
  for (const char* figure : {"2000", "9.54e-07", "2.38e-07", "8", "2", "1.19e-06", "0.8"})
    cells += std::string("<td class=\"number\">") + figure + "</td>";
  EXPECT_NE(to_html(report).find(cells), std::string::npos) << to_html(report);
  EXPECT_NE(to_text(report).find("at most 8 ulps off, 99.9 % within 2"), std::string::npos) << to_text(report);
}

}  // namespace
}  // namespace kw::verify
