#include "device/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/hash.h"

namespace kw::device {
namespace {

// Held from construction on; the system lets go of it when its process ends, however it ends.
class Lock {
 public:
  static Result<Lock> take(const std::string& path) {
    const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
      return fail(ErrorKind::MissingTool, "cannot write " + path + ": " + std::strerror(errno),
                  "free the cache folder, or choose another");
    while (::flock(fd, LOCK_EX) != 0 && errno == EINTR) {
    }
    return Lock(fd);
  }
  Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Lock& operator=(Lock&&) = delete;
  ~Lock() {
    if (fd_ >= 0) ::close(fd_);
  }

 private:
  explicit Lock(int fd) : fd_(fd) {}
  int fd_;
};

// The file's own hash lies beside it, so that a file that was cut short or changed is not taken for the whole.
bool is_whole(const std::string& path) {
  if (!file_exists(path) || !file_exists(path + ".sha256")) return false;
  const auto content = read_file(path), hash = read_file(path + ".sha256");
  return content && hash && sha256_hex(*content) == *hash;
}

}  // namespace

std::string default_cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/kernelwright";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr && home[0] == '/' ? home : "/tmp") + "/.cache/kernelwright";
}

Result<Cache::Made> Cache::file(const std::string& key, const std::string& extension,
                                const std::function<Result<std::string>()>& make) const {
  KW_TRY(MadeSet set, files(key, {extension}, [&]() -> Result<std::vector<std::string>> {
           KW_TRY(std::string content, make());
           return std::vector{std::move(content)};
         }));
  return Made{std::move(set.paths.front()), set.hit};
}

Result<Cache::MadeSet> Cache::files(const std::string& key, const std::vector<std::string>& extensions,
                                    const std::function<Result<std::vector<std::string>>()>& make) const {
  KW_ASSERT(key.size() > 2 && key.find('/') == std::string::npos, "a key is a hash");
  const std::string folder = folder_ + "/" + key.substr(0, 2);
  std::vector<std::string> paths;
  for (const std::string& extension : extensions) paths.push_back(folder + "/" + key + extension);
  const auto all_whole = [&] { return std::all_of(paths.begin(), paths.end(), is_whole); };
  if (all_whole()) return MadeSet{paths, true};
  KW_CHECK(make_directories(folder));
  KW_TRY(const Lock lock, Lock::take(folder + "/" + key + ".lock"));
  if (all_whole()) return MadeSet{paths, true};  // made while this one waited
  KW_TRY(const std::vector<std::string> contents, make());
  KW_ASSERT(contents.size() == paths.size(), "a content for every file");
  for (std::size_t i = 0; i < paths.size(); ++i) {
    KW_CHECK(write_file_atomically(paths[i], contents[i]));
    KW_CHECK(write_file_atomically(paths[i] + ".sha256", sha256_hex(contents[i])));
  }
  return MadeSet{paths, false};
}

}  // namespace kw::device
