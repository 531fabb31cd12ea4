#include "measure/work.h"

#include <gtest/gtest.h>

#include "ir/text/parse.h"

namespace kw::measure {
namespace {

ir::Graph parsed(const std::string& text) {
  Result<ir::Graph> graph = ir::text::parse(text);
  if (!graph) throw std::runtime_error(render(graph.error()));
  return *graph;
}

const char* const kNorm = R"(op norm(x: T[rows, cols], w: W[cols], unused: T[rows, cols]; eps = 1e-6)
  h = f32(x)
  ms = mean(h * h, cols)
  rstd = rsqrt(ms + eps)
  y = T(h * rstd) * w
return y, rstd
)";

TEST(WorkTest, EachInputIsReadOnceAndEachOutputWrittenOnce) {
  const auto work =
      work_of(parsed(kNorm), {{"rows", 10}, {"cols", 100}}, {{"T", ir::DType::BF16}, {"W", ir::DType::F32}});
  ASSERT_TRUE(work) << work.error().message;
  EXPECT_EQ(work->read_bytes, 10 * 100 * 2 + 100 * 4);    // what no output needs is not read
  EXPECT_EQ(work->written_bytes, 10 * 100 * 4 + 10 * 4);  // bf16 times f32 is f32; rstd
}

TEST(WorkTest, OutputsThatAreOneValueAreWrittenOnce) {
  const auto work = work_of(parsed("op f(d: f32[rows, cols])\n  g = -d\n  s = sum(d, rows)\nreturn a = g, b = g, s\n"),
                            {{"rows", 10}, {"cols", 100}});
  ASSERT_TRUE(work) << render(work.error());
  EXPECT_EQ(work->written_bytes, 1000 * 4 + 100 * 4);
}

TEST(WorkTest, OperationsAreCountedPerElementOfTheirDomain) {
  const auto work =
      work_of(parsed(kNorm), {{"rows", 10}, {"cols", 100}}, {{"T", ir::DType::BF16}, {"W", ir::DType::F32}});
  ASSERT_TRUE(work) << work.error().message;
  // h, h*h, the mean's terms, h*rstd, T(…), …*w: six per element; ms + eps: one per row.
  EXPECT_EQ(work->simple, 6 * 1000 + 10);
  EXPECT_EQ(work->special, 10);  // rsqrt
}

TEST(WorkTest, TypesThatAreNotGivenAreTheUsersOwn) {
  ir::Graph graph = parsed("op f(x: T[n])\n  y = -x\nreturn y\n");
  graph.type_parameters[0].default_dtype = ir::DType::BF16;
  const auto narrow = work_of(graph, {{"n", 8}});
  ASSERT_TRUE(narrow) << narrow.error().message;
  EXPECT_EQ(narrow->bytes(), 32);
}

TEST(WorkTest, ASizeThatIsNotKnownIsNamed) {
  const auto work = work_of(parsed(kNorm), {{"rows", 10}});
  ASSERT_FALSE(work);
  EXPECT_EQ(work.error().message, "the size cols is not known");
}

}  // namespace
}  // namespace kw::measure
