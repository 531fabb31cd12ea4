// Cases in which many blocks leave parts of a sum stay small where sizes of the op's own cannot be: those that a shape
// only has a difference of (what follows a convolution) are as the user gave them.
#include <gtest/gtest.h>

#include "act/act.h"
#include "understand/decisions/decide.h"
#include "understand/read_source.h"
#include "verify/plan.h"
#include "verify/shapes.h"

namespace kw::test {
namespace {

TEST(CasesOfManyParts, AreSmallWhateverTheUsersSizes) {
  const auto located = understand::locate_source("",
                                                 "op f(weight: parameter W[c], x: T[n, c, h_2 = h - 2, w_2 = w - 2])\n"
                                                 "  sizes n = 128, c = 24, h = 128, w = 128\n"
                                                 "  where c % 8 == 0\n"
                                                 "  parts  = split(x, c -> (groups = 8, each))\n"
                                                 "  scale  = rsqrt(mean(parts^2, each, h_2, w_2) + 1e-5)\n"
                                                 "  normed = merge(parts * scale, (groups, each) -> c)\n"
                                                 "  y      = mean(normed * weight, c, h_2, w_2)\n"
                                                 "return y\n");
  ASSERT_TRUE(located) << render(located.error());
  const auto reading = understand::read_source(*located, {});
  ASSERT_TRUE(reading) << render(reading.error());
  const auto profile = understand::decide(*reading, "f", {.kind = located->kind}, {});
  ASSERT_TRUE(profile) << render(profile.error());
  auto kernels = act::act(*profile, {}, kernel::Target::Cuda);
  ASSERT_TRUE(kernels) << render(kernels.error());
  const auto subject = verify::subject_of(*profile, std::move(kernels->manifest), std::move(kernels->files), false);
  ASSERT_TRUE(subject) << render(subject.error());
  constexpr int64_t kMost = 150'000;
  const auto cases = verify::plan_cases(*subject, {.seed = 1, .most_in_parts = kMost, .only_own_types = true});
  EXPECT_GT(cases.size(), 20u);
  for (const verify::Case& c : cases) EXPECT_LE(verify::most_elements(*subject, c.sizes), 2 * kMost) << c.text();
}

}  // namespace
}  // namespace kw::test
