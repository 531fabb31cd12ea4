// What a kernel is compared with.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/derivative/derivative.h"
#include "ir/text/parse.h"
#include "verify/trial.h"

namespace kw::verify {
namespace {

TEST(Expect, WhereTheApprovedBackwardIsNoNumberAndTheDerivativeIsAnythingGoes) {
  Subject subject;
  subject.forward = *ir::text::parse("op twice(x: f32[n])\n  sizes n = 2\n  y = 2.0 * x\nreturn y\n");
  subject.joint = *ir::differentiate(subject.forward);
  subject.approved_forward = subject.forward;
  subject.approved_backward = *ir::text::parse(
      "op twice_backward(d_y: no_grad f32[n])\n  sizes n = 2\n  grad_x = sqrt(d_y) * sqrt(d_y) * 2.0\nreturn grad_x\n");
  ir::Environment values;
  values.inputs["x"] = ir::Array{{2}, {1, 1}};
  values.inputs["d_y"] = ir::Array{{2}, {4, -4}};
  const Result<Expected> expected = expect(subject, {}, values);
  ASSERT_TRUE(expected) << render(expected.error());
  const ir::Array& gradient = expected->at("grad_x");
  EXPECT_EQ(gradient.values, (std::vector<double>{8, -8}));
  EXPECT_LT(gradient.bounds[0], 1e-5);
  EXPECT_TRUE(std::isinf(gradient.bounds[1]));
}

}  // namespace
}  // namespace kw::verify
