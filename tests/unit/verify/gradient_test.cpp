#include "verify/gradient.h"

#include <gtest/gtest.h>

#include "ir/derivative/derivative.h"
#include "ir/text/parse.h"

namespace kw::verify {
namespace {

Subject subject(const std::string& forward, const std::string& backward = {}) {
  Subject out;
  out.forward = *ir::text::parse(forward);
  out.joint = *ir::differentiate(out.forward);
  if (!backward.empty()) {
    out.approved_forward = out.forward;
    out.approved_backward = *ir::text::parse(backward);
  }
  return out;
}

const char* const kSilu = "op silu(x: T[n])\n  y = x * sigmoid(x)\nreturn y\n";

TEST(Gradient, TheDerivativeAgreesWithDifferences) {
  const auto found = check_gradient(subject(kSilu), {{"n", 7}}, 1);
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_EQ(found->problem, "");
  EXPECT_GT(found->directions, 6);
  EXPECT_LT(found->largest, 1e-8);
}

TEST(Gradient, ABackwardThatMissesATermIsSeen) {
  const auto found = check_gradient(
      subject(kSilu, "op silu_backward(x: T[n], d_y: T[n])\n  grad_x = d_y * sigmoid(x)\nreturn grad_x\n"), {{"n", 7}},
      1);
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_NE(found->problem.find("the backward of the profile"), std::string::npos) << found->problem;
}

TEST(Gradient, WhatIsHeldDoesNotMove) {
  // A straight-through estimator: the derivative is that of x alone.
  const auto found =
      check_gradient(subject("op ste(x: T[n])\n  y = x + stop_gradient(x * x * x - x)\nreturn y\n"), {{"n", 5}}, 3);
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_EQ(found->problem, "");
  EXPECT_GT(found->directions, 4);
}

}  // namespace
}  // namespace kw::verify
