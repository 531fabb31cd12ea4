// docs/math.md is true: its examples are canonical texts, and it names every primitive.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "ir/text/spelling.h"

namespace kw::ir {
namespace {

std::string page() {
  std::ifstream file(KW_SOURCE_DIR "/docs/math.md");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(MathPage, ItsExamplesAreCanonicalTexts) {
  const std::string text = page();
  int examples = 0;
  for (size_t at = text.find("```\nop "); at != std::string::npos; at = text.find("```\nop ", at + 1), ++examples) {
    const size_t start = at + 4;
    const std::string example = text.substr(start, text.find("```", start) - start);
    const Result<Graph> graph = text::parse(example);
    ASSERT_TRUE(graph.has_value()) << render(graph.error());
    EXPECT_EQ(text::print(*graph), example);
  }
  EXPECT_EQ(examples, 3);
}

TEST(MathPage, NamesEveryPrimitive) {
  const std::string text = page();
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (text::spelling(op).form == text::Form::Value) continue;
    const std::regex word("[` ]" + std::string(info(op).name) + "[`( ]");
    EXPECT_TRUE(std::regex_search(text, word)) << info(op).name;
  }
}

}  // namespace
}  // namespace kw::ir
