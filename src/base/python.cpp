#include "base/python.h"

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/subprocess.h"

namespace kw {

std::vector<std::string> pythons_here() {
  std::vector<std::string> found;
  const auto add = [&](const std::string& environment) {
    const std::string python = environment + "/bin/python";
    if (file_exists(python)) found.push_back(python);
  };
  if (const char* active = std::getenv("VIRTUAL_ENV")) add(active);
  add(".venv");
  std::error_code ignored;
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!ignored) add((binary.parent_path().parent_path() / ".venv").string());
  if (const auto system = find_program("python3")) found.push_back(*system);
  return found;
}

}  // namespace kw
