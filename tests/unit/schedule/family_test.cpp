#include "schedule/family.h"

#include <gtest/gtest.h>

#include "ir/text/parse.h"
#include "schedule/layout.h"

namespace kw::schedule {
namespace {

ir::Graph graph_of(const std::string& math) {
  const Result<ir::Graph> graph = ir::text::parse(math);
  EXPECT_TRUE(graph.has_value()) << render(graph.error());
  return graph ? *graph : ir::Graph{};
}

std::vector<Family> families(const std::string& math) {
  std::vector<Family> found;
  for (const Choice& choice : choices(graph_of(math))) found.push_back(choice.family);
  return found;
}

std::string refusal(Family family, const std::string& math) {
  const Service service = may_serve(family, graph_of(math));
  EXPECT_FALSE(service.serves);
  return service.because;
}

using Families = std::vector<Family>;

TEST(Family, ElementwiseMathIsPointwise) {
  EXPECT_EQ(families("op f(x: T[r, c], w: T[c])\n  y = exp(x) * w\nreturn y\n"),
            (Families{Family::Pointwise, Family::Composed}));
}

TEST(Family, AGatheredLoadIsALoad) {
  EXPECT_EQ(families("op f(t: T[v, c], i: i64[n])\n  y = gather(t, i, v) * 2\nreturn y\n")[0], Family::Pointwise);
}

TEST(Family, AReductionAlongContiguousMemoryIsARow) {
  const std::vector<Choice> found =
      choices(graph_of("op f(x: T[r, c])\n  m = reduce_max(x, c)\n  y = x - m\nreturn y\n"));
  EXPECT_EQ(found[0].family, Family::Row);
  EXPECT_EQ(found[0].service.stages, 1);
  EXPECT_EQ(found[0].service.over.size(), 1u);
}

TEST(Family, DependentReductionsAreStages) {
  EXPECT_EQ(choices(graph_of(
                "op f(x: T[r, c])\n  m = reduce_max(x, c)\n  e = exp(x - m)\n  y = e / sum(e, c)\nreturn y\n"))[0]
                .service.stages,
            2);
}

TEST(Family, AReductionOverAMiddleAxisIsAColumn) {
  EXPECT_EQ(families("op f(x: T[b, s, h])\n  y = mean(x, s)\nreturn y\n"),
            (Families{Family::Column, Family::Composed}));
  EXPECT_NE(refusal(Family::Row, "op f(x: T[b, s, h])\n  y = mean(x, s)\nreturn y\n").find("contiguous"),
            std::string::npos);
}

TEST(Family, MergedAxesCountAsOneGroup) {
  // Group norm: channels inside a group and space are contiguous together.
  EXPECT_EQ(families("op f(x: T[n, c, s])\n  where c % 4 == 0\n  g = split(x, c -> (a, k = 4))\n  m = mean(g, k, s)\n  "
                     "y = merge(g - m, (a, k) -> c)\nreturn y\n")[0],
            Family::Row);
}

TEST(Family, SumsOverRowsThatLeaveThePassRideAlong) {
  const std::string math =
      "op f(x: T[r, c], d: T[r, c])\n  s = sum(x * d, c)\n  a = d - x * s\n  w = sum(x * d, r)\nreturn a, w\n";
  EXPECT_EQ(families(math)[0], Family::Row);
  EXPECT_NE(choices(graph_of(math))[0].service.because.find("ride along"), std::string::npos);
}

TEST(Family, ASumOverRowsThatThePassWaitsForDoesNotRideAlong) {
  const std::string math = "op f(x: T[r, c])\n  m = mean(x, c)\n  n = mean(x, r)\n  y = x - m - n\nreturn y\n";
  EXPECT_FALSE(may_serve(Family::Row, graph_of(math)).serves);
  EXPECT_EQ(families(math), (Families{Family::Composed}));
}

TEST(Family, ALossIsWhole) {
  EXPECT_EQ(families("op f(x: T[r, c], t: T[r, c])\n  y = mean((x - t)^2, r, c)\nreturn y\n"),
            (Families{Family::Whole, Family::Composed}));
  EXPECT_EQ(families("op f(x: T[r, c])\n  y = mean(logsumexp(x, c), r)\nreturn y\n")[0], Family::Whole);
}

TEST(Family, ScansSegmentsWindowsAndContractionsHaveTheirOwn) {
  EXPECT_EQ(families("op f(x: T[r, c])\n  y = cumsum(x, c)\nreturn y\n")[0], Family::Scan);
  EXPECT_EQ(families("op f(x: T[r, c], o: i64[b])\n  y = segment_sum(x, o, r -> s = b - 1 by b)\nreturn y\n")[0],
            Family::Segment);
  EXPECT_EQ(families("op f(x: T[n])\n  y = reduce_max(window(x, 0, n -> (o, k = 3)), k)\nreturn y\n")[0],
            Family::Window);
  EXPECT_EQ(families("op f(a: T[m, k], b: T[k, n])\n  y = contract(a, b, k)\nreturn y\n")[0], Family::Contraction);
}

TEST(Family, ScansAlongTwoAxesAreRefusedWithTheReason) {
  EXPECT_NE(refusal(Family::Scan, "op f(x: T[r, c])\n  y = cumsum(cumsum(x, c), r)\nreturn y\n").find("different axes"),
            std::string::npos);
}

TEST(Family, AnOrderedSelectionIsComposed) {
  EXPECT_EQ(families("op f(x: T[r, c])\n  y = sort(x, c)\nreturn y\n"), (Families{Family::Composed}));
}

TEST(Family, EveryFamilyHasANameThatReadsBack) {
  for (int i = 0; i < kFamilyCount; ++i)
    EXPECT_EQ(family_from_text(to_text(static_cast<Family>(i))), static_cast<Family>(i));
  EXPECT_EQ(family_from_text("rows"), std::nullopt);
}

TEST(Layout, AReductionOverAnAxisOfSizeOneJoinsNothing) {
  const ir::Graph graph = graph_of("op f(x: T[r, c])\n  p = slice(x, c -> one = 1)\n  y = sum(p, one)\nreturn y\n");
  EXPECT_EQ(choices(graph)[0].family, Family::Pointwise);
}

}  // namespace
}  // namespace kw::schedule
