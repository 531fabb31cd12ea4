#include "device/triton/python.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"

namespace kw::device::triton {
namespace {

// Looks for packages without importing them, which would take seconds.
std::optional<std::string> version_of_triton(const std::string& python) {
  Command command;
  command.argv = {python, "-c",
                  "import importlib.metadata as m, importlib.util as u\n"
                  "assert u.find_spec('torch')\n"
                  "print(m.version('triton'))"};
  command.timeout = std::chrono::seconds(30);
  const auto finished = run(command);
  if (!finished || !finished->ok()) return std::nullopt;
  return std::string(trim(finished->output));
}

}  // namespace

Result<Python> find_python(const std::string& wanted) {
  std::vector<std::string> candidates;
  if (!wanted.empty()) {
    candidates.push_back(wanted);
  } else {
    if (const char* active = std::getenv("VIRTUAL_ENV")) candidates.push_back(std::string(active) + "/bin/python");
    candidates.emplace_back(".venv/bin/python");
    std::error_code ignored;
    const auto binary = std::filesystem::read_symlink("/proc/self/exe", ignored);
    if (!ignored) candidates.push_back((binary.parent_path().parent_path() / ".venv/bin/python").string());
    if (find_program("python3")) candidates.emplace_back("python3");
  }
  for (const std::string& candidate : candidates) {
    if (candidate.find('/') != std::string::npos && !file_exists(candidate)) continue;
    if (const auto version = version_of_triton(candidate)) return Python{candidate, *version};
  }
  return missing_tool("no Python with PyTorch and Triton is here", "pip install torch triton, or use the target cpu");
}

}  // namespace kw::device::triton
