#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/text.h"

namespace kw {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string reason() { return std::strerror(errno); }

std::string size_text(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

Failure too_large(const std::string& path, std::size_t limit) {
  return bad_input("the file is larger than " + size_text(limit), Place{path}, "give the file of one op or model");
}

Result<std::string> drain(int fd, const std::string& path, std::size_t limit) {
  std::string content;
  std::string chunk(std::size_t{1} << 16, '\0');
  while (true) {
    const ssize_t count = ::read(fd, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return bad_input("cannot read the file: " + reason(), Place{path});
    if (count == 0) return content;
    content.append(chunk, 0, static_cast<std::size_t>(count));
    if (content.size() > limit) return too_large(path, limit);
  }
}

Result<std::string> as_text(std::string content, const std::string& path) {
  const std::string hint = "give a text file in UTF-8";
  if (content.find('\0') != std::string::npos) return bad_input("this is a binary file", Place{path}, hint);
  if (!is_utf8(content)) return bad_input("this is not text in UTF-8", Place{path}, hint);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (content.starts_with(kByteOrderMark)) content.erase(0, kByteOrderMark.size());
  return content;
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Opens a new file in the folder under a name that no other process or thread uses.
int open_beside(const std::string& folder, std::string& name) {
  constexpr int kAttempts = 1000;  // names are taken only by writers that run now or that were killed
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    name = folder + "/.kw-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  // Not blocking, so that a pipe in the place of a file is refused and not waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return bad_input(missing ? "there is no such file" : "cannot open the file: " + reason(), Place{path});
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return bad_input("cannot read the file: " + reason(), Place{path});
  if (S_ISDIR(status.st_mode)) return bad_input("this is a folder, not a file", Place{path});
  if (!S_ISREG(status.st_mode)) return bad_input("this is not a regular file", Place{path});
  if (static_cast<std::size_t>(status.st_size) > limit) return too_large(path, limit);
  return drain(file.get(), path, limit);
}

Result<std::string> read_text(const std::string& path, std::size_t limit) {
  KW_TRY(std::string content, read_file(path, limit));
  return as_text(std::move(content), path);
}

Result<std::string> read_stdin_text(std::size_t limit) {
  KW_TRY(std::string content, drain(STDIN_FILENO, "<stdin>", limit));
  return as_text(std::move(content), "<stdin>");
}

Status write_file_atomically(const std::string& path, std::string_view content) {
  const fs::path parent = fs::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  KW_CHECK(make_directories(folder));
  if (directory_exists(path)) return bad_input("cannot write the file: a folder has its name", Place{path});

  std::string temporary;
  const auto failed = [&](bool made) {
    const std::string why = reason();
    if (made) ::unlink(temporary.c_str());
    return bad_input("cannot write the file: " + why, Place{path}, "check the folder's permissions and free space");
  };
  const Descriptor file(open_beside(folder, temporary));
  if (file.get() < 0) return failed(false);
  if (!write_all(file.get(), content) || ::fsync(file.get()) != 0) return failed(true);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed(true);
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0)
    ::fsync(directory.get());  // the rename itself; some file systems refuse, and it still holds
  return {};
}

Status make_directories(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (directory_exists(path)) return {};
  return bad_input("cannot make the folder: " + (error ? error.message() : "a file has its name"), Place{path});
}

bool file_exists(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool directory_exists(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

Result<TemporaryDirectory> TemporaryDirectory::make() {
  const char* place = std::getenv("TMPDIR");
  std::string path = std::string(place != nullptr && *place != '\0' ? place : "/tmp") + "/kw-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return bad_input("cannot make a temporary folder: " + reason(), Place{path}, "set TMPDIR to a folder with space");
  }
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::TemporaryDirectory(std::string path) : path_(std::move(path)) {}
TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

}  // namespace kw
