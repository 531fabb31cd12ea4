// What tiers 1 and 2 do not have is refused by the name of a rule, at the place in the source.
#include <gtest/gtest.h>

#include "act/loop/kernels.h"
#include "ir/text/parse.h"

namespace kw::act {
namespace {

struct Refusal {
  std::string name, line, rule;
};

class LoopRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(LoopRefusal, NamesTheRuleAndThePlace) {
  const std::string text = "op f(x: f32[n, m], k: i64[n], w: f32[m, q = 4])\n  " + GetParam().line + "\nreturn y\n";
  Result<ir::Graph> graph = ir::text::parse(text, "f.math");
  ASSERT_TRUE(graph) << render(graph.error());
  Result<LoopProgram> program = make_program("f", *graph);
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().message.find(": rule " + GetParam().rule), std::string::npos) << program.error().message;
  EXPECT_EQ(program.error().kind, ErrorKind::BadInput);
  ASSERT_TRUE(program.error().place);
  EXPECT_EQ(program.error().place->file, "f.math");
  EXPECT_EQ(program.error().place->line, 2);
  EXPECT_FALSE(program.error().hint.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Rules, LoopRefusal,
    ::testing::Values(Refusal{"scan", "y = cumsum(x, m)", "scan"}, Refusal{"gather", "y = gather(x, k, m)", "indexed"},
                      Refusal{"sort", "y = sort(x, m)", "order"}, Refusal{"topk", "y = topk(x, m -> j = 2)", "order"},
                      Refusal{"contraction", "y = contract(x, w, m)", "contraction"},
                      Refusal{"window", "y = sum(window(x, 0, m -> (o, t = 3), pad = 1), t)", "window"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kw::act
