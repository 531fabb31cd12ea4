#include "base/progress.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace kw {
namespace {

std::string shown(ProgressMode mode) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&text, &size);
  {
    Progress progress("reading", 2, mode, stream);
    progress.step("a.py");
    progress.step("b.py");
  }
  std::fclose(stream);
  std::string result(text, size);
  std::free(text);
  return result;
}

TEST(ProgressTest, IsPlainLinesAwayFromATerminal) {
  EXPECT_EQ(shown(ProgressMode::Plain), "reading 1/2 a.py\nreading 2/2 b.py\n");
}

TEST(ProgressTest, IsSilentWhenQuiet) {
  EXPECT_EQ(shown(ProgressMode::Quiet), "");
  EXPECT_EQ(progress_mode(true), ProgressMode::Quiet);
}

TEST(ProgressTest, IsOneLineThatIsClearedAtATerminal) {
  const std::string text = shown(ProgressMode::Live);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_NE(text.find("2/2 b.py"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\x1b[K"));
}

}  // namespace
}  // namespace kw
