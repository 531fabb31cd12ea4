#include "base/file_batch.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/file.h"

namespace kw {
namespace {

namespace fs = std::filesystem;

// A file that waits beside its place.
struct Staged {
  std::string temporary, path;
  std::optional<std::string> before;  // what the place holds until then
  bool placed = false;
};

void take_back(const std::vector<Staged>& staged) {
  for (const Staged& file : staged) {
    if (!file.placed)
      ::unlink(file.temporary.c_str());
    else if (file.before)
      (void)write_file_atomically(file.path, *file.before);
    else
      ::unlink(file.path.c_str());
  }
}

Status stage(const std::string& path, const std::string& content, std::vector<Staged>& staged) {
  Staged file{"", path, {}, false};
  if (file_exists(path)) {
    KW_TRY(file.before, read_file(path));
    if (*file.before == content) return {};
  }
  if (directory_exists(path)) return bad_input("cannot write the file: a folder has its name", Place{path});
  file.temporary = path + ".kw-" + std::to_string(::getpid());
  KW_CHECK(write_file_atomically(file.temporary, content));
  staged.push_back(std::move(file));
  return {};
}

}  // namespace

Status write_files_together(const std::string& folder, const std::map<std::string, std::string>& files) {
  std::vector<Staged> staged;
  for (const auto& [name, content] : files) {
    if (Status status = stage(folder + "/" + name, content, staged); !status) {
      take_back(staged);
      return status;
    }
  }
  for (Staged& file : staged) {
    std::error_code error;
    // What is replaced keeps its permissions.
    if (file.before) fs::permissions(file.temporary, fs::status(file.path).permissions(), error);
    if (::rename(file.temporary.c_str(), file.path.c_str()) != 0) {
      const std::string why = std::strerror(errno);
      take_back(staged);
      return bad_input("cannot write the file: " + why, Place{file.path},
                       "check the folder's permissions and free space");
    }
    file.placed = true;
  }
  return {};
}

}  // namespace kw
