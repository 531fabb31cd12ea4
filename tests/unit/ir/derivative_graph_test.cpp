// What the joint graph looks like: its interface, its element types, its formulas.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/derivative/derivative.h"
#include "ir/infer.h"
#include "partition_norms.h"

namespace kw::ir::test {
namespace {

Graph joint_of(const Graph& forward, const DerivativeOptions& options = {}) {
  Result<Graph> joint = differentiate(forward, options);
  EXPECT_TRUE(joint.has_value()) << (joint ? "" : joint.error().message);
  EXPECT_TRUE(check(*joint).has_value());
  return *std::move(joint);
}

const Output& output_of(const Graph& graph, const std::string& name) {
  for (const Output& output : graph.outputs)
    if (output.name == name) return output;
  ADD_FAILURE() << "no output is called " << name;
  return graph.outputs.front();
}

std::string text_of(const Graph& g, NodeId id) {
  const Node& node = g[id];
  if (node.op == Op::Input) return g.inputs[static_cast<size_t>(node.as<InputRef>().index)].name;
  if (node.op == Op::Const) return std::to_string(node.as<Literal>().number()).substr(0, 4);
  std::string out = std::string(info(node.op).name) + "(";
  for (size_t i = 0; i < node.args.size(); ++i) out += (i ? "," : "") + text_of(g, node.args[i]);
  return out + ")";
}

std::string error_of(const Graph& forward, const DerivativeOptions& options) {
  Result<Graph> joint = differentiate(forward, options);
  return joint ? "" : joint.error().message;
}

NodeId typed_input(GraphBuilder& b, const std::string& name, Type type, std::vector<AxisId> dims = {}) {
  Input input;
  input.name = name;
  input.type = type;
  input.dims = std::move(dims);
  return b.input(std::move(input));
}

TEST(DerivativeGraph, CotangentsFollowTheInputsAndGradientsFollowTheOutputs) {
  Graph forward = rms_norm();
  Graph joint = joint_of(forward);
  ASSERT_EQ(joint.inputs.size(), 4u);
  EXPECT_EQ(joint.inputs[3].name, "d_y");
  EXPECT_EQ(joint.inputs[3].dims, forward.outputs[0].dims);
  EXPECT_EQ(joint.inputs[3].type, forward[forward.outputs[0].node].type);
  ASSERT_EQ(joint.outputs.size(), 3u) << "the scalar eps has no gradient";
  EXPECT_EQ(joint.outputs[0].name, "y");
  EXPECT_EQ(joint.outputs[1].name, "grad_x");
  EXPECT_EQ(joint.outputs[2].name, "grad_w");
  EXPECT_EQ(joint.outputs[1].dims, forward.inputs[0].dims);
  EXPECT_EQ(joint[joint.outputs[1].node].type, forward.inputs[0].type);
}

TEST(DerivativeGraph, AMathInsideF32IsDifferentiatedInsideF32) {
  Graph joint = joint_of(rms_norm());
  Type wide = promote(Type::parameter(0), Type(DType::F32));
  for (const auto& [node, name] : joint.names) {
    if (name == "d_rstd" || name == "d_ms") {
      EXPECT_EQ(joint[node].type, wide) << name;
    }
  }
  const Node& grad_x = joint[output_of(joint, "grad_x").node];
  EXPECT_EQ(grad_x.op, Op::Cast) << "the derivative of the cast that widens x casts back";
}

TEST(DerivativeGraph, APromotedOperandsContributionIsSummedThenCast) {
  GraphBuilder b;
  AxisId rows = b.axis("rows", Size::symbol(b.symbol("rows"))), cols = b.axis("cols", Size::symbol(b.symbol("cols")));
  NodeId x = typed_input(b, "x", Type(DType::F32), {rows, cols}), w = typed_input(b, "w", Type(DType::BF16), {cols});
  b.output({"y", b.make(Op::Mul, {x, w}), {rows, cols}, std::nullopt});
  Graph joint = joint_of(std::move(b).finish());
  EXPECT_EQ(text_of(joint, output_of(joint, "grad_w").node), "cast(sum(mul(d_y,x)))");
  EXPECT_EQ(joint[output_of(joint, "grad_w").node].type, Type(DType::BF16));
}

TEST(DerivativeGraph, AProductInBf16YieldsBf16Products) {
  GraphBuilder b;
  AxisId n = b.axis("n", Size::symbol(b.symbol("n")));
  NodeId x = typed_input(b, "x", Type(DType::BF16), {n}), w = typed_input(b, "w", Type(DType::BF16), {n});
  b.output({"y", b.make(Op::Mul, {x, w}), {n}, std::nullopt});
  Graph joint = joint_of(std::move(b).finish());
  for (const Node& node : joint.nodes) EXPECT_EQ(node.type, Type(DType::BF16));
}

TEST(DerivativeGraph, FormulasReuseForwardValues) {
  struct Row {
    Op op;
    const char* formula;
  };
  for (Row row : {Row{Op::Exp, "mul(d_y,exp(x))"}, Row{Op::Sqrt, "div(d_y,mul(2.00,sqrt(x)))"},
                  Row{Op::Tanh, "mul(d_y,sub(1.00,mul(tanh(x),tanh(x))))"},
                  Row{Op::Sigmoid, "mul(mul(d_y,sigmoid(x)),sub(1.00,sigmoid(x)))"},
                  Row{Op::Rsqrt, "mul(mul(-0.5,d_y),mul(mul(rsqrt(x),rsqrt(x)),rsqrt(x)))"}}) {
    GraphBuilder b;
    AxisId n = b.axis("n", Size::symbol(b.symbol("n")));
    NodeId x = typed_input(b, "x", Type(DType::F32), {n});
    b.output({"y", b.make(row.op, {x}), {n}, std::nullopt});
    Graph joint = joint_of(std::move(b).finish());
    EXPECT_EQ(text_of(joint, output_of(joint, "grad_x").node), row.formula);
  }
}

TEST(DerivativeGraph, SoftmaxNeedsNothingButItsOutput) {
  Graph joint = joint_of(softmax());
  std::string y = text_of(joint, output_of(joint, "y").node);
  EXPECT_EQ(text_of(joint, output_of(joint, "grad_x").node), "mul(add(d_y,neg(sum(mul(d_y," + y + "))))," + y + ")");
}

// y = T(exp(wide(x))), computed in `wide`; with `twice` the exponential has a second use.
Graph rounded_exponential(bool own_wide_type, bool twice) {
  GraphBuilder b;
  AxisId n = b.axis("n", Size::symbol(b.symbol("n")));
  Type t = b.type_parameter("T", DType::BF16);
  NodeId x = typed_input(b, "x", t, {n});
  NodeId e = b.make(Op::Exp, {b.cast(x, own_wide_type ? opmath(t) : Type(DType::F32))});
  b.output({"y", b.cast(e, t), {n}, std::nullopt});
  if (twice) b.output({"z", b.cast(b.make(Op::Neg, {e}), t), {n}, std::nullopt});
  return std::move(b).finish();
}

TEST(DerivativeGraph, AResultThatAnOpRoundsIsReadAsItWasReturned) {
  Graph joint = joint_of(rounded_exponential(true, false));
  std::string y = text_of(joint, output_of(joint, "y").node);
  EXPECT_EQ(y, "cast(exp(cast(x)))");
  EXPECT_EQ(text_of(joint, output_of(joint, "grad_x").node), "cast(mul(cast(d_y),cast(" + y + ")))");
}

TEST(DerivativeGraph, AValueThatTheSourceKeepsInF32IsReadUnrounded) {
  Graph joint = joint_of(rounded_exponential(false, false));
  EXPECT_EQ(text_of(joint, output_of(joint, "grad_x").node), "cast(mul(cast(d_y),exp(cast(x))))");
}

TEST(DerivativeGraph, AWideValueWithAnotherUseIsReadUnrounded) {
  Graph joint = joint_of(rounded_exponential(true, true));
  EXPECT_EQ(text_of(joint, output_of(joint, "grad_x").node), "cast(mul(add(neg(cast(d_z)),cast(d_y)),exp(cast(x))))");
}

TEST(DerivativeGraph, AnInputThatNothingDependsOnHasAZeroGradient) {
  GraphBuilder b;
  AxisId n = b.axis("n", Size::symbol(b.symbol("n")));
  NodeId x = typed_input(b, "x", Type(DType::F32), {n});
  typed_input(b, "idle", Type(DType::BF16), {n});
  NodeId stopped = typed_input(b, "stopped", Type(DType::F32), {n});
  b.output({"y", b.make(Op::Mul, {x, b.make(Op::StopGradient, {stopped})}), {n}, std::nullopt});
  Graph joint = joint_of(std::move(b).finish());
  for (const char* name : {"grad_idle", "grad_stopped"}) {
    const Node& zero = joint[output_of(joint, name).node];
    EXPECT_EQ(zero.op, Op::Broadcast);
    EXPECT_EQ(text_of(joint, output_of(joint, name).node), "broadcast(cast(0.00))");
  }
  EXPECT_EQ(joint[output_of(joint, "grad_idle").node].type, Type(DType::BF16));
}

TEST(DerivativeGraph, AStraightThroughEstimatorPassesTheCotangent) {
  GraphBuilder b;
  AxisId n = b.axis("n", Size::symbol(b.symbol("n")));
  NodeId x = typed_input(b, "x", Type(DType::F32), {n});
  NodeId rounded = b.make(Op::Round, {x});
  NodeId y = b.make(Op::Add, {x, b.make(Op::StopGradient, {b.make(Op::Sub, {rounded, x})})});
  b.output({"y", y, {n}, std::nullopt});
  Graph joint = joint_of(std::move(b).finish());
  EXPECT_EQ(text_of(joint, output_of(joint, "grad_x").node), "d_y");
}

TEST(DerivativeGraph, IntegersBuffersAndUpdatesTakeNoPart) {
  GraphBuilder b;
  AxisId n = b.axis("n", Size::symbol(b.symbol("n"))), k = b.axis("k", Size::symbol(b.symbol("k")));
  NodeId x = typed_input(b, "x", Type(DType::F32), {n}), index = typed_input(b, "index", Type(DType::I64), {k});
  Input running;
  running.name = "running";
  running.kind = InputKind::Buffer;
  running.type = Type(DType::F32);
  NodeId buffer = b.input(running);
  b.output({"y", b.make(Op::Gather, {x, index}, AxisList{{n}}), {k}, std::nullopt});
  b.output({"which", b.make(Op::ArgMax, {x}, AxisList{{n}}), {}, std::nullopt});
  b.output({"next", b.make(Op::Add, {buffer, b.reduce(Op::Mean, x, {n})}), {}, "running"});
  Graph joint = joint_of(std::move(b).finish());
  ASSERT_EQ(joint.inputs.size(), 4u);
  EXPECT_EQ(joint.inputs[3].name, "d_y");
  ASSERT_EQ(joint.outputs.size(), 4u);
  EXPECT_EQ(joint.outputs[3].name, "grad_x");
}

TEST(DerivativeGraph, InputsAndOutputsCanBeChosen) {
  DerivativeOptions options;
  options.inputs = {"w"};
  Graph joint = joint_of(rms_norm(), options);
  ASSERT_EQ(joint.outputs.size(), 2u);
  EXPECT_EQ(joint.outputs[1].name, "grad_w");
  options.outputs = std::vector<std::string>{};
  joint = joint_of(rms_norm(), options);
  EXPECT_EQ(joint.inputs.size(), 3u);
  EXPECT_EQ(joint[joint.outputs[1].node].op, Op::Broadcast) << "without a cotangent the gradient is zero";
}

TEST(DerivativeGraph, AWrongChoiceIsAnErrorThatNamesIt) {
  DerivativeOptions options;
  options.inputs = {"weight"};
  EXPECT_EQ(error_of(rms_norm(), options), "no input is called weight, so it has no gradient");
  options.inputs = {"eps"};
  EXPECT_EQ(error_of(rms_norm(), options), "the input eps has no gradient: it is not a floating tensor");
  options = {};
  options.outputs = {"z"};
  EXPECT_EQ(error_of(rms_norm(), options), "no output is called z, so it has no cotangent");
  options = {};
  options.declared = DeclaredBackward{nullptr, "given"};
  EXPECT_NE(error_of(rms_norm(), options).find("declared backward"), std::string::npos);
}

TEST(DerivativeGraph, TheCotangentOfANamedValueIsNamedAfterIt) {
  Graph joint = joint_of(rms_norm());
  std::vector<std::string> names;
  for (const auto& [node, name] : joint.names) names.push_back(name);
  EXPECT_NE(std::find(names.begin(), names.end(), "d_rstd"), names.end());
}

TEST(DerivativeGraph, AxesAndForwardNodesAreShared) {
  Graph forward = layer_norm(), joint = joint_of(forward);
  ASSERT_GE(joint.axes.size(), forward.axes.size());
  for (size_t i = 0; i < forward.axes.size(); ++i) {
    EXPECT_EQ(joint.axes[i].name, forward.axes[i].name);
    EXPECT_EQ(joint.axes[i].size, forward.axes[i].size);
  }
  for (size_t i = 0; i < forward.outputs.size(); ++i) {
    EXPECT_EQ(joint.outputs[i].name, forward.outputs[i].name);
    EXPECT_EQ(text_of(joint, joint.outputs[i].node), text_of(forward, forward.outputs[i].node));
  }
}

}  // namespace
}  // namespace kw::ir::test
