// The generator of random graphs leaves no cell empty: every op, every element type, every rank and every reduced
// position stands in the 300 graphs that a test run draws, and all of them are well typed.
#include "ir/random/random_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ir/derivative/derivative.h"
#include "ir/infer.h"
#include "ir/random/random_call.h"
#include "ir/text/print.h"

namespace kw::ir {
namespace {

constexpr uint64_t kGraphs = 300;

const std::vector<Graph>& drawn() {
  static const std::vector<Graph> graphs = [] {
    std::vector<Graph> out;
    for (uint64_t seed = 0; seed < kGraphs; ++seed) out.push_back(random_graph(seed));
    return out;
  }();
  return graphs;
}

DType bound(const Graph& graph, Type type) {
  std::vector<DType> defaults;
  for (const TypeParameter& parameter : graph.type_parameters) defaults.push_back(parameter.default_dtype);
  return type.bind(defaults);
}

// Rows by columns, each cell a count; prints the empty ones.
class Matrix {
 public:
  void row(std::string name, const std::vector<std::string>& columns) {
    for (const std::string& column : columns) cells_[name + " in " + column];
  }
  void hit(const std::string& row, const std::string& column) {
    if (auto cell = cells_.find(row + " in " + column); cell != cells_.end()) ++cell->second;
  }
  std::string empty() const {
    std::string out;
    for (const auto& [cell, count] : cells_)
      if (count == 0) out += cell + "\n";
    return out;
  }

 private:
  std::map<std::string, int> cells_;
};

const std::vector<DType> kTypes{DType::Bool,   DType::U8,     DType::I8,   DType::I16, DType::I32, DType::I64,
                                DType::F8E4M3, DType::F8E5M2, DType::BF16, DType::F16, DType::F32, DType::F64};
const std::vector<std::string> kFloats{"bf16", "f16", "f32", "f64"};
const std::vector<std::string> kIntegers{"u8", "i8", "i16", "i32", "i64"};

TEST(RandomGraph, EveryGraphIsWellTypedAndItsSizesFit) {
  for (const Graph& graph : drawn()) {
    Status status = check(graph);
    EXPECT_TRUE(status.has_value()) << graph.name << ": " << status.error().message;
    status = check_sizes(graph, [&](SymbolId s) { return graph.symbols[static_cast<size_t>(s)].hint; });
    EXPECT_TRUE(status.has_value()) << graph.name << ": " << status.error().message;
  }
}

TEST(RandomGraph, EveryOpStandsInSomeGraphAndInTheGraphOfItsOwnSeed) {
  std::set<Op> seen;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Graph& graph = drawn()[seed];
    for (const Node& node : graph.nodes) seen.insert(node.op);
    Op wanted = static_cast<Op>(seed % static_cast<uint64_t>(kOpCount));
    EXPECT_TRUE(std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.op == wanted; }))
        << graph.name << " lacks " << info(wanted).name;
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kOpCount));
}

TEST(RandomGraph, EveryFloatingOpIsDrawnInEveryFloatingTypeAndEveryIntegerTypeMeetsArithmetic) {
  Matrix matrix;
  for (int i = 0; i < kOpCount; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    bool takes_reals = row.kind != OpKind::Leaf;
    for (Op other : {Op::Not, Op::And, Op::Or, Op::Xor, Op::Shl, Op::Shr, Op::Any, Op::All, Op::SegmentIndex})
      takes_reals = takes_reals && row.op != other;
    bool is_combine = row.op == Op::Reduce || row.op == Op::Scan;
    if (takes_reals) matrix.row(std::string(row.name), is_combine ? std::vector<std::string>{"f32", "f64"} : kFloats);
  }
  for (std::string_view op : {"add", "mul", "mod", "lt", "select", "sum", "cast", "min", "abs"})
    matrix.row(std::string(op), kIntegers);
  for (const Graph& graph : drawn())
    for (const Node& node : graph.nodes)
      for (NodeId arg : node.args)
        matrix.hit(std::string(info(node.op).name), std::string(info(bound(graph, graph[arg].type)).name));
  EXPECT_EQ(matrix.empty(), "");
}

TEST(RandomGraph, EveryElementTypeIsAnInputAndAValue) {
  Matrix matrix;
  for (DType type : kTypes) matrix.row(std::string(info(type).name), {"an input", "a value", "an output"});
  for (const Graph& graph : drawn()) {
    for (const Input& input : graph.inputs) matrix.hit(std::string(info(bound(graph, input.type)).name), "an input");
    for (const Node& node : graph.nodes)
      if (node.op != Op::Input) matrix.hit(std::string(info(bound(graph, node.type)).name), "a value");
    for (const Output& output : graph.outputs)
      matrix.hit(std::string(info(bound(graph, graph[output.node].type)).name), "an output");
  }
  EXPECT_EQ(matrix.empty(), "");
}

TEST(RandomGraph, EveryRankFromZeroToFiveIsAnInputAValueAndAnOutput) {
  Matrix matrix;
  for (int rank = 0; rank <= 5; ++rank) matrix.row(std::to_string(rank), {"an input", "a value", "an output"});
  for (const Graph& graph : drawn()) {
    for (const Input& input : graph.inputs) matrix.hit(std::to_string(graph[input.node].axes.size()), "an input");
    for (const Node& node : graph.nodes) {
      EXPECT_LE(node.axes.size(), 6u);
      if (node.op != Op::Input) matrix.hit(std::to_string(node.axes.size()), "a value");
    }
    for (const Output& output : graph.outputs) matrix.hit(std::to_string(graph[output.node].axes.size()), "an output");
  }
  EXPECT_EQ(matrix.empty(), "");
}

