#include "ir/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "ir/derivative/derivative.h"
#include "ir/infer.h"
#include "ir/max_flow.h"
#include "partition_norms.h"

namespace kw::ir::test {
namespace {

struct Passes {
  Graph joint;
  Partition cut;
};

Passes cut_of(const Graph& forward, const PartitionOptions& options = {}) {
  Result<Graph> joint = differentiate(forward);
  EXPECT_TRUE(joint.has_value());
  Partition cut = partition(*joint, static_cast<int>(forward.outputs.size()), options);
  return {*std::move(joint), std::move(cut)};
}

std::set<std::string> saved_names(const Graph& forward, const PartitionOptions& options = {}) {
  std::set<std::string> names;
  for (const SavedValue& value : cut_of(forward, options).cut.saved) names.insert(value.name);
  return names;
}

using Names = std::set<std::string>;

TEST(MaxFlow, FindsTheCutNearestTheSink) {
  MaxFlow net(4);
  net.edge(0, 1, 5);
  net.edge(1, 2, 3);
  net.edge(2, 3, 3);
  EXPECT_EQ(net.run(0, 3), 3);
  EXPECT_FALSE(net.reaches_sink(2));
  EXPECT_TRUE(net.reaches_sink(3));
}

TEST(MaxFlow, UsesReverseEdgesToUndoAGreedyPath) {
  MaxFlow net(4);
  net.edge(0, 1, 1);
  net.edge(0, 2, 1);
  net.edge(1, 2, 1);
  net.edge(1, 3, 1);
  net.edge(2, 3, 1);
  EXPECT_EQ(net.run(0, 3), 2);
}

TEST(Partition, RmsNormSavesItsInputsAndRstd) {
  Passes passes = cut_of(rms_norm());
  ASSERT_EQ(passes.cut.saved.size(), 3u);
  std::map<std::string, SavedValue> saved;
  for (const SavedValue& value : passes.cut.saved) saved[value.name] = value;
  EXPECT_EQ(saved.at("x").as, SavedAs::Input);
  EXPECT_EQ(saved.at("x").bytes, 4096 * 1024 * 2);
  EXPECT_EQ(saved.at("w").as, SavedAs::Input);
  EXPECT_EQ(saved.at("rstd").as, SavedAs::Intermediate);
  EXPECT_EQ(saved.at("rstd").bytes, 4096 * 4);
  EXPECT_EQ(passes.cut.moved_bytes, 4096 * 1024 * 2 + 1024 * 2 + 2 * 4096 * 4);
}

TEST(Partition, LayerNormSavesMeanAndRstd) { EXPECT_EQ(saved_names(layer_norm()), (Names{"x", "w", "mean", "rstd"})); }

TEST(Partition, SoftmaxSavesItsOutputAlone) {
  Passes passes = cut_of(softmax());
  ASSERT_EQ(passes.cut.saved.size(), 1u);
  EXPECT_EQ(passes.cut.saved[0].name, "y");
  EXPECT_EQ(passes.cut.saved[0].as, SavedAs::Output);
  EXPECT_TRUE(passes.cut.recomputed.empty());
}

TEST(Partition, LogSoftmaxSavesItsOutputAlone) { EXPECT_EQ(saved_names(log_softmax()), (Names{"y"})); }

TEST(Partition, PointwiseOpsSaveTheirInputs) {
  {
    RowsByCols g;
    NodeId x = g.input("x", {g.rows, g.cols});
    NodeId relu = g.b.make(Op::Select, {g.b.make(Op::Lt, {g.b.constant(0.0), x}), x, g.b.constant(0.0)});
    EXPECT_EQ(saved_names(std::move(g).done(g.b.make(Op::Mul, {relu, relu}))), (Names{"x"})) << "relu squared";
  }
  {
    RowsByCols g;
    NodeId x = g.input("x", {g.rows, g.cols}), x32 = g.wide(x);
    NodeId silu = g.b.make(Op::Mul, {x32, g.b.make(Op::Sigmoid, {x32})});
    EXPECT_EQ(saved_names(std::move(g).done(g.b.cast(silu, g.T))), (Names{"x"})) << "silu";
  }
  {
    RowsByCols g;
    NodeId a = g.input("a", {g.rows, g.cols}), b = g.input("b", {g.rows, g.cols});
    NodeId gate = g.b.make(Op::Mul, {a, g.b.make(Op::Sigmoid, {a})});
    EXPECT_EQ(saved_names(std::move(g).done(g.b.make(Op::Mul, {gate, b}))), (Names{"a", "b"})) << "swiglu";
  }
}

TEST(Partition, OfEqualCutsTheOneThatWritesNothingIsTaken) {
  RowsByCols g;
  NodeId a = g.input("a", {g.rows, g.cols}), b = g.input("b", {g.rows, g.cols});
  NodeId difference = g.named("difference", g.b.make(Op::Sub, {a, b}));
  NodeId y = g.b.reduce(Op::Mean, g.b.make(Op::Mul, {difference, difference}), {g.cols});
  EXPECT_EQ(saved_names(std::move(g).done(y)), (Names{"a", "b"})) << "two tensors read, or one written and read";
}

TEST(Partition, AnActivationWhoseSlopeIsAFunctionOfItsValueSavesItsOutput) {
  RowsByCols g;
  EXPECT_EQ(saved_names(std::move(g).done(g.b.make(Op::Tanh, {g.input("x", {g.rows, g.cols})}))), (Names{"y"}));
}

TEST(Partition, ALinearOpSavesNothing) {
  RowsByCols g;
  NodeId x = g.input("x", {g.rows, g.cols});
  NodeId y = g.b.make(Op::Mul, {g.b.reduce(Op::Mean, x, {g.cols}), g.b.constant(3.0)});
  Passes passes = cut_of(std::move(g).done(y));
  EXPECT_TRUE(passes.cut.saved.empty());
  EXPECT_EQ(passes.cut.moved_bytes, 0);
}

TEST(Partition, ScalarsAreFree) {
  RowsByCols g;
  NodeId x = g.input("x", {g.rows, g.cols}), cap = g.scalar("cap", 30.0);
  NodeId y = g.b.make(Op::Mul, {g.b.make(Op::Tanh, {g.b.make(Op::Div, {x, cap})}), cap});
  Graph forward = std::move(g).done(y);
  Passes passes = cut_of(forward);
  for (const SavedValue& value : passes.cut.saved) EXPECT_NE(value.name, "cap");
  EXPECT_TRUE(backward_graph(passes.joint, passes.cut).find_input("cap"));
}

TEST(Partition, SizesDecideAndComeFromTheOptions) {
  // exp(a)·exp(b) over an outer product: two vectors are cheaper than the matrix, unless one axis is short.
  RowsByCols g;
  NodeId a = g.input("a", {g.rows}), b = g.input("b", {g.cols});
  NodeId y = g.b.make(Op::Exp, {g.b.make(Op::Add, {a, b})});
  Graph forward = std::move(g).done(y);
  EXPECT_EQ(saved_names(forward), (Names{"a", "b"}));
  PartitionOptions one_column;
  one_column.size_of = [](SymbolId symbol) { return std::optional<int64_t>(symbol == 0 ? 64 : 1); };
  EXPECT_EQ(saved_names(forward, one_column), (Names{"y"}));
}

TEST(Partition, ASymbolWithoutAHintCountsAsTheDefaultSize) {
  GraphBuilder b;
  AxisId n = b.axis("n", Size::symbol(b.symbol("n")));
  Input input;
  input.name = "x";
  input.type = Type(DType::F16);
  input.dims = {n};
  NodeId x = b.input(input);
  b.output({"y", b.make(Op::Sin, {x}), {n}, std::nullopt});
  Graph graph = std::move(b).finish();
  EXPECT_EQ(bytes_of(graph, graph.inputs[0].node), 2048);
  PartitionOptions options;
  options.default_size = 10;
  EXPECT_EQ(bytes_of(graph, graph.inputs[0].node, options), 20);
}

TEST(Partition, RandomNumbersAreSavedUnlessTheGeneratorMayRunAgain) {
  RowsByCols g;
  NodeId x = g.input("x", {g.rows, g.cols});
  NodeId uniform =
      g.named("uniform", g.b.make(Op::Random, {g.b.integer(7), g.b.integer(0)}, AxisList{{g.rows, g.cols}}));
  NodeId kept = g.named("kept", g.b.make(Op::Lt, {uniform, g.b.constant(0.9)}));
  Graph forward = std::move(g).done(g.b.make(Op::Select, {kept, x, g.b.constant(0.0)}));
  EXPECT_EQ(saved_names(forward), (Names{"kept"})) << "one byte, not the four of the number it comes from";
  PartitionOptions again;
  again.recompute_random = true;
  EXPECT_TRUE(saved_names(forward, again).empty());
}

TEST(Partition, TheTwoPassesTogetherAreTheJointGraph) {
  for (const Graph& forward : {rms_norm(), layer_norm(), softmax(), log_softmax()}) {
    Passes passes = cut_of(forward);
    Graph first = forward_with_saved(passes.joint, passes.cut), second = backward_graph(passes.joint, passes.cut);
    ASSERT_TRUE(check(first).has_value());
    ASSERT_TRUE(check(second).has_value());
    EXPECT_EQ(first.inputs.size(), forward.inputs.size()) << "no cotangent enters the forward";
    EXPECT_EQ(first.outputs[0].name, "y");
    Names given, taken, gradients;
    for (const Input& input : first.inputs) given.insert(input.name);
    for (const Output& output : first.outputs) given.insert(output.name);
    given.insert("d_y");
    for (const Input& input : second.inputs) taken.insert(input.name);
    EXPECT_TRUE(std::includes(given.begin(), given.end(), taken.begin(), taken.end()));
    for (const Output& output : second.outputs) gradients.insert(output.name);
    for (const Input& input : forward.inputs)
      EXPECT_EQ(gradients.contains("grad_" + input.name), input.kind != InputKind::Scalar);
    for (const Node& node : second.nodes)
      if (node.op == Op::Mean || node.op == Op::LogSumExp || node.op == Op::ReduceMax)
        ADD_FAILURE() << info(node.op).name << " runs again in the backward";
  }
}

TEST(Partition, NoCotangentEntersTheForwardEvenIfNothingNeedsIt) {
  RowsByCols g;
  NodeId x = g.input("x", {g.rows, g.cols}), idle = g.input("idle", {g.rows});
  g.b.output({"flat", g.b.make(Op::Floor, {x}), {g.rows, g.cols}, std::nullopt});
  (void)idle;
  Graph forward = std::move(g).done(g.b.make(Op::Sin, {x}));
  Passes passes = cut_of(forward);
  ASSERT_TRUE(passes.joint.find_input("d_flat"));
  Graph first = forward_with_saved(passes.joint, passes.cut), second = backward_graph(passes.joint, passes.cut);
  Names inputs;
  for (const Input& input : first.inputs) inputs.insert(input.name);
  EXPECT_EQ(inputs, (Names{"x", "idle"}));
  EXPECT_FALSE(second.find_input("d_flat"));
}

// ---- against brute force --------------------------------------------------------------------------------------------

// The definition, straight from the header's first lines: the cheapest set of forward values from which everything that
// the backward takes can be had.
struct BruteForce {
  int64_t bytes = -1;
  size_t written = 0, tensors = 0;
  auto operator<=>(const BruteForce&) const = default;
};

std::optional<BruteForce> cheapest_by_enumeration(const Graph& joint, size_t forward_outputs) {
  size_t n = joint.nodes.size();
  std::vector<bool> backward(n), free(n), output(n), wanted(n);
  for (size_t i = 0; i < forward_outputs; ++i) output[static_cast<size_t>(joint.outputs[i].node)] = true;
  for (size_t i = 0; i < n; ++i) {
    const Node& node = joint.nodes[i];
    if (node.op == Op::Input)
      backward[i] = joint.inputs[static_cast<size_t>(node.as<InputRef>().index)].name.starts_with("d_");
    for (NodeId arg : node.args) backward[i] = backward[i] || backward[static_cast<size_t>(arg)];
    free[i] = node.type.weak() || node.op == Op::Iota;
    for (NodeId arg : node.args)
      if (backward[i] && !backward[static_cast<size_t>(arg)]) wanted[static_cast<size_t>(arg)] = true;
  }
  for (size_t i = forward_outputs; i < joint.outputs.size(); ++i) {
    size_t node = static_cast<size_t>(joint.outputs[i].node);
    if (!backward[node]) wanted[node] = true;
  }
  std::vector<size_t> candidates;
  for (size_t i = 0; i < n; ++i)
    if (!backward[i] && !free[i]) candidates.push_back(i);
  if (candidates.size() > 14) return std::nullopt;

  BruteForce best;
  for (uint32_t choice = 0; choice < (1u << candidates.size()); ++choice) {
    std::vector<bool> have = free;
    BruteForce cost{0, 0, 0};
    for (size_t c = 0; c < candidates.size(); ++c) {
      if (!(choice >> c & 1)) continue;
      size_t i = candidates[c];
      have[i] = true;
      bool in_memory = joint.nodes[i].op == Op::Input || output[i];
      cost.bytes += bytes_of(joint, static_cast<NodeId>(i)) * (in_memory ? 1 : 2);
      cost.written += !in_memory;
      ++cost.tensors;
    }
    bool enough = true;
    for (size_t i = 0; i < n && enough; ++i) {
      const Node& node = joint.nodes[i];
      OpKind kind = info(node.op).kind;
      bool again = kind == OpKind::Pointwise || kind == OpKind::View || node.op == Op::Const || node.op == Op::SizeOf;
      if (!backward[i] && again)
        have[i] = have[i] || std::all_of(node.args.begin(), node.args.end(),
                                         [&](NodeId arg) { return have[static_cast<size_t>(arg)]; });
      if (wanted[i] && !have[i]) enough = false;
    }
    if (!enough) continue;
    if (best.bytes < 0 || cost < best) best = cost;
  }
  return best;
}

TEST(Partition, TheCutIsTheCheapestOfAllSavedSetsOnSmallGraphs) {
  std::mt19937 engine(20240521);
  int compared = 0, nontrivial = 0;
  for (int round = 0; round < 400; ++round) {
    Graph forward = random_forward(engine);
    Result<Graph> joint = differentiate(forward);
    ASSERT_TRUE(joint.has_value()) << joint.error().message;
    std::optional<BruteForce> best = cheapest_by_enumeration(*joint, forward.outputs.size());
    if (!best) continue;
    Partition cut = partition(*joint, static_cast<int>(forward.outputs.size()));
    ++compared;
    nontrivial += cut.saved.size() > 1;
    EXPECT_EQ(cut.moved_bytes, best->bytes) << "round " << round;
    EXPECT_EQ(std::count_if(cut.saved.begin(), cut.saved.end(),
                            [](const SavedValue& saved) { return saved.as == SavedAs::Intermediate; }),
              best->written)
        << "round " << round;
    EXPECT_EQ(cut.saved.size(), best->tensors) << "round " << round;
    Graph second = backward_graph(*joint, cut);
    ASSERT_TRUE(check(second).has_value());
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(nontrivial, 100);
}

}  // namespace
}  // namespace kw::ir::test
