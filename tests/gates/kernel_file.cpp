#include "kernel_file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "understand/decisions/decide.h"
#include "understand/read_source.h"
#include "verify/hand_written.h"

namespace kw::verify {
namespace {

const std::string kTests = std::string(KW_SOURCE_DIR) + "/tests/";

KernelFile read_kernel(const std::filesystem::path& path) {
  KernelFile file;
  file.name = path.stem().string();
  file.source = *read_text(path.string());
  if (path.extension() == ".cu") file.extension = ".cu";
  for (const std::string& line : split_lines(file.source)) {
    if (line.starts_with("// op: ")) file.op = line.substr(7);
    if (line.starts_with("// gate: ")) file.gates = split(replace_all(line.substr(9), " or ", ","), ',');
    if (line == "// types: all") file.all_types = true;
    if (line.starts_with("// in place: ")) file.in_place = line.substr(13);
  }
  return file;
}

}  // namespace

std::vector<KernelFile> kernels_in(const std::string& folder) {
  std::vector<KernelFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(kTests + folder))
    files.push_back(read_kernel(entry.path()));
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

Result<Subject> subject_for(const KernelFile& file) {
  understand::LocatedSource located;
  KW_TRY(located, understand::locate_source(kTests + "gates/ops/" + file.op + ".kw", std::nullopt));
  KW_TRY(const understand::Reading reading, understand::read_source(located, {}));
  KW_TRY(const profile::Profile profile, understand::decide(reading, file.op, {}, {}));
  KW_TRY(Subject subject, subject_of(profile, {}, {}, true));
  if (!file.in_place.empty()) subject.may_be_overwritten.insert(file.in_place);
  KW_TRY(const TemporaryDirectory folder, TemporaryDirectory::make());
  const std::string path = folder.path() + "/" + file.op + file.extension;
  KW_CHECK(write_file_atomically(path, file.source));
  KW_TRY(HandWritten kernel, read_hand_written(path, std::nullopt, subject.forward, subject.joint));
  subject.manifest = std::move(kernel.manifest);
  subject.files = std::move(kernel.files);
  return subject;
}

bool asks_pytorch(const KernelFile& file) { return file.gates == std::vector<std::string>{"strides"}; }

JudgeOptions options_for(const KernelFile& file) {
  JudgeOptions options;
  options.cases.only_own_types = !file.all_types;
  // One run is like the one before; the slow one draws what no run had.
  if (std::getenv("KW_SLOW_TESTS") == nullptr) options.cases.seed = Hash64().add(file.name).value();
  // What a rounding did shows at many elements only; the first case has one.
  const bool casting = file.gates == std::vector<std::string>{"casting"};
  options.most_failures = casting ? 3 : 1;
  if (asks_pytorch(file)) options.torch = {kTests + "gates/ops/" + file.op + ".py"};
  return options;
}

void PrintTo(const KernelFile& file, std::ostream* out) { *out << file.name; }

bool is_caught(const KernelFile& file, const Report& report) {
  return std::any_of(report.verdicts.begin(), report.verdicts.end(), [&](const Verdict& verdict) {
    return verdict.outcome == Outcome::Failed &&
           std::find(file.gates.begin(), file.gates.end(), info(verdict.gate).name) != file.gates.end();
  });
}

}  // namespace kw::verify
