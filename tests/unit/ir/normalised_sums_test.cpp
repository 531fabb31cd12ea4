// The derivative of a norm sums gradients times what is normalised.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "ir/derivative/normalised_sums.h"
#include "ir/infer.h"
#include "ir/text/print.h"
#include "joint_case.h"

namespace kw::ir::test {
namespace {

std::string rms_norm(const std::string& type) {
  return R"(op rms_norm(x: T[rows, cols], weight: W[cols])
  types T = f32, W = f32
  sizes rows = 3, cols = 4
  h = )" +
         type +
         R"((x)
  y = T(h * rsqrt(mean(h^2, cols) + 0.00001) * weight)
return y
)";
}

std::map<std::string, Array> gradients(const Graph& joint, double scale) {
  const Environment call = numbers_for(joint, [&](const std::string& name, Array& array) {
    for (double& value : array.values) value *= name == "x" ? scale : 1;
  });
  Result<std::vector<Array>> outputs = interpret(bind_types(joint), call, {.semantics = Semantics::Rounded});
  EXPECT_TRUE(outputs.has_value()) << (outputs ? "" : outputs.error().message);
  std::map<std::string, Array> out;
  for (size_t i = 0; i < outputs->size(); ++i) out[joint.outputs[i].name] = (*outputs)[i];
  return out;
}

// Sums over the rows' elements of a product with the given value.
bool is_summed(const Graph& graph, const std::function<bool(const Node&)>& factor) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.op == Op::Sum && graph.axis(node.as<AxisList>().axes[0]).name == "cols" &&
           graph[node.args[0]].op == Op::Mul &&
           std::any_of(graph[node.args[0]].args.begin(), graph[node.args[0]].args.end(),
                       [&](NodeId v) { return factor(graph[v]); });
  });
}

TEST(NormalisedSums, TheDerivativeOfANormSumsWhatIsNormalised) {
  const Graph joint = joint_of(rms_norm("f32")), now = with_normalised_sums(joint);
  ASSERT_TRUE(check(now).has_value());
  const auto is_normalised = [](const Graph& graph) {
    return [&graph](const Node& node) {
      return node.op == Op::Mul && (graph[node.args[0]].op == Op::Rsqrt || graph[node.args[1]].op == Op::Rsqrt);
    };
  };
  EXPECT_FALSE(is_summed(joint, is_normalised(joint)));
  EXPECT_TRUE(is_summed(now, is_normalised(now))) << text::print(now);
  const auto before = gradients(joint, 1), after = gradients(now, 1);
  for (const auto& [name, array] : before)
    for (size_t i = 0; i < array.values.size(); ++i)
      EXPECT_NEAR(array.values[i], after.at(name).values[i], 1e-5) << name << " " << i;
}

TEST(NormalisedSums, ANormsGradientIsRightWhereTheCubeOfItsFactorIsNone) {
  const Graph joint = joint_of(rms_norm("f32")), now = with_normalised_sums(joint);
  // Where x is large the norm knows no scale. Near 2^50, rsqrt's cube is below the smallest float.
  const double ordinary = std::ldexp(1, 10), large = std::ldexp(1, 50);
  const Array expected = gradients(now, ordinary).at("grad_x"), got = gradients(now, large).at("grad_x");
  const Array before = gradients(joint, large).at("grad_x");
  bool was_wrong = false;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    EXPECT_NEAR(expected.values[i] * ordinary, got.values[i] * large, 1e-5) << i;
    was_wrong |= !(std::abs(before.values[i] * large - expected.values[i] * ordinary) < 1e-5);
  }
  EXPECT_TRUE(was_wrong) << "the derivative as it is written loses what the mean square gives";
}

TEST(NormalisedSums, WhatIsRoundedOnTheWayStaysAsPyTorchHasIt) {
  const Graph joint = joint_of(rms_norm("T"));
  EXPECT_EQ(text::print(joint), text::print(with_normalised_sums(joint)));
}

TEST(NormalisedSums, AFactorThatVariesAlongTheSumStays) {
  const Graph joint = joint_of(R"(op scaled(x: T[rows, cols])
  types T = f32
  sizes rows = 3, cols = 4
  h = f32(x)
  y = T(sum(h * rsqrt(h^2 + 0.5), cols))
return y
)");
  EXPECT_EQ(text::print(joint), text::print(with_normalised_sums(joint)));
}

}  // namespace
}  // namespace kw::ir::test
