// The gates bite: kernels by hand, each wrong in one way, are caught by the gate that should catch them; and the right
// ones that they were made from pass every gate, so that what is caught is the mistake.
//
//   ops/OP.kw       the math; ops/OP.py the same for PyTorch, for the gate that asks it
//   right/NAME.cc   "// op: OP", then a kernel that is right
//   wrong/NAME.cc   "// op: OP", "// gate: GATE" (or "GATE or GATE"), then one that is not
//   flagged/NAME.cc the same for a soft gate: the kernel is right, and the gate has something to say
//
// A file NAME.cu is CUDA, and runs in the emulation. "// types: all" tries every mixture of types, not the op's own
// alone; "// in place: x" lets an output take the memory of x.
#include <gtest/gtest.h>

#include "base/text.h"
#include "kernel_file.h"

namespace kw::verify {
namespace {

Result<Report> judge_file(const KernelFile& file) {
  KW_TRY(const Subject subject, subject_for(file));
  JudgeOptions options = options_for(file);
  options.device.limits.time = std::chrono::milliseconds(1500);
  options.device.cache_folder = std::string(KW_BINARY_DIR) + "/kernel_cache";
  return judge(subject, options);
}

std::string kernel_name(const ::testing::TestParamInfo<KernelFile>& info) { return info.param.name; }

class Right : public ::testing::TestWithParam<KernelFile> {};
TEST_P(Right, PassesEveryGate) {
  const Result<Report> report = judge_file(GetParam());
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_TRUE(report->passed()) << to_text(*report);
}
INSTANTIATE_TEST_SUITE_P(Kernel, Right, ::testing::ValuesIn(kernels_in("gates/right")), kernel_name);

class Wrong : public ::testing::TestWithParam<KernelFile> {};
TEST_P(Wrong, IsCaughtByTheGateThatShouldCatchIt) {
  if (asks_pytorch(GetParam()) && !find_python_with_torch()) GTEST_SKIP() << "no Python here has torch";
  const Result<Report> report = judge_file(GetParam());
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_FALSE(report->passed()) << to_text(*report);
  EXPECT_TRUE(is_caught(GetParam(), *report)) << "should be caught by " << join(GetParam().gates, " or ") << "\n"
                                              << to_text(*report);
}
class Flagged : public ::testing::TestWithParam<KernelFile> {};
TEST_P(Flagged, PassesWithTheFlagThatItShouldHave) {
  const Result<Report> report = judge_file(GetParam());
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_TRUE(report->passed()) << to_text(*report);
  for (const Verdict& verdict : report->verdicts)
    if (info(verdict.gate).name == GetParam().gates.at(0)) {
      EXPECT_EQ(verdict.outcome, Outcome::Flagged) << to_text(*report);
    }
}
INSTANTIATE_TEST_SUITE_P(Kernel, Flagged, ::testing::ValuesIn(kernels_in("gates/flagged")), kernel_name);

INSTANTIATE_TEST_SUITE_P(Kernel, Wrong, ::testing::ValuesIn(kernels_in("gates/wrong")), kernel_name);

}  // namespace
}  // namespace kw::verify
