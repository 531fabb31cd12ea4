// Products and sums of 16-bit numbers in programs that share operands, round in between and have several results: what
// is computed for whole vectors, in which loop, and what stays with its element agree with the oracle in the emulation.
#include <gtest/gtest.h>

#include "base/text.h"
#include "example_profiles.h"
#include "ir/random/dice.h"
#include "ir/random/random_call.h"
#include "ir/text/parse.h"
#include "kernel_pass.h"

namespace kw::test {
namespace {

using ir::random::Dice;

const char* const kHead =
    "op f(a: T[rows, cols], b: T[rows, cols], c: T[rows, cols], s: T[1], w: T[cols], v: W[rows, 1])\n"
    "  sizes rows = 5, cols = 72\n";

void expect_right(const std::string& text, std::uint64_t seed) {
  const Result<ir::Graph> graph = ir::text::parse(text);
  ASSERT_TRUE(graph) << render(graph.error()) << text;
  Result<KernelPass> kernels = KernelPass::make("f", *graph, Where::Emulation);
  ASSERT_TRUE(kernels) << render(kernels.error()) << text;
  const ir::Environment call = ir::random_call(*graph, seed);
  const Types types = {{"T", seed % 3 == 0 ? ir::DType::F16 : ir::DType::BF16},
                       {"W", seed % 2 == 0 ? ir::DType::F32 : ir::DType::BF16}};
  for (const Layout layout : {Layout::Dense, Layout::Misaligned}) kernels->expect_oracle(text, types, call, layout);
}

enum class Kind { Elements, Rows, Sums };

std::string program(Dice& dice, Kind kind) {
  std::vector<std::string> all = {"a", "b", "c", "s", "w", "v"}, large = {"a", "b", "c"}, lines, results;
  const auto any = [&] { return dice.pick(dice.chance(0.5) ? large : all); };
  for (std::int64_t i = 0, count = 3 + dice.below(6); i < count; ++i) {
    const std::string x = any(), y = any(), name = "t" + std::to_string(i);
    std::string value = x + dice.pick(std::vector<std::string>{" * ", " + ", " - "}) + y;
    if (dice.chance(0.4)) value = dice.pick(std::vector<std::string>{"tanh", "exp", "sin"}) + "(" + x + ")";
    if (dice.chance(0.15)) value = x + " * " + dice.pick(std::vector<std::string>{"0.5", "2.0", "0.3"});
    if (dice.chance(0.15)) value = "cast(" + x + ", " + dice.pick(std::vector<std::string>{"W", "f32"}) + ")";
    if (dice.chance(0.05)) value = "max(" + x + ", " + y + ")";
    if (kind != Kind::Elements && dice.chance(0.15))
      value = "mean(" + dice.pick(std::vector<std::string>{"a", "b", "c"}) + ", cols)";
    lines.push_back("  " + name + " = " + value + "\n");
    all.push_back(name);
    large.push_back(name);
  }
  for (std::int64_t i = 0, count = 1 + dice.below(3); i < count; ++i) {
    results.push_back("y" + std::to_string(i));
    const std::string x = i == 0 ? large.back() : dice.pick(large);
    lines.push_back("  " + results.back() + " = " +
                    dice.pick(std::vector<std::string>{x + " * a", x + " + b", "cast(" + x + " + a, T)"}) + "\n");
  }
  if (kind == Kind::Sums) {
    lines.push_back("  g = sum(cast(" + dice.pick(large) + " * a, f32) * cast(" + dice.pick(large) +
                    " + b, f32), rows, cols)\n");
    lines.push_back("  h = sum(" + dice.pick(large) + " * a, rows)\n");
    results.insert(results.end(), {"g", "h"});
  }
  return kHead + join(lines, "") + "return " + join(results, ", ") + "\n";
}

TEST(PackedPrograms, AgreeWithTheOracle) {
  for (const Kind kind : {Kind::Elements, Kind::Rows, Kind::Sums})
    for (std::uint64_t seed = 1; seed <= (slow_tests() ? 40u : 8u); ++seed) {
      Dice dice(100 * static_cast<std::uint64_t>(kind) + seed);
      expect_right(program(dice, kind), seed);
      if (HasFatalFailure()) return;
    }
}

// One operand of a vector, and of functions of its elements.
TEST(PackedPrograms, AnOperandMayBeWantedByElementsToo) {
  expect_right(kHead + std::string("  y = a * b\n  z = exp(a) / sin(a)\nreturn y, z\n"), 1);
  expect_right(
      "op f(mx: T[rows, cols], b: T[rows, cols])\n  sizes rows = 5, cols = 72\n  m = sum(b, cols)\n  y = mx * m\n"
      "  z = exp(mx) / sin(mx) - m\nreturn y, z\n",
      1);
}

TEST(PackedPrograms, ALoopHasVariablesOfItsOwn) {
  expect_right(kHead + std::string("  t = tanh(a)\n  q = t * t\n  z = log(q)\n  y = exp(t * b) / q\nreturn y, z\n"), 1);
  expect_right(kHead + std::string("  z = sin(c)\n  y = exp(tanh(a) * b) / c / cos(c)\nreturn y, z\n"), 1);
}

TEST(PackedPrograms, ASumOfProductsIsWrittenWhereAllItsTermsAreKnown) {
  expect_right(kHead + std::string("  q = exp(cast(a, f32))\n  p = cast(tanh(b) * c, f32)\n  r = sum(p * q, cols)\n"
                                   "  g = sum(p * q, rows, cols)\n  y = cast(q * r * p, T)\nreturn y, g\n"),
               1);
}

TEST(PackedPrograms, WhatIsStoredMayBeATermToo) {
  expect_right(kHead + std::string("  p = a * b\n  r = sum(cast(p, f32) * cast(c, f32), cols)\n"
                                   "  g = sum(cast(p, f32) * cast(c, f32), rows, cols)\n  y = cast(r, T) * c\n"
                                   "return p, y, g\n"),
               1);
}

}  // namespace
}  // namespace kw::test
