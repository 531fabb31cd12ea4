// Sums of several types that ride along with rows: each has room of its own in shared memory, whatever lies before it.
#include <gtest/gtest.h>

#include "ir/random/random_call.h"
#include "ir/text/parse.h"
#include "kernel_pass.h"

namespace kw::test {
namespace {

// Agrees with the oracle in the emulation, by kernels that have these words.
void expect_right(const std::string& text, const std::vector<std::string>& words) {
  const auto graph = ir::text::parse(text, "test");
  ASSERT_TRUE(graph) << render(graph.error());
  auto kernels = KernelPass::make("f", *graph, Where::Emulation);
  ASSERT_TRUE(kernels) << render(kernels.error());
  std::string all;
  for (const auto& [file, source] : kernels->generated().files) all += source;
  for (const std::string& word : words) EXPECT_NE(all.find(word), std::string::npos) << word << "\n" << all;
  for (const Layout layout : {Layout::Dense, Layout::Gaps, Layout::Transposed})
    kernels->expect_oracle(text, {}, ir::random_call(*graph, 1), layout);
}

TEST(MixedSums, OverPartsOfRowsDoNotOverlap) {
  for (const char* sums : {"  t = sum(f64(x), rows, cols)\n  s = sum(x * m, rows, cols)\n",
                           "  t = sum(x * m, rows, cols)\n  s = sum(f64(x), rows, cols)\n"})
    expect_right(std::string("op f(x: f32[rows, groups, cols])\n  sizes rows = 7, groups = 3, cols = 200\n"
                             "  m = mean(x, groups, cols)\n") +
                     sums + "return m, t, s\n",
                 {"kw::PartSums<float>", "kw::PartSums<double>"});
}

TEST(MixedSums, OverColumnsDoNotOverlap) {
  for (const char* sums :
       {"  t = sum(f64(x), rows)\n  s = sum(x * m, rows)\n", "  t = sum(x * m, rows)\n  s = sum(f64(x), rows)\n"})
    expect_right(std::string("op f(x: f32[rows, cols])\n  sizes rows = 40, cols = 2000\n  m = mean(x, cols)\n") + sums +
                     "return m, t, s\n",
                 {"kw::Sums<float", "kw::Sums<double"});
}

}  // namespace
}  // namespace kw::test
