#include "understand/decisions/closest.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "decided.h"

namespace kw::understand {
namespace {

TEST(Closest, ThePublishedTableIsTheOneThatIsUsed) {
  const std::string page = *read_text(std::string(KW_SOURCE_DIR) + "/docs/closest-kernels.md");
  std::vector<std::string> published;
  for (const std::string& line : split_lines(page))
    if (line.starts_with("| ") && !line.starts_with("| ---") && !line.starts_with("| kernel |") &&
        !line.starts_with("| feature |"))
      published.push_back(line);
  std::vector<std::string> used;
  for (const KnownKernel& kernel : known_kernels()) {
    std::vector<std::string> names;
    for (const Feature feature : kernel.features) names.emplace_back(to_text(feature));
    used.push_back("| " + std::string(kernel.name) + " | " + join(names, ", ") + " |");
  }
  for (const FeatureRow& row : feature_rows())
    used.push_back("| " + std::string(row.name) + " | " + std::to_string(row.weight) + " | " +
                   std::string(row.meaning) + " |");
  EXPECT_EQ(published, used);
}

TEST(Closest, NoTwoKnownKernelsHaveTheSameFeatures) {
  std::set<std::set<Feature>> seen;
  for (const KnownKernel& kernel : known_kernels())
    EXPECT_TRUE(seen.insert({kernel.features.begin(), kernel.features.end()}).second) << kernel.name;
}

TEST(Closest, EveryKnownKernelIsClosestToItself) {
  for (const KnownKernel& kernel : known_kernels())
    EXPECT_EQ(closest_to({kernel.features.begin(), kernel.features.end()}).name, kernel.name);
}

TEST(Closest, AnOpThatSharesNothingIsCloseToNone) {
  EXPECT_EQ(value(decided("op f(x: T[n])\n  y = x + x\nreturn y\n"), "closest"), "none");
}

TEST(Closest, AKernelBuiltAroundSomethingElseIsNotClose) {
  const std::string linear = "op f(x: T[r, c], w: T[o, c], b: T[o])\n  y = max(contract(x, w, c) + b, 0)\nreturn y\n";
  EXPECT_EQ(value(decided(linear), "closest"), "matmul");  // and not conv2d, which has the bias too, but windows
}

TEST(Closest, TheReasonSaysWhatIsSharedAndWhatIsNot) {
  const profile::Decision d = decision(
      decided("op f(x: T[r, c], w: T[c], b: T[c])\n  n = x * rsqrt(mean(x^2, c))\n  y = n * w + b\nreturn y\n"),
      "closest");
  EXPECT_EQ(d.value, "rms_norm");
  EXPECT_NE(d.because.find("mean of squares, normalised and weighted"), std::string::npos) << d.because;
  EXPECT_NE(d.because.find("here also biased"), std::string::npos) << d.because;
}

TEST(Closest, AnotherKernelCanBeSetAndAnUnknownOneIsRefused) {
  const std::string math = "op f(x: T[n])\n  y = exp(x)\nreturn y\n";
  EXPECT_EQ(value(decided(math, {{"closest", "swiglu"}}), "closest"), "swiglu");
  EXPECT_NE(error_of(math, {{"closest", "swigl"}}).find("did you mean swiglu"), std::string::npos);
}

}  // namespace
}  // namespace kw::understand
