// Tensors and scalars may bear any name, those of the skeletons' own variables too.
#include <gtest/gtest.h>

#include "../unit/act/loop_agreement.h"
#include "ir/text/parse.h"
#include "kernel_pass.h"

namespace kw::test {
namespace {

const char* const kWords[] = {
    "all",     "block",   "blocks", "cached",  "chunk",  "count",     "edge",      "edges",   "element",    "end",
    "first",   "from",    "grid",   "groups",  "head",   "here",      "i",         "in_part", "index",      "inside",
    "j",       "k",       "lambda", "landing", "lane",   "lanes",     "left",      "length",  "n",          "part",
    "part_of", "parts",   "piece",  "point",   "points", "prefetch",  "room",      "row",     "rows_2",     "share",
    "shape",   "max",     "min",    "bytes",   "dense",  "unit",      "shares",    "shift",   "slot",       "start",
    "step",    "strides", "target", "terms",   "thread", "threads",   "tile",      "tiles",   "tiles_here", "to",
    "total",   "turn",    "v",      "value",   "values", "vector",    "vectors",   "wanted",  "warp",       "whole",
    "worker",  "workers", "kRoom",  "kBeside", "kTile",  "kResident", "kElements", "kVector"};

class Names : public ::testing::TestWithParam<Where> {};

void expect_right(const std::string& text, Where where) {
  const auto graph = ir::text::parse(text, "test");
  ASSERT_TRUE(graph) << render(graph.error()) << text;
  auto kernels = KernelPass::make("f", *graph, where);
  ASSERT_TRUE(kernels) << render(kernels.error()) << text;
  const ir::Environment call = act::test::inputs_for(*graph, {{"rows", 5}, {"cols", 24}}, 1);
  kernels->expect_oracle(text, {{"T", ir::DType::F32}}, call, Layout::Dense);
}

TEST_P(Names, MayBeThoseOfSkeletons) {
  constexpr size_t kEach = 6;
  for (size_t first = 0; first + kEach <= std::size(kWords); first += kEach) {
    const auto word = [&](size_t i) { return std::string(kWords[first + i]); };
    const std::string inputs = "op f(" + word(0) + ": T[rows, cols], " + word(1) + ": T[cols], " + word(2) +
                               ": T[rows, cols]; " + word(3) + " = 0.5)\n";
    const std::string alike = "op f(" + word(3) + ": T[rows, cols])\n  " + word(4) + " = abs(" + word(3) + ")\n  " +
                              word(5) + " = " + word(4) + " + " + word(3) + "\nreturn " + word(4) + ", " + word(5) +
                              "\n";
    expect_right(alike, GetParam());
    const std::string all = word(0) + " * " + word(1) + " + " + word(2) + " * " + word(3) + "\n";
    expect_right(inputs + "  " + word(4) + " = " + all + "  " + word(5) + " = " + word(0) + " - " + word(2) +
                     "\nreturn " + word(4) + ", " + word(5) + "\n",
                 GetParam());
    expect_right(inputs + "  m = mean(" + word(0) + ", cols)\n  " + word(4) + " = m * " + all + "  " + word(5) +
                     " = sum(m * " + word(2) + ", rows)\nreturn " + word(4) + ", " + word(5) + "\n",
                 GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Names, ::testing::Values(Where::Cpu, Where::Emulation),
                         [](const auto& info) { return info.param == Where::Cpu ? "Cpu" : "Emulation"; });

}  // namespace
}  // namespace kw::test
