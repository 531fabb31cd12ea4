#include "understand/decisions/shapes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "decided.h"
#include "profile/decision.h"

namespace kw::understand {
namespace {

ir::Graph graph_of(const std::string& math) { return reading_of(math).graph; }

bool has_size(const std::vector<profile::Shape>& shapes, const std::string& symbol, std::int64_t size) {
  return std::any_of(shapes.begin(), shapes.end(), [&](const profile::Shape& shape) {
    return std::any_of(shape.begin(), shape.end(),
                       [&](const auto& entry) { return entry.first == symbol && entry.second == size; });
  });
}

const std::string kRow =
    "op f(x: T[rows, cols])\n  sizes rows = 4096, cols = 1000\n  y = x - mean(x, cols)\nreturn y\n";

TEST(Shapes, TestsMeetOnePrimesOneOverAPowerOfTwoEmptyAndLong) {
  const std::vector<profile::Shape> shapes = test_shapes(graph_of(kRow));
  for (const std::int64_t size : {1, 13, 127, 129, 1025, 4099}) EXPECT_TRUE(has_size(shapes, "cols", size)) << size;
  EXPECT_TRUE(has_size(shapes, "rows", 0));
  EXPECT_TRUE(has_size(shapes, "rows", 2053));
}

TEST(Shapes, AnAxisThatIsReducedIsNeverEmpty) {
  for (const profile::Shape& shape :
       test_shapes(graph_of("op f(x: T[rows, cols])\n  y = reduce_max(x, rows, cols)\nreturn y\n")))
    for (const auto& [_, size] : shape) EXPECT_GT(size, 0);
}

TEST(Shapes, EveryShapeKeepsTheConstraints) {
  const ir::Graph graph = graph_of(
      "op f(x: T[n, c, s])\n  where c % 6 == 0\n  g = split(x, c -> (a, k = 6))\n  y = merge(g - mean(g, k, s), (a, k) "
      "-> c)\nreturn y\n");
  const std::vector<profile::Shape> shapes = test_shapes(graph);
  EXPECT_GE(shapes.size(), 5u);
  for (const profile::Shape& shape : shapes) EXPECT_EQ(shape[1].second % 6, 0) << profile::shape_text(shape);
}

TEST(Shapes, TwoSizesThatMustBeEqualAre) {
  for (const profile::Shape& shape :
       test_shapes(graph_of("op f(x: T[a], z: T[b])\n  where a == b\n  y = x + rename(z, b -> a)\nreturn y\n")))
    EXPECT_EQ(shape[0].second, shape[1].second) << profile::shape_text(shape);
}

TEST(Shapes, WindowsStayInside) {
  const ir::Graph graph = graph_of("op f(x: T[n])\n  y = sum(window(x, 0, n -> (o, k = 9)), k)\nreturn y\n");
  for (const profile::Shape& shape : test_shapes(graph)) EXPECT_GE(shape[0].second, 9) << profile::shape_text(shape);
}

TEST(Shapes, TheUsersOwnIsMeasuredFirstAndItsNeighboursAfter) {
  const std::vector<profile::Shape> shapes = measured_shapes(graph_of(kRow));
  ASSERT_EQ(shapes.size(), 5u);
  EXPECT_EQ(profile::shape_text(shapes[0]), "rows=4096 cols=1000");
  EXPECT_TRUE(has_size(shapes, "cols", 250) && has_size(shapes, "cols", 500) && has_size(shapes, "cols", 2000) &&
              has_size(shapes, "cols", 4000));
}

TEST(Shapes, AnOpWithoutSizesHasOneShape) {
  EXPECT_EQ(test_shapes(graph_of("op f(x: T[k = 3])\n  y = x + x\nreturn y\n")).size(), 1u);
}

TEST(Shapes, TheyCanBeSetIfTheOpAllowsThem) {
  const profile::Profile p = decided(kRow, {{"shapes.test", "rows=2 cols=3, cols=5 rows=7"}});
  EXPECT_EQ(value(p, "shapes.test"), "rows=2 cols=3, rows=7 cols=5");
  for (const char* bad : {"rows=2", "rows=2 cols", "rows=-1 cols=2", "rows=2 cols=3 depth=1", "nothing"})
    EXPECT_NE(error_of(kRow, {{"shapes.test", bad}}), "no error") << bad;
  EXPECT_NE(error_of("op f(x: T[n])\n  where n % 2 == 0\n  y = x + x\nreturn y\n", {{"shapes.measure", "n=3"}}),
            "no error");
}

TEST(Shapes, ManyEqualSizesAreFoundQuickly) {
  // The worst case of the search: sizes that depend on each other in a chain.
  std::string header = "op f(";
  std::string where = "  where ";
  std::string sum = "  y = x0";
  for (int i = 0; i < 8; ++i) {
    header += (i ? ", " : "") + std::string("x") + std::to_string(i) + ": T[n" + std::to_string(i) + "]";
    if (i) where += (i > 1 ? ", " : "") + std::string("n") + std::to_string(i) + " == n" + std::to_string(i - 1);
    if (i) sum += " + rename(x" + std::to_string(i) + ", n" + std::to_string(i) + " -> n0)";
  }
  EXPECT_GE(test_shapes(graph_of(header + ")\n" + where + "\n" + sum + "\nreturn y\n")).size(), 4u);
}

}  // namespace
}  // namespace kw::understand
