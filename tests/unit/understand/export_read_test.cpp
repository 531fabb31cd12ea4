// Exported graphs: what is read, and what is wrong with a file, told with its place.
#include <gtest/gtest.h>

#include "ir/text/print.h"
#include "understand/export/read_exported.h"

namespace kw::understand {
namespace {

// A small graph: y = silu(x) * w, with the parts that a test replaces.
std::string graph(std::string_view nodes, std::string_view outputs = R"([{"value": {"node": "mul"}}])",
                  std::string_view inputs = R"([
      {"id": "x", "name": "x", "kind": "tensor", "dtype": "bfloat16", "shape": ["s0", 8]},
      {"id": "p_w", "name": "w", "kind": "parameter", "dtype": "bfloat16", "shape": [8], "requires_grad": true}])") {
  return R"({"format": "kernelwright.exported_graph", "version": 1, "name": "gate", "torch": "2.13.0", "training": true,
    "symbols": {"s0": 4}, "inputs": )" +
         std::string(inputs) + R"(, "nodes": )" + std::string(nodes) + R"(, "outputs": )" + std::string(outputs) + "}";
}

constexpr std::string_view kNodes = R"([
  {"id": "silu", "target": "aten.silu.default", "args": [{"node": "x"}], "kwargs": {},
   "at": {"file": "gate.py", "line": 7}},
  {"id": "mul", "target": "aten.mul.Tensor", "args": [{"node": "silu"}, {"node": "p_w"}], "kwargs": {}}])";

std::string error_of(const std::string& text) {
  auto reading = read_exported_graph(text);
  EXPECT_FALSE(reading.has_value());
  return reading ? "" : reading.error().message;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(ExportedGraph, ConcreteSizesBecomeSymbolsAndMeetWhereTheyMust) {
  auto reading = read_exported_graph(graph(kNodes));
  ASSERT_TRUE(reading.has_value()) << render(reading.error());
  const ir::Graph& g = reading->graph;
  EXPECT_EQ(g.name, "gate");
  EXPECT_TRUE(reading->is_module);
  ASSERT_EQ(g.inputs.size(), 2u);
  EXPECT_EQ(g.size_text(g.axis(g.inputs[0].dims[0]).size), "s0");
  EXPECT_EQ(g.size_text(g.axis(g.inputs[0].dims[1]).size), "x_1");
  EXPECT_EQ(g.hinted(g.axis(g.inputs[1].dims[0]).size), 8);
  ASSERT_EQ(g.constraints.size(), 1u);  // x_1 == w_0, because the product pairs them
}

TEST(ExportedGraph, NodesKnowTheLineOfTheUsersSource) {
  auto reading = read_exported_graph(graph(kNodes));
  ASSERT_TRUE(reading.has_value());
  const ir::Graph& g = reading->graph;
  ASSERT_EQ(g.source_files, std::vector<std::string>{"gate.py"});
  EXPECT_EQ(g.origins[static_cast<size_t>(g.outputs[0].node)].line, 7);
}

TEST(ExportedGraph, ABufferThatChangesIsAnOutput) {
  std::string text = graph(R"([
      {"id": "add_", "target": "aten.add_.Tensor", "args": [{"node": "b_n"}, 1], "kwargs": {}},
      {"id": "mul", "target": "aten.mul.Tensor", "args": [{"node": "x"}, {"node": "b_n"}], "kwargs": {}}])",
                           R"([{"value": {"node": "mul"}}])", R"([
      {"id": "x", "name": "x", "kind": "tensor", "dtype": "float32", "shape": ["s0"]},
      {"id": "b_n", "name": "steps", "kind": "buffer", "dtype": "int64", "shape": []}])");
  auto reading = read_exported_graph(text);
  ASSERT_TRUE(reading.has_value()) << render(reading.error());
  const ir::Graph& g = reading->graph;
  ASSERT_EQ(g.outputs.size(), 2u);
  EXPECT_EQ(g.outputs[1].updates, "steps");
  // The product sees the buffer's new value.
  EXPECT_NE(ir::text::print(g).find("steps + 1"), std::string::npos) << ir::text::print(g);
}

