#include "ir/canonical.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/hash.h"
#include "ir/infer.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "rearranged.h"
#include "text_cases.h"

namespace kw::ir {
namespace {

Graph parsed(const std::string& text) {
  Result<Graph> graph = text::parse(text);
  if (!graph) throw std::runtime_error(render(graph.error()) + "\nin\n" + text);
  return *graph;
}

std::string difference(const std::string& a, const std::string& b) {
  std::string shown;
  EXPECT_FALSE(equivalent(parsed(a), parsed(b), &shown)) << a << b;
  return shown;
}

void expect_equivalent(const std::string& a, const std::string& b) {
  std::string shown;
  EXPECT_TRUE(equivalent(parsed(a), parsed(b), &shown)) << shown << "\n" << a << b;
  EXPECT_EQ(graph_hash(parsed(a)), graph_hash(parsed(b)));
}

TEST(Canonical, IsAFixedPoint) {
  for (const std::string& text : canonical_texts()) {
    const Graph once = canonical(parsed(text));
    EXPECT_EQ(text::print(canonical(once)), text::print(once));
    EXPECT_TRUE(check(once).has_value()) << text;
  }
}

TEST(Canonical, DoesNotDependOnTheOrderOfNodesAxesAndSymbolsNorOnCommutedOperands) {
  for (const std::string& text : canonical_texts()) {
    const Graph original = parsed(text);
    for (uint32_t seed = 0; seed < 8; ++seed) {
      const Graph other = rearranged(original, seed, {.swap_operands = true});
      EXPECT_EQ(text::print(canonical(other)), text::print(canonical(original))) << text;
    }
  }
}

TEST(Canonical, EquivalenceAndHashDoNotDependOnDisplayNames) {
  for (const std::string& text : canonical_texts()) {
    const Graph original = parsed(text);
    for (uint32_t seed = 0; seed < 4; ++seed) {
      const Graph other = rearranged(original, seed, {.rename = true, .swap_operands = true});
      std::string shown;
      EXPECT_TRUE(equivalent(original, other, &shown)) << shown << "\n" << text << text::print(other);
      EXPECT_EQ(graph_hash(original), graph_hash(other)) << text;
    }
  }
}

TEST(Canonical, NoTwoOfTheCasesAreEquivalent) {
  const std::vector<std::string>& texts = canonical_texts();
  std::map<std::string, std::string> seen;
  for (const std::string& text : texts) {
    auto [known, is_new] = seen.emplace(graph_hash(parsed(text)), text);
    EXPECT_TRUE(is_new) << text << known->second;
  }
}

TEST(Canonical, DropsWhatNoOutputNeeds) {
  expect_equivalent("op f(x: f32[n])\n  y = x + 1\n  z = exp(x)\nreturn y\n",
                    "op f(x: f32[n])\n  y = x + 1\nreturn y\n");
}

TEST(Canonical, KeepsAnInputThatIsNotUsed) {
  EXPECT_EQ(
      difference("op f(x: f32[n], z: f32[n])\n  y = x + 1\nreturn y\n", "op f(x: f32[n])\n  y = x + 1\nreturn y\n"),
      "line 1 of the canonical text differs:\n"
      "  first:  op f(x: f32[n], z: f32[n])\n"
      "  second: op f(x: f32[n])");
}

TEST(Canonical, ADifferenceIsShownInTheFirstGraphsNames) {
  EXPECT_EQ(difference("op f(x: f32[rows, cols]; eps = 1e-6)\n  y = sum(x + eps, cols)\nreturn y\n",
                       "op g(x: f32[a, b]; eps = 1e-6)\n  z = sum(x - eps, b)\nreturn z\n"),
            "line 2 of the canonical text differs:\n"
            "  first:  y = sum(x + eps, cols)\n"
            "  second: y = sum(x - eps, cols)");
}

// Each pair differs in one fact alone.
TEST(Canonical, EquivalenceSeesEveryFact) {
  const std::string_view pairs[][2] = {
      {"op f(x: f32[n])\nreturn y = x\n", "op f(z: f32[n])\nreturn y = z\n"},
      {"op f(x: f32[n])\nreturn y = x\n", "op f(x: f16[n])\nreturn y = x\n"},
      {"op f(x: T[n])\n  types T = f32\nreturn y = x\n", "op f(x: T[n])\n  types T = f16\nreturn y = x\n"},
      {"op f(x: f32[n])\nreturn y = x\n", "op f(x: parameter f32[n])\nreturn y = x\n"},
      {"op f(x: f32[n])\nreturn y = x\n", "op f(x: no_grad f32[n])\nreturn y = x\n"},
      {"op f(x: f32[n])\nreturn y = x\n", "op f(x: f32[n, 1])\nreturn y = x\n"},
      {"op f(x: f32[n])\nreturn y = x\n", "op f(x: f32[n])\nreturn y = x[1, n]\n"},
      {"op f(x: f32[n])\nreturn y = x\n", "op f(x: f32[n])\n  sizes n = 4\nreturn y = x\n"},
      {"op f(x: f32[n])\nreturn y = x\n", "op f(x: f32[n])\n  where n % 2 == 0\nreturn y = x\n"},
      {"op f(x: f32[n])\nreturn y = x\n", "op f(x: f32[n = 2*m])\n  sizes m\nreturn y = x\n"},
      {"op f(x: f32[n, m])\nreturn y = x\n", "op f(x: f32[n, m])\nreturn y = x[m, n]\n"},
      {"op f(x: f32[n, m])\nreturn y = x\n", "op f(x: f32[n, m = n])\nreturn y = x\n"},
      {"op f(x: f32[n, m])\n  y = sum(x, n)\nreturn y\n", "op f(x: f32[n, m])\n  y = sum(x, m)\nreturn y\n"},
      {"op f(x: f32[n], z: f32[n])\n  y = x - z\nreturn y\n", "op f(x: f32[n], z: f32[n])\n  y = z - x\nreturn y\n"},
      {"op f(x: f32[n]; e = 1.0)\n  y = x + e\nreturn y\n", "op f(x: f32[n]; e = 2.0)\n  y = x + e\nreturn y\n"},
      {"op f(x: f32[n]; e = 1.0)\n  y = x + e\nreturn y\n", "op f(x: f32[n]; e = 1)\n  y = x + e\nreturn y\n"},
      {"op f(x: f32[n])\n  y = x + 1\nreturn y\n", "op f(x: f32[n])\n  y = x + 1.0\nreturn y\n"},
      {"op f(x: f32[n])\n  y = x + 0.0\nreturn y\n", "op f(x: f32[n])\n  y = x + -0.0\nreturn y\n"},
      {"op f(x: T[n])\n  y = T(f32(x) + 1)\nreturn y\n", "op f(x: T[n])\n  y = T(wide(x) + 1)\nreturn y\n"},
      {"op f(x: buffer f32[n])\n  y = x + 1\nreturn y updates x\n", "op f(x: buffer f32[n])\n  y = x + 1\nreturn y\n"},
      {"op f(x: f32[n])\n  y = slice(x, n -> m = n - 1)\nreturn y\n",
       "op f(x: f32[n])\n  y = slice(x, n -> m = n - 1, start = 1)\nreturn y\n"},
      {"op f(x: f32[n])\n  y = cumsum(x, n)\nreturn y\n", "op f(x: f32[n])\n  y = cumsum(x, n, reverse)\nreturn y\n"},
      {"op f(s: i64, x: f32[n, m])\n  y = random(s, 0, n, m)\nreturn y, x\n",
       "op f(s: i64, x: f32[n, m])\n  y = random(s, 0, m, n)\nreturn y, x\n"},
      {"op f(x: f32[n])\n  combine c(a: real, b: real) from (0)\n    y = a + b\n  return y\n  y = reduce(c, x, "
       "n)\nreturn y\n",
       "op f(x: f32[n])\n  combine c(a: real, b: real) from (1)\n    y = a + b\n  return y\n  y = reduce(c, x, "
       "n)\nreturn y\n"},
      {"op f(x: f32[n])\n  combine c(a: real, b: real) from (0)\n    y = a + b\n  return y\n  y = reduce(c, x, "
       "n)\nreturn y\n",
       "op f(x: f32[n])\n  combine c(a: real, b: real) from (0)\n    y = a + 2 * b\n  return y\n  y = reduce(c, x, "
       "n)\nreturn y\n"},
  };
  for (const auto& pair : pairs) {
    std::string shown;
    EXPECT_FALSE(equivalent(parsed(std::string(pair[0])), parsed(std::string(pair[1])), &shown)) << pair[0] << pair[1];
    EXPECT_NE(shown, "");
    EXPECT_NE(graph_hash(parsed(std::string(pair[0]))), graph_hash(parsed(std::string(pair[1])))) << pair[0] << pair[1];
  }
}

TEST(Canonical, TheOrderOfFactsAndTheSidesOfAnEqualityDoNotCount) {
  expect_equivalent("op f(x: f32[n], z: f32[m])\n  where n % 2 == 0, n == m\nreturn x, z\n",
                    "op f(x: f32[n], z: f32[m])\n  where m == n, n % 2 == 0\nreturn x, z\n");
}

// Two new axes that only their later use tells apart.
TEST(Canonical, AxesAreToldApartByWhatHappensToThemLater) {
  const char* const direct =
      "op f(x: f32[i])\n  a = rename(x, i -> j)\n  b = rename(x, i -> k)\n  y = sum(a * b, k) + a\nreturn y\n";
  const char* const crossed =
      "op f(x: f32[i])\n  b = rename(x, i -> k)\n  a = rename(x, i -> j)\n  y = a + sum(b * a, k)\nreturn y\n";
  const char* const other =
      "op f(x: f32[i])\n  a = rename(x, i -> j)\n  b = rename(x, i -> k)\n  y = sum(a * b, j) + a\nreturn y[j, k]\n";
  expect_equivalent(direct, crossed);
  EXPECT_FALSE(equivalent(parsed(direct), parsed(other)));
}

TEST(Canonical, SymmetricAxesAreNumberedInOneWay) {
  // i and j may change places: every choice gives the same text.
  const Graph graph = parsed(
      "op f(n: f32[n])\n  a = rename(n, n -> i)\n  b = rename(n, n -> j)\n  y = sum(exp(a) * exp(b), i, j)\nreturn "
      "y\n");
  for (uint32_t seed = 0; seed < 16; ++seed) {
    const Graph other = rearranged(graph, seed, {.rename = true, .swap_operands = true});
    EXPECT_EQ(graph_hash(other), graph_hash(graph));
  }
}

TEST(Canonical, TypeParametersAreNumberedByTheInputsThatBringThem) {
  expect_equivalent("op f(x: A[n], y: B[n])\n  types A = bf16, B = f32\n  z = B(x) + cast(y, A|B)\nreturn z\n",
                    "op f(x: A[n], y: B[n])\n  types B = f32, A = bf16\n  z = B(x) + cast(y, A|B)\nreturn z\n");
}

TEST(Canonical, TheHashIsThatOfTheNamelessTextAndTheSameOnEveryMachine) {
  const std::string nameless = "op op(x: f32[axis1 = size1])\n  out1 = x + 1\nreturn out1\n";
  EXPECT_EQ(graph_hash(parsed("op f(x: f32[n])\n  y = 1 + x\nreturn y\n")), sha256_hex(nameless));
  EXPECT_EQ(sha256_hex(nameless), "d12e2ab02b3fda1a547306340b394aee93dcfb6d588381f462e68b6e98532739");
}

TEST(Canonical, ADeepGraphNeedsNoDeepStack) {
  GraphBuilder builder;
  const SymbolId n = builder.symbol("n");
  Input input{"x", InputKind::Tensor, Type(DType::F32), {builder.axis("n", Size::symbol(n))}, {}, true, kNoNode};
  NodeId node = builder.input(std::move(input));
  for (int i = 0; i < 100000; ++i) node = builder.make(Op::Sin, {node});
  builder.output({"y", node, builder[node].axes, {}});
  const Graph graph = std::move(builder).finish();
  EXPECT_EQ(canonical(graph).nodes.size(), graph.nodes.size());
  EXPECT_TRUE(text::parse(text::print(graph)).has_value());
}

}  // namespace
}  // namespace kw::ir
