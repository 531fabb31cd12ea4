// What is known of each output of a call whose inputs repeat along one axis, as a table: graph, axis, what repeats,
// what is a sum.
#include "verify/repetition.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "ir/text/parse.h"

namespace kw::verify {
namespace {

using Names = std::vector<std::string>;

struct Known {
  Names repeats, sums;
  bool operator==(const Known&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Known& known) {
  for (const auto* names : {&known.repeats, &known.sums})
    for (const std::string& name : *names) out << (names == &known.sums ? "sum " : "") << name << ", ";
  return out;
}

Subject subject_with(const std::string& text) {
  const auto graph = ir::text::parse(text);
  if (!graph) throw std::runtime_error(render(graph.error()));
  return subject_of(*graph, {}, {});
}

// Empty where nothing repeats along the axis.
Known known_along(const std::string& symbol, const std::string& text) {
  Known known;
  for (const Repetition& one : repetitions(subject_with(text), {}, {})) {
    if (one.call.symbol != symbol) continue;
    known.repeats = one.call.outputs;
    for (const auto& [name, sum] : one.call.sums) known.sums.push_back(name);
  }
  return known;
}

std::string op(const std::string& inputs, const std::string& lines, const std::string& outputs = "y, s") {
  return "op f(" + inputs + ")\n" + lines + "return " + outputs + "\n";
}

TEST(RepetitionTest, WhatIsComputedForEachIndexRepeats) {
  const std::string norm = op("x: f32[n, k]", "  y = x * rsqrt(mean(x * x, k))\n", "y");
  EXPECT_EQ(known_along("n", norm), (Known{{"y"}, {}}));
  EXPECT_EQ(known_along("k", norm), Known{}) << "every element knows the whole row";
}

TEST(RepetitionTest, SumsAndMeansAreKnownAndWhatIsProportionalToThem) {
  for (const char* s : {"sum(x, n)", "mean(x, n)", "-sum(x, n)", "sum(x, n) * 3.0", "sum(x, n) / w", "f16(sum(x, n))"})
    EXPECT_EQ(known_along("n", op("x: f32[n, k], w: f32[k]", std::string("  y = -x\n  s = ") + s + "\n")),
              (Known{{"y"}, {"s"}}))
        << s;
  for (const char* s : {"exp(sum(x, n))", "reduce_max(x, n)", "sum(x, n) + 1.0", "f32(i32(sum(x, n)))"})
    EXPECT_EQ(known_along("n", op("x: f32[n, k], w: f32[k]", std::string("  y = -x\n  s = ") + s + "\n")),
              (Known{{"y"}, {}}))
        << s;
}

TEST(RepetitionTest, ASumThatMayHaveLeftItsRangeIsNotScaled) {
  for (const char* s : {"sum(x, n) * 0.5", "f32(sum(x, n)) * 0.5", "f32(f16(sum(f32(x), n))) * 0.5"})
    EXPECT_EQ(known_along("n", op("x: f16[n, k]", std::string("  y = -x\n  s = ") + s + "\n")), (Known{{"y"}, {}}))
        << s;
  EXPECT_EQ(known_along("n", op("x: f16[n, k]", "  y = -x\n  s = sum(f32(x), n) * 0.5\n")), (Known{{"y"}, {"s"}}));
}

TEST(RepetitionTest, AnAxisThatIsReducedBeforeAnotherOfItsSizeIsNotThatOne) {
  const std::string gathered = op("b: f32[m = n, k], i: i64[n]", "  y = gather(b, i, m)\n", "y");
  EXPECT_EQ(known_along("n", gathered), Known{}) << gathered;
}

TEST(RepetitionTest, NothingRepeatsAlongTwoDimensionsAtOnce) {
  EXPECT_EQ(known_along("n", op("x: f32[n, m = n], z: f32[n, k]", "  y = -z\n  s = -x\n")), Known{});
}

TEST(RepetitionTest, OfSeveralAxesThatIsTakenAlongWhichMostIsKnown) {
  const Subject subject = subject_with(op("x: f32[n, k]", "  y = -x\n  s = sum(x, n)\n"));
  const auto call = repeating_call(subject, {}, {{"n", 100'000}, {"k", 8}});
  ASSERT_TRUE(call);
  EXPECT_EQ(call->symbol, "n");
  EXPECT_EQ(call->sizes.at("n"), 100'000);
  EXPECT_EQ(call->period, 8191);
  EXPECT_GE(call->sums.at("s").bound, call->sums.at("s").of_last);
  EXPECT_GE(call->sums.at("s").of_last, 1);
}

}  // namespace
}  // namespace kw::verify
