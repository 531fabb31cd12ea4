// Kernels with 64-bit indices for tensors of more than 2^31 elements, which no call of a test has: the judge runs each
// in the emulation at small sizes too, with the kernels that would be called there left out.
#include <gtest/gtest.h>

#include <algorithm>

#include "act/act.h"
#include "example_profiles.h"
#include "kernel_pass.h"
#include "verify/judge.h"

namespace kw::test {
namespace {

constexpr std::string_view kLarge = "_large";

std::vector<std::string> large_entries(const kernel::Manifest& manifest) {
  std::vector<std::string> symbols;
  for (const kernel::Pass& pass : manifest.passes)
    for (const kernel::Step& step : pass.steps)
      for (const kernel::Entry& entry : step.entries)
        if (entry.symbol.ends_with(kLarge)) symbols.push_back(entry.symbol);
  return symbols;
}

struct Judged {
  std::vector<std::string> large;
  verify::Report report;
};

// `index`: the type that these kernels count in.
Result<Judged> judged(const std::string& name, const std::string& index) {
  const profile::Profile profile = example_profile(name);
  KW_TRY(act::Generated generated, act::act(profile, {}, kernel::Target::Cuda));
  Judged out{large_entries(generated.manifest), {}};
  for (auto& [file, text] : generated.files)
    for (const std::string& symbol : out.large) {
      const std::string right = ", int64_t>(";
      const size_t entry = text.find("void " + symbol + "("), counts = text.find(right, std::min(entry, text.size()));
      if (counts != std::string::npos) text.replace(counts, right.size(), ", " + index + ">(");
    }
  KW_TRY(const verify::Subject subject,
         verify::subject_of(profile, std::move(generated.manifest), std::move(generated.files), false));
  verify::JudgeOptions options;
  options.cases.seed = 1;
  options.cases.only_own_types = true;
  options.check_oracle = false;
  options.brief = true;
  options.device = device_options();
  KW_TRY(out.report, verify::judge(subject, options));
  return out;
}

class LargeEntries : public ::testing::TestWithParam<std::string> {};

TEST_P(LargeEntries, AreRunAtSmallSizesToo) {
  const auto kernels = judged(GetParam(), "int64_t");
  ASSERT_TRUE(kernels) << render(kernels.error());
  EXPECT_TRUE(kernels->report.passed()) << verify::to_text(kernels->report);
  EXPECT_FALSE(kernels->large.empty());
  for (const std::string& symbol : kernels->large)
    EXPECT_EQ(std::count(kernels->report.unreached.begin(), kernels->report.unreached.end(), symbol), 0) << symbol;
}

TEST_P(LargeEntries, AreCaughtWhereTheyCountInTooFewBits) {
  const auto kernels = judged(GetParam(), "signed char");
  ASSERT_TRUE(kernels) << render(kernels.error());
  ASSERT_FALSE(kernels->report.passed());
  EXPECT_NE(verify::to_text(kernels->report).find(std::string(kLarge) + " alone: "), std::string::npos)
      << verify::to_text(kernels->report);
}

// A pointwise op, a column, a sum of everything, a row whose weights have gradients of their own.
INSTANTIATE_TEST_SUITE_P(Of, LargeEntries, ::testing::Values("swiglu", "mean_middle", "mse", "poly_relu"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kw::test