TEST(ExportedGraph, AConstantTensorIsALiteral) {
  std::string text =
      graph(R"([{"id": "mul", "target": "aten.mul.Tensor", "args": [{"node": "x"}, {"node": "c"}], "kwargs": {}}])",
            R"([{"value": {"node": "mul"}}])", R"([
      {"id": "x", "name": "x", "kind": "tensor", "dtype": "float32", "shape": ["s0", 2]},
      {"id": "c", "name": "c", "kind": "constant", "dtype": "float32", "shape": [2], "values": [0.5, {"float": "inf"}]}])");
  auto reading = read_exported_graph(text);
  ASSERT_TRUE(reading.has_value()) << render(reading.error());
  EXPECT_EQ(reading->graph.inputs.size(), 1u);
}

TEST(ExportedGraph, ADocumentThatIsNoGraphIsRefused) {
  EXPECT_EQ(error_of("[]"), "at the top: an object is expected");
  EXPECT_EQ(error_of("{}"), "at the top: the key 'format' is missing");
  EXPECT_EQ(error_of(R"({"format": "onnx"})"), "at /format: this is not an exported graph but 'onnx'");
  EXPECT_EQ(error_of(replaced(graph(kNodes), R"("version": 1)", R"("version": 2)")),
            "at /version: version 2 is newer than this program, which reads version 1");
  EXPECT_EQ(error_of(replaced(graph(kNodes), R"("version": 1)", R"("version": 1, "extra": 0)")),
            "at the top: unknown key 'extra'");
}

TEST(ExportedGraph, BadSyntaxHasItsLineAndColumn) {
  auto reading = read_exported_graph("{\n  \"format\": kernelwright\n}", "g.json");
  ASSERT_FALSE(reading.has_value());
  ASSERT_TRUE(reading.error().place.has_value());
  EXPECT_EQ(reading.error().place->file, "g.json");
  EXPECT_EQ(reading.error().place->line, 2);
}

TEST(ExportedGraph, WhatIsWrongIsToldWithItsPointer) {
  EXPECT_EQ(error_of(replaced(graph(kNodes), R"({"node": "silu"})", R"({"node": "sliu"})")),
            "at /nodes/1/args/0/node: 'sliu' is not defined before it is used");
  EXPECT_EQ(error_of(replaced(graph(kNodes), R"("bfloat16", "shape": [8])", R"("complex64", "shape": [8])")),
            "at /inputs/1/dtype: the element type 'complex64' is not supported");
  EXPECT_EQ(error_of(replaced(graph(kNodes), R"(["s0", 8])", R"(["s9", 8])")),
            "at /inputs/0/shape/0: the size 's9' is not among the symbols");
  EXPECT_EQ(error_of(replaced(graph(kNodes), R"(["s0", 8])", R"(["s0", -8])")),
            "at /inputs/0/shape/1: a number from 0 to 1099511627776 is expected");
  EXPECT_EQ(error_of(replaced(graph(kNodes), R"("id": "mul")", R"("id": "silu")")),
            "at /nodes/1/id: 'silu' is defined twice");
  EXPECT_EQ(error_of(replaced(graph(kNodes), R"("kind": "parameter")", R"("kind": "weight")")),
            "at /inputs/1/kind: the kind is tensor, parameter, buffer or constant");
  EXPECT_EQ(error_of(graph(kNodes, "[]")), "at /outputs: the graph has no output");
  EXPECT_EQ(error_of(graph(kNodes, R"([{"value": 3}])")), "at /outputs/0/value: an output is a tensor, not int 3");
}

TEST(ExportedGraph, AnOperationThatIsNotKnownNamesTheUsersLine) {
  auto reading = read_exported_graph(replaced(graph(kNodes), "aten.silu.default", "aten.sliu.default"));
  ASSERT_FALSE(reading.has_value());
  EXPECT_EQ(reading.error().message, "unknown call aten.sliu.default (at /nodes/0)");
  ASSERT_TRUE(reading.error().place.has_value());
  EXPECT_EQ(reading.error().place->file, "gate.py");
  EXPECT_EQ(reading.error().place->line, 7);
}

TEST(ExportedGraph, AnInPlaceChangeOfAValueIsRefused) {
  EXPECT_EQ(error_of(replaced(graph(kNodes), "aten.mul.Tensor", "aten.mul_.Tensor")),
            "at /nodes/1: aten.mul_.Tensor changes a value in place; only a buffer may change");
}

TEST(ExportedGraph, ShapesThatDoNotFitAreRefused) {
  std::string text = replaced(graph(kNodes), R"("shape": [8])", R"("shape": [7])");
  EXPECT_NE(error_of(text).find("do not broadcast"), std::string::npos);
}

}  // namespace
}  // namespace kw::understand
