#include "device/triton/python.h"

#include <optional>
#include <vector>

#include "base/python.h"
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
  for (const std::string& python : wanted.empty() ? pythons_here() : std::vector{wanted})
    if (const auto version = version_of_triton(python)) return Python{python, *version};
  return missing_tool("no Python with PyTorch and Triton is here", "pip install torch triton, or use the target cpu");
}

}  // namespace kw::device::triton
