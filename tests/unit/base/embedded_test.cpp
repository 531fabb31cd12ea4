#include "base/embedded.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"

namespace kw::embedded {
namespace {

TEST(Embedded, HoldsTheFilesOfTheTreeSortedByPath) {
  const auto files = all();
  ASSERT_FALSE(files.empty());
  EXPECT_TRUE(std::is_sorted(files.begin(), files.end(), [](const File& a, const File& b) { return a.path < b.path; }));
  for (const File& entry : files) {
    EXPECT_EQ(read_file(std::string(KW_SOURCE_DIR "/").append(entry.path)).value(), entry.content) << entry.path;
    EXPECT_EQ(file(entry.path), entry.content);
  }
}

TEST(EmbeddedDeathTest, AFileThatWasNotEmbeddedIsABug) {
  EXPECT_DEATH(file("no/such/file"), "no embedded file no/such/file");
}

}  // namespace
}  // namespace kw::embedded
