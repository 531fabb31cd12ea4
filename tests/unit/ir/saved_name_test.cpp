// What a kept value is called where the source gave it no name.
#include <gtest/gtest.h>

#include "ir/derivative/derivative.h"
#include "ir/partition.h"
#include "ir/saved_name.h"
#include "ir/simplify/simplify.h"
#include "ir/text/parse.h"

namespace kw::ir {
namespace {

Graph parsed(const std::string& lines, const std::string& inputs = "x: f32[rows, cols]") {
  auto graph = text::parse("op f(" + inputs + ")\n" + lines + "\nreturn y\n", "f.math");
  EXPECT_TRUE(graph.has_value()) << render(graph.error());
  return *graph;
}

// The name of the one output, which is taken as if nobody had named it.
std::string name_of(const std::string& expression, const std::string& inputs = "x: f32[rows, cols]") {
  Graph graph = parsed("y = " + expression, inputs);
  graph.names.clear();
  return descriptive_name(graph, graph.outputs[0].node);
}

TEST(SavedName, AStatisticIsCalledAsInTheField) {
  EXPECT_EQ(name_of("mean(x, cols)"), "mean");
  EXPECT_EQ(name_of("sum(x, cols) / size(cols)"), "mean");
  EXPECT_EQ(name_of("mean(x^2, cols)"), "mean_square");
  EXPECT_EQ(name_of("mean(x * x, cols)"), "mean_square");
  EXPECT_EQ(name_of("mean((x - mean(x, cols))^2, cols)"), "var");
  EXPECT_EQ(name_of("rsqrt(mean(x^2, cols) + 1e-6)"), "rstd");
  EXPECT_EQ(name_of("rsqrt(mean((x - mean(x, cols))^2, cols) + 1e-6)"), "rstd");
  EXPECT_EQ(name_of("1 / sqrt(mean(x^2, cols) + 1e-6)"), "rstd");
  EXPECT_EQ(name_of("sqrt(mean((x - mean(x, cols))^2, cols) + 1e-6)"), "std");
  EXPECT_EQ(name_of("sqrt(mean(x^2, cols))"), "rms");
  EXPECT_EQ(name_of("sqrt(sum(x^2, cols))"), "norm");
  EXPECT_EQ(name_of("max(sqrt(sum(x^2, cols)), 1e-12)"), "norm");
  EXPECT_EQ(name_of("reduce_max(x, cols)"), "maximum");
  EXPECT_EQ(name_of("sum(exp(x - reduce_max(x, cols)), cols)"), "sum_exp");
  EXPECT_EQ(name_of("log(sum(exp(x), cols)) + reduce_max(x, cols)"), "lse");
  EXPECT_EQ(name_of("sum(i64(x < 0), cols)"), "count");
}

TEST(SavedName, APlainValueIsCalledAfterItsOp) {
  EXPECT_EQ(name_of("x - mean(x, cols)"), "centred");
  EXPECT_EQ(name_of("x - z", "x: f32[rows, cols], z: f32[rows, cols]"), "difference");
  EXPECT_EQ(name_of("x * z", "x: f32[rows, cols], z: f32[rows, cols]"), "product");
  EXPECT_EQ(name_of("x < 0"), "condition");
  EXPECT_EQ(name_of("select(x < 0, 0, reduce_max(x, cols))"), "maximum");
  EXPECT_EQ(name_of("sigmoid(x)"), "sigmoid_value");
  EXPECT_EQ(name_of("rsqrt(x)"), "inverse_root");
  EXPECT_EQ(name_of("bf16(x)"), "x_rounded");
  EXPECT_EQ(name_of("bf16(mean(x, cols))"), "mean");
}

TEST(SavedName, WhatTheSourceRoundedUnderANameKeepsIt) {
  const Graph graph = parsed("m = bf16(mean(x, cols))\ny = m * 2");
  for (const auto& [node, name] : graph.names) {
    if (name == "m") {
      EXPECT_EQ(descriptive_name(graph, graph[node].args[0]), "m_wide");
    }
  }
}

std::vector<std::string> kept(const Graph& forward) {
  const Graph joint = simplify(*differentiate(simplify(forward)));
  std::vector<std::string> names;
  for (const SavedValue& saved : partition(joint, 1).saved)
    if (saved.as == SavedAs::Intermediate) names.push_back(saved.name);
  return names;
}

TEST(SavedName, APartitionNamesWhatItKeeps) {
  EXPECT_EQ(kept(parsed("y = x * rsqrt(mean(x^2, cols) + 1e-6)")), std::vector<std::string>{"rstd"});
}

TEST(SavedName, ANameOfTheSourceGoesBeforeAMadeUpOne) {
  EXPECT_EQ(kept(parsed("scale = rsqrt(mean(x^2, cols) + 1e-6)\ny = x * scale")), std::vector<std::string>{"scale"});
}

TEST(SavedName, AMadeUpNameNeverMeetsAnotherOne) {
  const std::string inputs = "x: f32[rows, cols], rstd: f32[cols]";
  EXPECT_EQ(kept(parsed("y = x * rsqrt(mean(x^2, cols) + 1e-6) * rstd", inputs)), std::vector<std::string>{"rstd_2"});
}

}  // namespace
}  // namespace kw::ir