// Where a reduced axis stands: among the axes of the operand, which are in the order of the inputs'.
TEST(RandomGraph, EveryReductionIsDrawnOverTheFirstAMiddleTheLastAndSeveralAxes) {
  Matrix matrix;
  for (Op op : {Op::Sum, Op::Mean, Op::Prod, Op::ReduceMax, Op::ReduceMin, Op::Any, Op::All, Op::LogSumExp})
    matrix.row(std::string(info(op).name), {"the first axis", "a middle axis", "the last axis", "several axes"});
  for (Op op : {Op::ArgMax, Op::ArgMin, Op::Reduce})
    matrix.row(std::string(info(op).name), {"the first axis", "a middle axis", "the last axis"});
  for (const Graph& graph : drawn())
    for (const Node& node : graph.nodes) {
      if (info(node.op).kind != OpKind::Reduction) continue;
      std::vector<AxisId> operand, reduced;
      for (NodeId arg : node.args)
        for (AxisId a : graph[arg].axes) operand.push_back(a);
      std::sort(operand.begin(), operand.end());
      operand.erase(std::unique(operand.begin(), operand.end()), operand.end());
      if (const auto* list = std::get_if<AxisList>(&node.attr))
        reduced = list->axes;
      else
        reduced = {node.as<CombineAttr>().axis};
      if (operand.size() < 2) continue;
      std::string name(info(node.op).name);
      if (reduced.size() > 1)
        matrix.hit(name, "several axes");
      else if (reduced[0] == operand.front())
        matrix.hit(name, "the first axis");
      else
        matrix.hit(name, reduced[0] == operand.back() ? "the last axis" : "a middle axis");
    }
  EXPECT_EQ(matrix.empty(), "");
}

TEST(RandomGraph, GraphsHaveSeveralOutputsBroadcastsAndThreeDependentReductions) {
  int several_outputs = 0, broadcasts = 0, deep = 0;
  for (const Graph& graph : drawn()) {
    several_outputs += graph.outputs.size() > 1;
    std::vector<int> depth(graph.nodes.size());
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      for (NodeId arg : node.args) depth[i] = std::max(depth[i], depth[static_cast<size_t>(arg)]);
      depth[i] += info(node.op).kind == OpKind::Reduction;
      EXPECT_LE(depth[i], 3) << graph.name;
      if (node.args.size() == 2 && info(node.op).kind == OpKind::Pointwise) {
        const std::vector<AxisId>&a = graph[node.args[0]].axes, &b = graph[node.args[1]].axes;
        broadcasts += a.size() < node.axes.size() && b.size() < node.axes.size() && !a.empty() && !b.empty();
      }
    }
    deep += std::any_of(depth.begin(), depth.end(), [](int d) { return d == 3; });
  }
  EXPECT_GT(several_outputs, 100);
  EXPECT_GT(broadcasts, 100);  // each operand has an axis that the other lacks
  EXPECT_GT(deep, 3);
}

TEST(RandomGraph, TheSameSeedGivesTheSameGraphAndTheSameInputs) {
  for (uint64_t seed : {0, 7, 299}) {
    Graph again = random_graph(seed);
    EXPECT_EQ(text::print(again), text::print(drawn()[seed]));
    EXPECT_EQ(random_call(again, seed).inputs.at("x").values, random_call(drawn()[seed], seed).inputs.at("x").values);
  }
  EXPECT_NE(text::print(drawn()[0]), text::print(drawn()[static_cast<size_t>(kOpCount)]));
}

TEST(RandomGraph, ATierKeepsOutWhatLiesAboveIt) {
  for (uint64_t seed = 0; seed < 100; ++seed)
    for (int tier : {1, 2}) {
      RandomGraphOptions options;
      options.highest_tier = tier;
      options.differentiable = seed % 2 == 0;
      for (const Node& node : random_graph(seed, options).nodes) {
        OpKind kind = info(node.op).kind;
        bool allowed = kind == OpKind::Pointwise || kind == OpKind::View ||
                       (kind == OpKind::Leaf && node.op != Op::Iota && node.op != Op::Random) ||
                       (kind == OpKind::Reduction && tier == 2);
        EXPECT_TRUE(allowed) << seed << " in tier " << tier << " holds " << info(node.op).name;
      }
    }
}

TEST(RandomGraph, DifferentiableGraphsHaveADerivative) {
  RandomGraphOptions options;
  options.differentiable = true;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Result<Graph> joint = differentiate(random_graph(seed, options));
    EXPECT_TRUE(joint.has_value()) << seed << ": " << joint.error().message;
  }
}

TEST(RandomGraph, ValuesStayFinite) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    auto outputs = interpret(drawn()[seed], random_call(drawn()[seed], seed));
    ASSERT_TRUE(outputs.has_value()) << seed << ": " << outputs.error().message;
    for (const Array& output : *outputs)
      for (double value : output.values) EXPECT_TRUE(std::isfinite(value)) << seed;
  }
}

}  // namespace
}  // namespace kw::ir
