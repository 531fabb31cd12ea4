#include "understand/source_files.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"

namespace kw::understand {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (const fs::path& part : fs::path(path).lexically_normal())
    if (part != "/" && part != "." && part != ".." && !part.empty()) parts.push_back(part.string());
  return parts;
}

// How many leading folders all files share, but for the last of them: it names the package that imports speak of.
std::size_t shared_folders(const Reading& reading) {
  std::size_t shared = SIZE_MAX;
  const std::vector<std::string> first = parts_of(reading.sources[0].path);
  for (const SourceText& source : reading.sources) {
    const std::vector<std::string> parts = parts_of(source.path);
    std::size_t same = 0;
    while (same + 1 < parts.size() && same + 1 < first.size() && parts[same] == first[same]) ++same;
    shared = std::min(shared, same);
  }
  return shared == 0 ? 0 : shared - 1;
}

}  // namespace

std::string stored_name(const Reading& reading, std::string_view path) {
  if (reading.sources.size() <= 1) return "source" + reading.extension;
  const std::vector<std::string> parts = parts_of(path);
  const std::size_t shared = std::min(shared_folders(reading), parts.empty() ? 0 : parts.size() - 1);
  return "source/" + join({parts.begin() + static_cast<std::ptrdiff_t>(shared), parts.end()}, "/");
}

profile::Files stored_files(const Reading& reading) {
  profile::Files files;
  for (const SourceText& source : reading.sources) files[stored_name(reading, source.path)] = source.text;
  if (reading.sources.size() <= 1) return files;
  // Folders are packages, so that imports are found again.
  std::vector<std::string> packages;
  for (const auto& [name, _] : files)
    for (fs::path folder = fs::path(name).parent_path(); folder != "source"; folder = folder.parent_path())
      packages.push_back((folder / "__init__.py").string());
  for (const std::string& package : packages) files.emplace(package, "");
  return files;
}

}  // namespace kw::understand
