// Files of the user: read with a limit and a clear word about what is wrong with them, written whole or not at all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kw {

inline constexpr std::size_t kLargestFile = std::size_t{64} << 20;

// The bytes of a regular file. Missing, unreadable, a folder or above the limit: bad input.
Result<std::string> read_file(const std::string& path, std::size_t limit = kLargestFile);

// A text file: as read_file, and bytes that are no text (NUL, not UTF-8) are bad input too. A byte-order mark is
// dropped.
Result<std::string> read_text(const std::string& path, std::size_t limit = kLargestFile);
Result<std::string> read_stdin_text(std::size_t limit = kLargestFile);

// Writes a file beside `path`, flushes it to the disk and renames it: a reader sees the old content or the new, never a
// part. On failure nothing is left behind. Missing parent folders are made.
Status write_file_atomically(const std::string& path, std::string_view content);

Status make_directories(const std::string& path);
bool file_exists(const std::string& path);       // a regular file, or a link to one
bool directory_exists(const std::string& path);  // a folder, or a link to one

// A folder of its own under the system's place for temporary files, removed with all that it holds.
class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> make();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path);
  std::string path_;
};

}  // namespace kw
