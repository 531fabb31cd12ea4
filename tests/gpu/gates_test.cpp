// The gates on a real GPU: what the emulation passes passes here, what it catches is caught here, and what only a GPU
// can catch (wrong/) is caught by the gate that is named there.
#include <gtest/gtest.h>

#include <algorithm>

#include "../gates/kernel_file.h"
#include "base/text.h"

namespace kw::verify {
namespace {

std::vector<KernelFile> cuda_kernels(const std::vector<std::string>& folders) {
  std::vector<KernelFile> files;
  for (const std::string& folder : folders)
    for (const KernelFile& file : kernels_in(folder)) files.push_back(file);
  std::erase_if(files, [](const KernelFile& file) { return file.extension != ".cu"; });
  return files;
}

Result<Report> judge_on_gpu(const KernelFile& file) {
  KW_TRY(Subject subject, subject_for(file));
  // It is ours, and a new process for each run would take time; but where calls in one process are what it is about.
  subject.from_outside = std::find(file.gates.begin(), file.gates.end(), "fresh") != file.gates.end();
  JudgeOptions options = options_for(file);
  options.cases.only_own_types = true;
  options.device.limits.time = std::chrono::milliseconds(5000);
  options.check_oracle = asks_pytorch(file);  // else it says nothing about the kernel
  options.past_31_bits = file.name.find("2_31") != std::string::npos;
  return judge(subject, options);
}

std::string kernel_name(const ::testing::TestParamInfo<KernelFile>& info) { return info.param.name; }

class RightOnGpu : public ::testing::TestWithParam<KernelFile> {};
TEST_P(RightOnGpu, PassesEveryGate) {
  const Result<Report> report = judge_on_gpu(GetParam());
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_TRUE(report->passed()) << to_text(*report);
  std::printf("%s: %s\n", report->device.c_str(), report->verdict(Gate::Sanitized).line.c_str());
  std::printf("%s\n%s\n", report->verdict(Gate::Synchronised).line.c_str(), report->verdict(Gate::Error).line.c_str());
  if (GetParam().name.find("2_31") != std::string::npos) {
    EXPECT_NE(report->verdict(Gate::Error).line.find("past 2^31"), std::string::npos);
  }
}
INSTANTIATE_TEST_SUITE_P(Kernel, RightOnGpu, ::testing::ValuesIn(cuda_kernels({"gates/right", "gpu/right"})),
                         kernel_name);

// What a file names is the gate that catches the kernel in the emulation, and on a GPU as well, but for mistakes that
// the emulation sees as such. On a GPU these may come to nothing, and then the emulation is asked there too; or they
// show by what comes of them: another result, in every run or in some, or what the sanitizer says.
struct OnGpu {
  std::string_view kernel;
  std::vector<std::string> gates;  // beside the one that the file names
};

KernelFile as_on_gpu(KernelFile file) {
  static const OnGpu kAlso[] = {
      {"cuda_barrier_in_a_branch", {"error", "deterministic", "sanitized", "runs"}},  // it may also wait for ever
      {"cuda_missing_barrier", {"error", "deterministic", "sanitized"}},
      {"cuda_race_on_the_last_block", {"error", "deterministic", "sanitized"}},
      {"cuda_reads_unwritten_shared_memory", {"error", "deterministic", "sanitized"}},
      {"cuda_element_past_its_vector", {"error", "written", "sanitized"}},
      {"cuda_vector_past_its_own_array", {"error", "written", "sanitized"}},
      {"cuda_reciprocal_below_one", {"error"}},
  };
  for (const OnGpu& also : kAlso)
    if (also.kernel == file.name) file.gates.insert(file.gates.end(), also.gates.begin(), also.gates.end());
  return file;
}

class WrongInTheEmulation : public ::testing::TestWithParam<KernelFile> {};
TEST_P(WrongInTheEmulation, IsCaughtOnAGpuByTheGateThatShouldCatchIt) {
  const KernelFile file = as_on_gpu(GetParam());
  if (asks_pytorch(file) && !find_python_with_torch()) GTEST_SKIP() << "no Python here has torch";
  const Result<Report> report = judge_on_gpu(file);
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_FALSE(report->passed()) << to_text(*report);
  EXPECT_TRUE(is_caught(file, *report)) << "should be caught by " << join(file.gates, " or ") << "\n"
                                        << to_text(*report);
  for (const Verdict& verdict : report->verdicts)
    if (verdict.outcome == Outcome::Failed)
      std::printf("caught by %s: %s\n", std::string(info(verdict.gate).name).c_str(), verdict.line.c_str());
}
INSTANTIATE_TEST_SUITE_P(Kernel, WrongInTheEmulation, ::testing::ValuesIn(cuda_kernels({"gates/wrong"})), kernel_name);

class WrongOnGpu : public ::testing::TestWithParam<KernelFile> {};
TEST_P(WrongOnGpu, IsCaughtByTheGateThatShouldCatchIt) {
  const Result<Report> report = judge_on_gpu(GetParam());
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_FALSE(report->passed()) << to_text(*report);
  EXPECT_TRUE(is_caught(GetParam(), *report)) << "should be caught by " << join(GetParam().gates, " or ") << "\n"
                                              << to_text(*report);
  for (const Verdict& verdict : report->verdicts)
    if (verdict.outcome == Outcome::Failed)
      std::printf("caught by %s: %s\n", std::string(info(verdict.gate).name).c_str(), verdict.line.c_str());
}
INSTANTIATE_TEST_SUITE_P(Kernel, WrongOnGpu, ::testing::ValuesIn(cuda_kernels({"gpu/wrong"})), kernel_name);

}  // namespace
}  // namespace kw::verify
