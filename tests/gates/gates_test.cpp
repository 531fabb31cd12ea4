// The gates bite: kernels by hand, each wrong in one way, are caught by the gate that should catch them; and the right
// ones that they were made from pass every gate, so that what is caught is the mistake.
//
//   ops/OP.kw       the math
//   right/NAME.cc   "// op: OP", then a kernel that is right
//   wrong/NAME.cc   "// op: OP", "// gate: GATE" (or "GATE or GATE"), then one that is not
//
// A file NAME.cu is CUDA, and runs in the emulation. "// types: all" tries every mixture of types, not the op's own
// alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "base/file.h"
#include "base/text.h"
#include "understand/decisions/decide.h"
#include "understand/read_source.h"
#include "verify/hand_written.h"
#include "verify/judge.h"

namespace kw::verify {
namespace {

const std::string kFolder = std::string(KW_SOURCE_DIR) + "/tests/gates/";

struct KernelFile {
  std::string name, op, source;
  std::string extension = ".cpp";
  std::vector<std::string> gates;  // any of which may be the one that catches it
  bool all_types = false;
};

KernelFile read_kernel(const std::filesystem::path& path) {
  KernelFile file;
  file.name = path.stem().string();
  file.source = *read_text(path.string());
  if (path.extension() == ".cu") file.extension = ".cu";
  for (const std::string& line : split_lines(file.source)) {
    if (line.starts_with("// op: ")) file.op = line.substr(7);
    if (line.starts_with("// gate: ")) file.gates = split(replace_all(line.substr(9), " or ", ","), ',');
    if (line == "// types: all") file.all_types = true;
  }
  return file;
}

std::vector<KernelFile> kernels_in(const std::string& folder) {
  std::vector<KernelFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder + folder))
    files.push_back(read_kernel(entry.path()));
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

Result<Subject> subject_for(const KernelFile& file) {
  understand::LocatedSource located;
  KW_TRY(located, understand::locate_source(kFolder + "ops/" + file.op + ".kw", std::nullopt));
  KW_TRY(const understand::Reading reading, understand::read_source(located, {}));
  KW_TRY(const profile::Profile profile, understand::decide(reading, file.op, {}, {}));
  KW_TRY(Subject subject, subject_of(profile, {}, {}, true));
  KW_TRY(const TemporaryDirectory folder, TemporaryDirectory::make());
  const std::string path = folder.path() + "/" + file.op + file.extension;
  KW_CHECK(write_file_atomically(path, file.source));
  KW_TRY(HandWritten kernel, read_hand_written(path, std::nullopt, subject.forward, subject.joint));
  subject.manifest = std::move(kernel.manifest);
  subject.files = std::move(kernel.files);
  return subject;
}

Result<Report> judge_file(const KernelFile& file) {
  KW_TRY(const Subject subject, subject_for(file));
  JudgeOptions options;
  options.cases.only_own_types = !file.all_types;
  options.device.limits.time = std::chrono::milliseconds(1500);
  options.device.limits.threads = 2;
  options.device.cache_folder = std::string(KW_BINARY_DIR) + "/kernel_cache";
  // What a rounding did shows at many elements only; the first case has one.
  const bool casting = file.gates == std::vector<std::string>{"casting"};
  options.most_failures = casting ? 3 : 1;
  return judge(subject, options);
}

void PrintTo(const KernelFile& file, std::ostream* out) { *out << file.name; }

std::string kernel_name(const ::testing::TestParamInfo<KernelFile>& info) { return info.param.name; }

class Right : public ::testing::TestWithParam<KernelFile> {};
TEST_P(Right, PassesEveryGate) {
  const Result<Report> report = judge_file(GetParam());
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_TRUE(report->passed()) << to_text(*report);
}
INSTANTIATE_TEST_SUITE_P(Kernel, Right, ::testing::ValuesIn(kernels_in("right")), kernel_name);

class Wrong : public ::testing::TestWithParam<KernelFile> {};
TEST_P(Wrong, IsCaughtByTheGateThatShouldCatchIt) {
  const Result<Report> report = judge_file(GetParam());
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_FALSE(report->passed()) << to_text(*report);
  const bool caught = std::any_of(report->verdicts.begin(), report->verdicts.end(), [&](const Verdict& verdict) {
    const std::vector<std::string>& wanted = GetParam().gates;
    return verdict.outcome == Outcome::Failed &&
           std::find(wanted.begin(), wanted.end(), info(verdict.gate).name) != wanted.end();
  });
  EXPECT_TRUE(caught) << "should be caught by " << join(GetParam().gates, " or ") << "\n" << to_text(*report);
}
INSTANTIATE_TEST_SUITE_P(Kernel, Wrong, ::testing::ValuesIn(kernels_in("wrong")), kernel_name);

}  // namespace
}  // namespace kw::verify
