// A profile whose math contradicts itself is refused with its line.
#include <gtest/gtest.h>

#include "base/text.h"
#include "example_profile.h"
#include "profile/decision.h"
#include "profile/yaml.h"

namespace kw::profile {
namespace {

// The example with its backward, as understand would write it.
Profile with_backward() {
  Profile p = example_profile();
  p.math.forward = replaced(p.math.forward, "return y\n", "return y, rstd\n");
  p.math.backward =
      "op rms_norm_backward(x: T[rows, cols], w: W[cols], rstd: f32[rows], d_y: T|W[rows, cols])\n"
      "  grad_w = W(sum(d_y * T(f32(x) * rstd), rows))\n"
      "  g      = f32(T(d_y * w))\n"
      "  d_ms   = -0.5 * sum(g * f32(x), cols) * (rstd^2 * rstd)\n"
      "  grad_x = T(g * rstd + 2.0 * (d_ms / size(cols) * f32(x)))\n"
      "return grad_x, grad_w\n";
  p.math.rule = "derivative";
  p.math.saved = {
      {"x", "input", "T", {"rows", "cols"}}, {"w", "input", "W", {"cols"}}, {"rstd", "value", "f32", {"rows"}}};
  p.plan.backward = p.plan.forward;
  p.decisions.clear();
  for (const std::string& id : expected_decisions(p)) {
    const DecisionKind& kind = *find_kind(id);
    p.decisions.push_back({id,
                           *kind.field(p, kind.id.ends_with(".*") ? id.substr(kind.id.size() - 1) : ""),
                           "because",
                           "",
                           {},
                           "wrong",
                           SetBy::Engine});
  }
  return p;
}

Error error_of(const Profile& profile) {
  const Result<Profile> result = from_yaml(to_yaml(profile), "profile.yaml");
  EXPECT_FALSE(result.has_value());
  return result ? Error{} : result.error();
}

void expect_error(const Profile& profile, const std::string& message, const std::string& on_line) {
  const Error error = error_of(profile);
  EXPECT_NE(error.message.find(message), std::string::npos) << render(error);
  EXPECT_NE(error.source_line.find(on_line), std::string::npos) << render(error);
  ASSERT_TRUE(error.place.has_value());
  EXPECT_GT(error.place->column, 0);
}

TEST(MathCheck, AProfileWithItsBackwardReadsBackEqual) {
  const Profile profile = with_backward();
  const Result<Profile> back = from_yaml(to_yaml(profile), "profile.yaml");
  ASSERT_TRUE(back.has_value()) << render(back.error());
  EXPECT_EQ(*back, profile);
}

TEST(MathCheck, MathThatDoesNotParseIsShownAtItsPlaceInTheYaml) {
  Profile p = with_backward();
  p.math.forward = replaced(p.math.forward, "rsqrt(ms", "rsqr(ms");
  const Error error = error_of(p);
  EXPECT_NE(error.message.find("rsqr"), std::string::npos) << render(error);
  EXPECT_NE(error.source_line.find("rstd = rsqr(ms + eps)"), std::string::npos) << render(error);
  EXPECT_EQ(error.place->column, static_cast<int>(error.source_line.find("rsqr(")) + 1) << render(error);
}

TEST(MathCheck, AnInterfaceThatTheMathDoesNotHaveIsRefused) {
  Profile type = with_backward();
  type.interface.inputs[0].type = "W";
  expect_error(type, "in the math 'x' has type T", "name: x");
  Profile shape = with_backward();
  shape.interface.inputs[0].shape = {"cols", "rows"};
  for (Decision& d : shape.decisions)
    if (d.id == "shape.x") d.value = "cols, rows";
  expect_error(shape, "in the math 'x' has shape [rows, cols]", "name: x");
  Profile output = with_backward();
  output.interface.outputs[0].type = "T";
  expect_error(output, "in the math 'y' is T|W[rows, cols]", "name: y");
  Profile standard = with_backward();
  standard.interface.inputs[2].default_value = "1e-5";
  standard.module.arguments[0].second = "1e-5";
  for (Decision& d : standard.decisions)
    if (d.id == "value.eps") d.value = "1e-5";
  expect_error(standard, "in the math 'eps' is 1e-6 by default", "name: eps");
}

TEST(MathCheck, ASavedValueThatTheMathDoesNotHaveIsRefused) {
  Profile p = with_backward();
  p.math.saved[2].name = "mean";
  for (Decision& d : p.decisions)
    if (d.id == "saved") d.value = "x, w, mean";
  EXPECT_NE(error_of(p).message.find("mean"), std::string::npos) << render(error_of(p));
  Profile type = with_backward();
  type.math.saved[2].type = "T";
  expect_error(type, "in the math 'rstd' is f32[rows]", "name: rstd");
}

TEST(MathCheck, ASavedValueThatTheBackwardDoesNotTakeIsRefused) {
  Profile p = with_backward();
  p.math.saved.insert(p.math.saved.begin() + 2, {"y", "output", "T|W", {"rows", "cols"}});
  for (Decision& d : p.decisions)
    if (d.id == "saved") d.value = "x, w, y, rstd";
  expect_error(p, "'y' is saved, but the backward does not take it", "name: y");
}

TEST(MathCheck, ABackwardThatTakesWhatNobodySavedIsRefused) {
  Profile p = with_backward();
  p.math.backward = replaced(p.math.backward, "d_y: T|W[rows, cols])", "d_y: T|W[rows, cols], ms: f32[rows])");
  expect_error(p, "the backward takes 'ms', which is neither saved nor the gradient of an output", "backward: |");
}

TEST(MathCheck, AForwardThatIsNotWhatWasReadIsRefused) {
  Profile p = with_backward();
  p.math.forward = replaced(p.math.forward, "f32(x)^2", "f32(x)");
  EXPECT_NE(error_of(p).message.find("the forward is not the math as read"), std::string::npos) << render(error_of(p));
}

TEST(MathCheck, ABackwardThatIsNotTheDerivativeIsRefused) {
  Profile p = with_backward();
  p.math.backward = replaced(p.math.backward, "-0.5", "0.5");
  EXPECT_NE(error_of(p).message.find("the backward is not the derivative"), std::string::npos) << render(error_of(p));
}

TEST(MathCheck, AnotherFormOfTheDerivativeIsStillTheDerivative) {
  Profile p = with_backward();
  p.math.backward = replaced(p.math.backward, "2.0 * (d_ms / size(cols) * f32(x))",
                             "(d_ms / size(cols) * f32(x)) + f32(x) * d_ms / size(cols)");
  const Result<Profile> back = from_yaml(to_yaml(p), "profile.yaml");
  EXPECT_TRUE(back.has_value()) << render(back.error());
}

TEST(MathCheck, ATypeOrSizeThatTheMathDoesNotHaveIsRefused) {
  Profile p = with_backward();
  p.interface.types.emplace_back("U", "f32");
  p.decisions.push_back({"type.U", "f32", "because", "", {}, "wrong", SetBy::Engine});
  expect_error(p, "the math has no type 'U'", "types:");
}

TEST(MathCheck, MathInQuotesIsReadLikeABlock) {
  const Profile profile = example_profile();
  std::string quoted = "\"";
  for (const char c : profile.math.forward) quoted += c == '\n' ? std::string("\\n") : std::string(1, c);
  quoted += "\"";
  const std::string yaml = to_yaml(profile);
  const std::size_t from = yaml.find("|\n", yaml.find("forward:"));
  const std::size_t to = yaml.find("  rule:");
  const Result<Profile> back = from_yaml(yaml.substr(0, from) + quoted + "\n" + yaml.substr(to), "profile.yaml");
  ASSERT_TRUE(back.has_value()) << render(back.error());
  EXPECT_EQ(*back, profile);
}

}  // namespace
}  // namespace kw::profile
