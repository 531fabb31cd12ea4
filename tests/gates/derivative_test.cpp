// The gate `gradient` asks the profile: a kernel is held to the backward that was approved as well as to the
// derivative, so one that follows a wrong backward is wrong in no other gate's eyes.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/text/parse.h"
#include "kernel_file.h"

namespace kw::verify {
namespace {

Result<Report> judge_with_backward(const std::string& folder, const std::string& kernel, const std::string& grad_a) {
  const std::vector<KernelFile> files = kernels_in("gates/" + folder);
  const auto file = std::find_if(files.begin(), files.end(), [&](const KernelFile& f) { return f.name == kernel; });
  if (file == files.end()) return bad_input("there is no kernel " + kernel);
  KW_TRY(Subject subject, subject_for(*file));
  subject.approved_forward = subject.forward;
  KW_TRY(subject.approved_backward,
         ir::text::parse(R"(op gated_backward(a: T[rows, cols], b: T[rows, cols], d_y: T[rows, cols])
  types T = f32
  s      = sigmoid(wide(a))
  d      = wide(T(d_y * b))
  grad_a = )" + grad_a + R"(
  grad_b = d_y * T(wide(a) * s)
return grad_a, grad_b
)"));
  JudgeOptions options;
  options.cases.only_own_types = true;
  options.device.cache_folder = std::string(KW_BINARY_DIR) + "/kernel_cache";
  return judge(subject, options);
}

TEST(Derivative, ABackwardThatIsTheDerivativePassesWithAKernelThatFollowsIt) {
  const auto report = judge_with_backward("right", "gated", "T(d * s + d * wide(a) * s * (1.0 - s))");
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_TRUE(report->passed()) << to_text(*report);
}

TEST(Derivative, ABackwardThatMissesATermIsCaughtByTheGateOfGradientsAlone) {
  const auto report = judge_with_backward("wrong", "gradient_misses_a_term", "T(d * s)");
  ASSERT_TRUE(report) << render(report.error());
  for (const Verdict& verdict : report->verdicts)
    EXPECT_EQ(verdict.outcome == Outcome::Failed, verdict.gate == Gate::Gradient) << to_text(*report);
  EXPECT_NE(to_text(*report).find("the backward of the profile says"), std::string::npos) << to_text(*report);
}

}  // namespace
}  // namespace kw::verify
