#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace kw {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  std::string in_folder(const std::string& name) const { return folder_.path() + "/" + name; }
  std::size_t count_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  TemporaryDirectory folder_ = *TemporaryDirectory::make();
};

void expect_bad_input(const Result<std::string>& result, const std::string& path, const std::string& words) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(result.error().place->file, path);
  EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
}

TEST_F(FileTest, WhatIsWrittenIsReadBack) {
  const std::string path = in_folder("deep/er/file.txt");
  ASSERT_TRUE(write_file_atomically(path, "line\n\u03b5"));
  EXPECT_EQ(read_text(path).value(), "line\n\u03b5");
  ASSERT_TRUE(write_file_atomically(path, ""));
  EXPECT_EQ(read_file(path).value(), "");
}

TEST_F(FileTest, AByteOrderMarkIsNoPartOfTheText) {
  ASSERT_TRUE(write_file_atomically(in_folder("a"), "\xEF\xBB\xBFx = 1"));
  EXPECT_EQ(read_text(in_folder("a")).value(), "x = 1");
}

TEST_F(FileTest, AMissingFileIsBadInput) {
  expect_bad_input(read_file(in_folder("none")), in_folder("none"), "no such file");
  ASSERT_TRUE(write_file_atomically(in_folder("a"), "x"));
  expect_bad_input(read_file(in_folder("a/b")), in_folder("a/b"), "no such file");
}

TEST_F(FileTest, AFolderIsBadInput) { expect_bad_input(read_file(folder_.path()), folder_.path(), "folder"); }

TEST_F(FileTest, APipeIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo(in_folder("pipe").c_str(), 0600), 0);
  expect_bad_input(read_file(in_folder("pipe")), in_folder("pipe"), "not a regular file");
}

TEST_F(FileTest, AFileAboveTheLimitIsRefusedWithoutReadingIt) {
  const std::string path = in_folder("large");
  std::ofstream(path).put('x');
  fs::resize_file(path, std::uintmax_t{100} << 20);  // sparse: it takes no space
  expect_bad_input(read_file(path), path, "larger than 64 MiB");
}

TEST_F(FileTest, TheLimitItselfIsAllowed) {
  ASSERT_TRUE(write_file_atomically(in_folder("a"), "12345"));
  EXPECT_TRUE(read_file(in_folder("a"), 5));
  EXPECT_FALSE(read_file(in_folder("a"), 4));
}

TEST_F(FileTest, BytesThatAreNoTextAreRefused) {
  const std::string path = in_folder("binary");
  ASSERT_TRUE(write_file_atomically(path, std::string("\x7f"
                                                      "ELF\0\0",
                                                      6)));
  expect_bad_input(read_text(path), path, "binary file");
  ASSERT_TRUE(write_file_atomically(path, "caf\xE9"));
  expect_bad_input(read_text(path), path, "UTF-8");
  EXPECT_TRUE(read_file(path));
}

TEST_F(FileTest, AFailedWriteLeavesNothingBehindAndTheOldFileWhole) {
  ASSERT_TRUE(write_file_atomically(in_folder("a"), "old"));
  const Status below_a_file = write_file_atomically(in_folder("a/b"), "new");
  ASSERT_FALSE(below_a_file);
  EXPECT_EQ(below_a_file.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(read_file(in_folder("a")).value(), "old");
  fs::create_directory(in_folder("folder"));
  EXPECT_FALSE(write_file_atomically(in_folder("folder"), "new"));
  EXPECT_EQ(count_files(), 2u);
}

TEST_F(FileTest, AFolderThatCannotBeWrittenIsBadInput) {
  EXPECT_EQ(write_file_atomically("/proc/kw/file", "x").error().kind, ErrorKind::BadInput);
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(write_file_atomically(in_folder("a"), "x").error().kind, ErrorKind::BadInput);
  fs::permissions(folder_.path(), fs::perms::owner_all);
  EXPECT_EQ(count_files(), 0u);
}

TEST_F(FileTest, AReaderNeverSeesAPartOfAWrite) {
  const std::string path = in_folder("a"), ones(200'000, '1'), twos(100'000, '2');
  ASSERT_TRUE(write_file_atomically(path, ones));
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(write_file_atomically(path, i % 2 == 0 ? twos : ones));
  });
  for (int i = 0; i < 200; ++i) {
    const auto content = read_file(path);
    EXPECT_TRUE(content && (*content == ones || *content == twos));
  }
  writer.join();
  EXPECT_EQ(count_files(), 1u);
}

TEST_F(FileTest, WritersAtTheSameTimeDoNotDisturbEachOther) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&, i] { EXPECT_TRUE(write_file_atomically(in_folder("f"), std::string(1000, 'a' + i))); });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(read_file(in_folder("f")).value().size(), 1000u);
  EXPECT_EQ(count_files(), 1u);
}

TEST_F(FileTest, AWrittenFileHasThePermissionsOfANewFile) {
  const mode_t mask = ::umask(022);
  ASSERT_TRUE(write_file_atomically(in_folder("a"), "x"));
  ::umask(mask);
  EXPECT_EQ(static_cast<int>(fs::status(in_folder("a")).permissions()), 0644);
}

TEST_F(FileTest, DirectoriesAreMadeOnceOrRefused) {
  EXPECT_TRUE(make_directories(in_folder("x/y/z")));
  EXPECT_TRUE(make_directories(in_folder("x/y/z")));
  EXPECT_TRUE(directory_exists(in_folder("x/y")));
  EXPECT_FALSE(file_exists(in_folder("x/y")));
  ASSERT_TRUE(write_file_atomically(in_folder("file"), ""));
  EXPECT_TRUE(file_exists(in_folder("file")));
  EXPECT_EQ(make_directories(in_folder("file/below")).error().kind, ErrorKind::BadInput);
  EXPECT_EQ(make_directories(in_folder("file")).error().kind, ErrorKind::BadInput);
}

TEST(TemporaryDirectoryTest, VanishesWithAllThatItHolds) {
  std::string path;
  {
    TemporaryDirectory folder = *TemporaryDirectory::make();
    const TemporaryDirectory moved = std::move(folder);
    path = moved.path();
    ASSERT_TRUE(write_file_atomically(path + "/a/b", "x"));
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace kw
