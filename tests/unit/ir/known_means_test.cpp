// The derivative of what centres its input: means that are zero are not taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/derivative/known_means.h"
#include "ir/infer.h"
#include "joint_case.h"

namespace kw::ir::test {
namespace {

const char* const kLayerNorm = R"(op layer_norm(x: T[rows, cols], weight: W[cols])
  types T = f32, W = f32
  sizes rows = 4, cols = 8
  _1 = wide(x) - mean(wide(x), cols)
  y  = T(_1 * rsqrt(mean(_1^2, cols) + 0.00001) * weight)
return y
)";

auto sums_in(const Graph& graph) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                       [](const Node& node) { return node.op == Op::Sum || node.op == Op::Mean; });
}

// Every sum of the graph, by how many nodes are below it.
size_t terms_below(const Graph& graph, const std::string& output) {
  std::vector<bool> below(graph.nodes.size());
  for (const Output& o : graph.outputs)
    if (o.name == output) below[static_cast<size_t>(o.node)] = true;
  for (size_t i = graph.nodes.size(); i-- > 0;)
    if (below[i])
      for (NodeId arg : graph.nodes[i].args) below[static_cast<size_t>(arg)] = true;
  return static_cast<size_t>(std::count(below.begin(), below.end(), true));
}

std::vector<Array> run(const Graph& graph, double special, const std::string& where) {
  const Environment call = numbers_for(graph, [&](const std::string& name, Array& array) {
    if (name == where) array.values[3] = special;
  });
  Result<std::vector<Array>> outputs = interpret(graph, call);
  EXPECT_TRUE(outputs.has_value()) << (outputs ? "" : outputs.error().message);
  return *std::move(outputs);
}

void expect_same(const Graph& a, const Graph& b, double special, const std::string& where = "x") {
  const std::vector<Array> left = run(a, special, where), right = run(b, special, where);
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i)
    for (size_t k = 0; k < left[i].values.size(); ++k) {
      ASSERT_EQ(std::isnan(left[i].values[k]), std::isnan(right[i].values[k])) << a.outputs[i].name << " " << k;
      if (std::isnan(left[i].values[k]) || left[i].values[k] == right[i].values[k]) continue;
      ASSERT_NEAR(left[i].values[k], right[i].values[k], 1e-5) << a.outputs[i].name << " " << k;
    }
}

TEST(KnownMeans, TheDerivativeOfLayerNormSumsNoCentredInput) {
  const Graph joint = joint_of(kLayerNorm), shorter = without_known_means(joint, 1);
  EXPECT_TRUE(check(shorter).has_value());
  EXPECT_EQ(sums_in(shorter), sums_in(joint));
  EXPECT_EQ(terms_below(shorter, "y"), terms_below(joint, "y"));
  bool found = false;  // the sum of the gradient alone: it does not wait for the other
  for (const Node& node : shorter.nodes)
    if (node.op == Op::Sum && shorter[node.args[0]].op == Op::Mul) found = true;
  EXPECT_TRUE(found);
  for (const Node& node : shorter.nodes) {
    if (node.op != Op::Sum) continue;
    EXPECT_NE(shorter[node.args[0]].op, Op::Add);
  }
  expect_same(joint, shorter, 0.25);
}

TEST(KnownMeans, AMeanOfWhatIsCentredIsLeftOut) {
  const Graph joint = joint_of(R"(op twice(x: T[rows, cols])
  types T = f32
  sizes rows = 4, cols = 8
  _1 = wide(x) - mean(wide(x), cols)
  y  = T(_1 - mean(_1, cols))
return y
)");
  const Graph shorter = without_known_means(joint, 1);
  EXPECT_EQ(sums_in(joint), sums_in(shorter) + 1) << "the forward's two stay, one of the backward's goes";
  expect_same(joint, shorter, 0.25);
}

TEST(KnownMeans, WhatIsNotFiniteSpreadsAsItDid) {
  const Graph joint = joint_of(kLayerNorm), shorter = without_known_means(joint, 1);
  for (double special : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    for (const char* where : {"x", "weight", "d_y"}) expect_same(joint, shorter, special, where);
}

TEST(KnownMeans, AFactorThatVariesAlongTheMeanKeepsIt) {
  const Graph joint = joint_of(R"(op scaled(x: T[rows, cols], weight: T[cols])
  types T = f32
  sizes rows = 4, cols = 8
  _1 = (x - mean(x, cols)) * weight
  y  = T((_1 - mean(_1, cols)) * x)
return y
)");
  const Graph shorter = without_known_means(joint, 1);
  EXPECT_EQ(sums_in(shorter), sums_in(joint));
  expect_same(joint, shorter, 0.25);
}

TEST(KnownMeans, AMeanOverOtherAxesKeepsIt) {
  const Graph joint = joint_of(R"(op crossed(x: T[rows, cols])
  types T = f32
  sizes rows = 4, cols = 8
  _1 = x - mean(x, rows)
  y  = T((_1 - mean(_1, cols)) * x)
return y
)");
  expect_same(joint, without_known_means(joint, 1), 0.25);
}

}  // namespace
}  // namespace kw::ir::test
