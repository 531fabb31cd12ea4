#include "device/cuda/sanitizer.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"

namespace kw::device::cuda {
namespace {

constexpr int kSlower = 30;  // than without it, at most
constexpr std::size_t kMostLines = 6;

// "========= Invalid __global__ read of size 4 bytes" without the rule; nothing for other lines.
std::optional<std::string> said(const std::string& line) {
  constexpr std::string_view kRule = "=========";
  if (!line.starts_with(kRule)) return std::nullopt;
  return std::string(trim(std::string_view(line).substr(kRule.size())));
}

}  // namespace

Result<std::string> find_sanitizer() {
  if (const auto path = find_program("compute-sanitizer")) return *path;
  std::vector<std::string> toolkits = {"/usr/local/cuda"};
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(name)) toolkits.insert(toolkits.begin(), home);
  for (const std::string& toolkit : toolkits)
    if (const std::string path = toolkit + "/bin/compute-sanitizer"; file_exists(path)) return path;
  return missing_tool("compute-sanitizer is not there", "install the CUDA toolkit");
}

const char* tool_of(Device::Check check) {
  constexpr const char* kTools[] = {"memcheck", "racecheck", "synccheck"};
  return kTools[static_cast<std::size_t>(check)];
}

Result<std::optional<std::string>> first_complaint(std::string_view log) {
  static const std::regex kSummary(R"((ERROR|RACECHECK) SUMMARY: (\d+) .*)");
  std::vector<std::string> complaint;
  bool ended = false;  // the first complaint is over: an empty line, or the next one
  for (const std::string& line : split_lines(log)) {
    const std::optional<std::string> words = said(line);
    if (!words) continue;
    std::smatch summary;
    if (std::regex_match(*words, summary, kSummary)) {
      if (summary[2] == "0") return std::nullopt;
      return complaint.empty() ? *words : join(complaint, "; ");
    }
    if (*words == "COMPUTE-SANITIZER") continue;
    if (words->find("not supported") != std::string::npos)
      return missing_tool("compute-sanitizer does not work here: " + *words, "use another machine, or go without it");
    if (words->empty()) ended = !complaint.empty();
    const bool trace = words->find("Host Frame") != std::string::npos || words->starts_with("Saved host backtrace");
    if (!ended && !trace && !words->empty() && complaint.size() < kMostLines) complaint.push_back(*words);
  }
  return missing_tool(
      "compute-sanitizer came to no end" + (complaint.empty() ? std::string() : ": " + join(complaint, "; ")),
      "use another machine, or go without it");
}

Result<std::optional<std::string>> sanitize(const std::vector<Program>& programs, Arena& arena, Device::Check check,
                                            const std::string& sanitizer, const std::string& worker_program,
                                            const Limits& limits, const GpuTarget& gpu) {
  KW_TRY(const TemporaryDirectory folder, TemporaryDirectory::make());
  const std::string log = folder.path() + "/log";
  Limits longer = limits;
  longer.time *= kSlower;
  // The sanitizer is the one who starts it: "this very binary" must be named.
  std::error_code failed;
  const std::filesystem::path named = std::filesystem::canonical(worker_program, failed);
  Worker worker(longer, failed ? worker_program : named.string());
  worker.set_wrapper({sanitizer, "--tool", tool_of(check), "--log-file", log});
  RunOptions options;
  options.gpu = gpu;
  options.gpu->exact = true;
  options.last = true;
  KW_TRY(const RunOutcome outcome, worker.run(programs, arena, options));
  if (const auto text = read_file(log)) {
    auto complaint = first_complaint(*text);
    if (complaint || !outcome.fault) return complaint;
    if (outcome.fault->kind != Fault::Kind::OutOfTime) return outcome.fault->message;
    return complaint;
  }
  return missing_tool("compute-sanitizer wrote nothing: " + std::string(trim(outcome.output)),
                      "use another machine, or go without it");
}

}  // namespace kw::device::cuda
