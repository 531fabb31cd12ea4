#include "base/file_batch.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace kw {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) count += entry.is_regular_file();
  return count;
}

TEST(FileBatch, AllAreWritten) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
  ASSERT_TRUE(write_files_together(folder->path(), {{"a.txt", "a"}, {"sub/b.txt", "b"}}));
  EXPECT_EQ(*read_text(folder->path() + "/sub/b.txt"), "b");
  EXPECT_EQ(files_in(folder->path()), 2u);
}

TEST(FileBatch, WhereOneCannotBeWrittenNoneIsAndNothingIsLeftBehind) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
  ASSERT_TRUE(write_files_together(folder->path(), {{"a.txt", "old"}, {"z", "a file, no folder"}}));
  const Status status = write_files_together(folder->path(), {{"a.txt", "new"}, {"b.txt", "b"}, {"z/c.txt", "c"}});
  ASSERT_FALSE(status);
  EXPECT_EQ(*read_text(folder->path() + "/a.txt"), "old");
  EXPECT_EQ(files_in(folder->path()), 2u);
}

TEST(FileBatch, AFolderInTheWayIsRefused) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
  fs::create_directory(folder->path() + "/b.txt");
  const Status status = write_files_together(folder->path(), {{"a.txt", "a"}, {"b.txt", "b"}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "cannot write the file: a folder has its name");
  EXPECT_EQ(files_in(folder->path()), 0u);
}

TEST(FileBatch, AFileThatHoldsItsContentIsNotTouched) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
  ASSERT_TRUE(write_files_together(folder->path(), {{"a.txt", "a"}}));
  const auto past = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(folder->path() + "/a.txt", past);
  ASSERT_TRUE(write_files_together(folder->path(), {{"a.txt", "a"}, {"b.txt", "b"}}));
  EXPECT_EQ(fs::last_write_time(folder->path() + "/a.txt"), past);
}

}  // namespace
}  // namespace kw
