// Positions of dimensions become axes: broadcasting, views, joins, and what cannot be.
#include <algorithm>

#include "torch_session.h"

namespace kw::understand {
namespace {

using ir::DType;
using ir::Size;
using ir::Type;

TEST(TorchShapes, AVectorBroadcastsAgainstTheLastDimension) {
  TorchSession t;
  Value x = t.input("x", {"rows", "cols"}, {4, 8}, t.T), w = t.input("w", {"features"}, {8}, t.T);
  EXPECT_EQ(t.text(t.call("operator.mul", {x, w})), "tensor T[rows, cols]");
  ASSERT_EQ(t.builder.graph().constraints.size(), 1u);
}

TEST(TorchShapes, SizesThatDifferDoNotBroadcastAndTheMessageNamesBothShapes) {
  TorchSession t;
  Value x = t.input("x", {"rows", "cols"}, {4, 8}, t.T), w = t.input("w", {"features"}, {7}, t.T);
  EXPECT_NE(t.refusal("operator.mul", {x, w}).find("[rows=4, cols=8] and [features=7]"), std::string::npos);
}

TEST(TorchShapes, AMatrixPlusItsTransposeRenamesBothAxesAtOnce) {
  TorchSession t;
  Value x = t.input("x", {"rows", "cols"}, {4, 4}, t.T);
  EXPECT_EQ(t.text(t.call("operator.add", {x, t.call("Tensor.T", {x})})), "tensor T[rows, cols]");
}

TEST(TorchShapes, AnOuterProductOfAVectorWithItselfHasTwoAxes) {
  TorchSession t;
  Value x = t.input("x", {"n"}, {4}, t.T);
  Value column = t.call("Tensor.unsqueeze", {x, t.integer(1)});
  Value out = t.call("operator.mul", {column, x});
  EXPECT_EQ(t.text(out), "tensor T[n, n]");
  EXPECT_NE(out.get<TensorValue>()->dims[0], out.get<TensorValue>()->dims[1]);
}

TEST(TorchShapes, ViewSplitsAndMergesBackToTheSameAxis) {
  TorchSession t;
  Value x = t.input("x", {"b", "s", "hidden"}, {2, 3, 32}, t.T);
  Value heads =
      t.call("Tensor.view", {x, Value{t.symbol("b", 2)}, Value{t.symbol("s", 3)}, t.integer(4), t.integer(-1)});
  EXPECT_EQ(t.text(heads), "tensor T[b, s, 4, hidden//4]");
  Value back = t.call("Tensor.flatten", {heads, t.integer(2)});
  EXPECT_EQ(back.get<TensorValue>()->dims, x.get<TensorValue>()->dims);
}

TEST(TorchShapes, ViewMergesLeadingDimensionsWithoutHints) {
  TorchSession t;
  Value x = t.input("x", {"b", "s", "d"}, {2, 3, 5}, t.T);
  EXPECT_EQ(t.text(t.call("Tensor.reshape", {x, t.integer(-1), Value{t.symbol("d", 5)}})), "tensor T[b*s, d]");
}

TEST(TorchShapes, AViewOfAnotherNumberOfElementsIsRefused) {
  TorchSession t;
  Value x = t.input("x", {"b", "s"}, {2, 3}, t.T);
  EXPECT_NE(t.refusal("Tensor.view", {x, t.integer(7)}).find("cannot be viewed as [7]"), std::string::npos);
  EXPECT_NE(t.refusal("Tensor.view", {x, t.integer(4), t.integer(-1)}).find("cannot be viewed"), std::string::npos);
}

TEST(TorchShapes, HalvesJoinToTheWholeAgain) {
  TorchSession t;
  Value x = t.input("x", {"rows", "cols"}, {4, 8}, t.T);
  Value halves = t.call("Tensor.chunk", {x, t.integer(2)}, {{"dim", t.integer(-1)}});
  ASSERT_EQ(halves.get<SequenceValue>()->items.size(), 2u);
  Value joined = t.call("torch.cat", {halves}, {{"dim", t.integer(-1)}});
  EXPECT_EQ(t.text(t.call("operator.add", {x, joined})), "tensor T[rows, cols]");
}

TEST(TorchShapes, ReductionsDropOrKeepTheirDimension) {
  TorchSession t;
  Value x = t.input("x", {"rows", "cols"}, {4, 8}, t.T);
  EXPECT_EQ(t.text(t.call("Tensor.mean", {x, t.integer(-1)})), "tensor T[rows]");
  EXPECT_EQ(t.text(t.call("Tensor.sum", {x}, {{"dim", t.integer(0)}, {"keepdim", Value{true}}})), "tensor T[1, cols]");
  EXPECT_EQ(t.text(t.call("Tensor.argmax", {x})), "tensor i64[]");
}

TEST(TorchTypes, DimensionsDecideBeforeRankZeroAndNumbers) {
  TorchSession t;
  Value x = t.input("x", {"n"}, {4}, Type(DType::BF16)), s = t.input("s", {}, {}, Type(DType::F32));
  Value i = t.input("i", {"m"}, {4}, Type(DType::I64)), w = t.input("w", {"k"}, {4}, Type(DType::F32));
  EXPECT_EQ(t.text(t.call("operator.mul", {x, s})), "tensor bf16[n]");
  EXPECT_EQ(t.text(t.call("operator.mul", {x, w})), "tensor f32[n]");
  EXPECT_EQ(t.text(t.call("operator.mul", {x, t.real(0.3)})), "tensor bf16[n]");
  EXPECT_EQ(t.text(t.call("operator.mul", {i, t.real(0.3)})), "tensor f32[m]");
  EXPECT_EQ(t.text(t.call("operator.add", {i, x})), "tensor bf16[m]");
  EXPECT_EQ(t.text(t.call("operator.truediv", {i, t.integer(2)})), "tensor f32[m]");
  EXPECT_EQ(t.text(t.call("torch.softmax", {x, t.integer(0)}, {{"dtype", Value{DTypeValue{Type(DType::F32)}}}})),
            "tensor f32[n]");
}

TEST(TorchTypes, ANumberTakesPartUnroundedInSumsAndRoundedInComparisons) {
  TorchSession t;
  Value x = t.input("x", {"n"}, {4}, t.T);
  auto operand = [&](const Value& value, size_t i) {
    const ir::Node& node = t.builder[value.get<TensorValue>()->node];
    return t.builder[node.args[i]];
  };
  EXPECT_EQ(operand(t.call("operator.add", {x, t.real(0.3)}), 1).op, ir::Op::Const);
  EXPECT_EQ(operand(t.call("operator.lt", {x, t.real(0.3)}), 1).op, ir::Op::Cast);
  EXPECT_EQ(operand(t.call("operator.pow", {x, t.real(0.3)}), 1).op, ir::Op::Cast);
  EXPECT_EQ(operand(t.call("operator.lt", {x, t.real(0.5)}), 1).op, ir::Op::Const);  // every type holds 0.5
}

TEST(TorchTypes, AFunctionThatWidensInsideRoundsOnceAtItsEnd) {
  TorchSession t;
  Value x = t.input("x", {"n"}, {4}, t.T);
  Value y = t.call("torch.nn.functional.silu", {x});
  const ir::Node& last = t.builder[y.get<TensorValue>()->node];
  EXPECT_EQ(last.op, ir::Op::Cast);
  EXPECT_EQ(last.type, t.T);
  EXPECT_EQ(t.builder[last.args[0]].type, promote(t.T, Type(DType::F32)));
}

TEST(TorchTypes, TheRowOfAPaddingIndexTakesNoGradient) {
  for (bool padded : {false, true}) {
    TorchSession t;
    Value index = t.input("i", {"n"}, {4}, Type(DType::I64)), weight = t.input("w", {"rows", "cols"}, {7, 3}, t.T);
    std::vector<std::pair<std::string, Value>> keyword;
    if (padded) keyword.emplace_back("padding_idx", t.integer(-1));
    t.call("torch.nn.functional.embedding", {index, weight}, keyword);
    const auto& nodes = t.builder.graph().nodes;
    EXPECT_EQ(std::any_of(nodes.begin(), nodes.end(), [](const ir::Node& n) { return n.op == ir::Op::StopGradient; }),
              padded);
  }
}

TEST(TorchErrors, AnUnknownCallNamesTheNearestKnownOnes) {
  TorchSession t;
  auto result = t.attempt("torch.rsqr", {});
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().hint.find("torch.rsqrt"), std::string::npos) << result.error().hint;
}

TEST(TorchErrors, WrongArgumentsAreNamed) {
  TorchSession t;
  Value x = t.input("x", {"rows", "cols"}, {4, 8}, t.T);
  EXPECT_EQ(t.refusal("torch.exp", {t.integer(1)}), "torch.exp needs a tensor as 'input', got int 1");
  EXPECT_EQ(t.refusal("torch.exp", {}), "torch.exp needs the argument 'input'");
  EXPECT_EQ(t.refusal("torch.exp", {x, x}), "torch.exp takes at most 1 positional arguments, 2 were given");
  EXPECT_EQ(t.refusal("torch.softmax", {x}, {{"dmi", t.integer(1)}}), "torch.softmax has no argument 'dmi'");
  EXPECT_EQ(t.refusal("torch.softmax", {x, t.integer(2)}),
            "torch.softmax has no dimension 2: the tensor has 2 dimensions");
}

}  // namespace
}  // namespace kw::understand
