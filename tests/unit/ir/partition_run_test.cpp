// The two passes, run one after the other, give what the joint graph gives.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ir/derivative/derivative.h"
#include "ir/interpreter/interpreter.h"
#include "ir/partition.h"
#include "partition_norms.h"

namespace kw::ir::test {
namespace {

Array random_array(const Graph& graph, const std::vector<AxisId>& dims, std::mt19937& engine) {
  Array out;
  size_t count = 1;
  for (AxisId dim : dims) {
    out.shape.push_back(dim == kUnit ? 1 : *graph.hinted(graph.axis(dim).size));
    count *= static_cast<size_t>(out.shape.back());
  }
  for (size_t i = 0; i < count; ++i) out.values.push_back(static_cast<double>(engine() % 2000) / 1000.0 - 1.0);
  return out;
}

std::map<std::string, Array> by_name(const Graph& graph, const std::vector<Array>& values) {
  std::map<std::string, Array> out;
  for (size_t i = 0; i < values.size(); ++i) out[graph.outputs[i].name] = values[i];
  return out;
}

void expect_same(const Graph& forward, std::mt19937& engine, const std::string& what) {
  Result<Graph> joint = differentiate(forward);
  ASSERT_TRUE(joint.has_value());
  Partition cut = partition(*joint, static_cast<int>(forward.outputs.size()));
  Graph first = forward_with_saved(*joint, cut), second = backward_graph(*joint, cut);

  Environment all;
  for (const Input& input : joint->inputs)
    if (input.kind != InputKind::Scalar) all.inputs[input.name] = random_array(*joint, input.dims, engine);
  for (const Symbol& symbol : joint->symbols) all.sizes[symbol.name] = *symbol.hint;
  Result<std::vector<Array>> whole = interpret(*joint, all);
  ASSERT_TRUE(whole.has_value()) << whole.error().message;

  Environment given;
  given.sizes = all.sizes;
  for (const Input& input : first.inputs)
    if (all.inputs.contains(input.name)) given.inputs[input.name] = all.inputs.at(input.name);
  Result<std::vector<Array>> saved = interpret(first, given);
  ASSERT_TRUE(saved.has_value()) << saved.error().message;
  std::map<std::string, Array> known = all.inputs;
  known.merge(by_name(first, *saved));
  Environment rest;
  rest.sizes = all.sizes;
  for (const Input& input : second.inputs)
    if (known.contains(input.name)) rest.inputs[input.name] = known.at(input.name);
  Result<std::vector<Array>> gradients = interpret(second, rest);
  ASSERT_TRUE(gradients.has_value()) << gradients.error().message;

  std::map<std::string, Array> expected = by_name(*joint, *whole), got = by_name(second, *gradients);
  ASSERT_EQ(got.size(), second.outputs.size());
  for (const auto& [name, array] : got) {
    ASSERT_EQ(array.values.size(), expected.at(name).values.size());
    for (size_t i = 0; i < array.values.size(); ++i) {
      double e = expected.at(name).values[i];
      if (std::isnan(e)) continue;
      EXPECT_EQ(array.values[i], e) << what << " " << name << "[" << i << "]";
    }
  }
}

TEST(PartitionRun, ForwardThenBackwardIsTheJointGraph) {
  std::mt19937 engine(3);
  expect_same(rms_norm(DType::BF16, 3, 5), engine, "rms_norm");
  expect_same(layer_norm(DType::BF16, 3, 5), engine, "layer_norm");
  expect_same(softmax(DType::F32, 3, 5), engine, "softmax");
  expect_same(log_softmax(DType::F32, 3, 5), engine, "log_softmax");
  for (int i = 0; i < 100; ++i) expect_same(random_forward(engine, 2, 3), engine, "random " + std::to_string(i));
}

}  // namespace
}  // namespace kw::ir::test
