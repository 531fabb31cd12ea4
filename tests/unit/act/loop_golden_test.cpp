// The printed loop form of every op, held against tests/golden/loop/OP.txt: forward with what it saves, backward, and
// both collapsed.
#include <gtest/gtest.h>

#include <filesystem>

#include "act/loop/collapse.h"
#include "act/loop/kernels.h"
#include "act/loop/print.h"
#include "base/file.h"
#include "line_diff.h"
#include "loop_cases.h"

namespace kw::act::test {
namespace {

class LoopGolden : public ::testing::TestWithParam<LoopCase> {};

std::string printed(const LoopCase& c) {
  std::string out;
  for (const Pass& pass : passes_of(c)) {
    if (pass.name == "forward") continue;
    const std::string name = c.name + (pass.name == "backward" ? "_backward" : "_forward");
    Result<LoopProgram> program = make_program(name, pass.graph);
    if (!program) return render(program.error());
    out += (out.empty() ? "" : "\n") + print(*program) + "\ncollapsed " + print(collapse(*program));
  }
  return out;
}

TEST_P(LoopGolden, TheProgramsAreAsRecorded) {
  const std::filesystem::path file = "tests/golden/loop/" + GetParam().name + ".txt";
  const std::filesystem::path golden = KW_SOURCE_DIR / file, fresh = KW_BINARY_DIR / file;
  const std::string got = printed(GetParam());
  Result<std::string> expected = read_text(golden.string());
  if (expected && *expected == got) return;
  ASSERT_TRUE(write_file_atomically(fresh.string(), got));
  FAIL() << file << " differs:\n"
         << line_diff(expected ? *expected : "", got) << "if that is right: cp " << fresh << " " << golden;
}

INSTANTIATE_TEST_SUITE_P(Ops, LoopGolden, ::testing::ValuesIn(op_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kw::act::test
