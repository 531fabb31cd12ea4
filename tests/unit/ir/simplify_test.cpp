#include "ir/simplify/simplify.h"

#include <gtest/gtest.h>

#include "ir/infer.h"

namespace kw::ir {
namespace {

struct Vector {
  GraphBuilder b;
  AxisId n = b.axis("n", Size::symbol(b.symbol("n", 8)));
  NodeId x = b.input({"x", InputKind::Tensor, DType::F32, {n}, {}, true, kNoNode});
  NodeId y = b.input({"y", InputKind::Tensor, DType::F32, {n}, {}, true, kNoNode});
  NodeId h = b.input({"h", InputKind::Tensor, DType::BF16, {n}, {}, true, kNoNode});
};

// The simplified value of `node` as its op and its operands' ops: "mul(x, x)".
std::string spelled(const Graph& g, NodeId id) {
  const Node& node = g[id];
  if (node.op == Op::Input) return g.inputs[static_cast<size_t>(node.as<InputRef>().index)].name;
  if (node.op == Op::Const) return std::to_string(node.as<Literal>().number()).substr(0, 4);
  std::string out(info(node.op).name);
  out += "(";
  for (size_t i = 0; i < node.args.size(); ++i) out += (i ? ", " : "") + spelled(g, node.args[i]);
  return out + ")";
}

std::string simplified(Vector v, NodeId node) {
  std::vector<AxisId> dims = v.b[node].axes;
  v.b.output({"out", node, dims, {}});
  Graph g = simplify(std::move(v.b).finish());
  EXPECT_TRUE(check(g).has_value());
  return spelled(g, g.outputs[0].node);
}

TEST(Simplify, ASquareIsTheSameHoweverItIsSpelled) {
  Vector v;
  EXPECT_EQ(simplified(v, v.b.make(Op::Pow, {v.x, v.b.integer(2)})), "mul(x, x)");
  EXPECT_EQ(simplified(v, v.b.make(Op::Pow, {v.x, v.b.constant(2)})), "mul(x, x)");
  EXPECT_EQ(simplified(v, v.b.make(Op::Mul, {v.x, v.x})), "mul(x, x)");
}

TEST(Simplify, NeutralElementsAndDoubleNegationsVanish) {
  Vector v;
  NodeId n = v.b.make(Op::Neg, {v.b.make(Op::Neg, {v.x})});
  EXPECT_EQ(simplified(v, v.b.make(Op::Add, {v.b.integer(0), n})), "x");
  EXPECT_EQ(simplified(v, v.b.make(Op::Mul, {v.x, v.b.constant(1)})), "x");
  EXPECT_EQ(simplified(v, v.b.make(Op::Add, {v.b.make(Op::Neg, {v.x}), v.y})), "sub(y, x)");
}

TEST(Simplify, AMeanOfCopiesIsOneOfThemWhereThereIsSurelyOne) {
  const auto mean_over = [](const Size& size) {
    Vector v;
    const AxisId m = v.b.axis("m", size);
    return simplified(v, v.b.make(Op::Mean, {v.b.broadcast(v.x, {m})}, AxisList{{m}}));
  };
  EXPECT_EQ(mean_over(Size(3)), "x");
  EXPECT_EQ(mean_over(Size(0)), "mean(broadcast(x))");
  EXPECT_EQ(mean_over(Size::symbol(0)), "mean(broadcast(x))") << "PyTorch gives NaN where it is empty";
}

TEST(Simplify, NumbersAreFoldedAsPythonDoes) {
  Vector v;
  NodeId c = v.b.make(Op::Div, {v.b.integer(1), v.b.integer(4)});
  EXPECT_EQ(simplified(v, v.b.make(Op::Mul, {v.x, v.b.make(Op::Add, {c, v.b.constant(1)})})), "mul(x, 1.25)");
}

TEST(Simplify, AWideningCastAndBackIsNothingAndANarrowingOneStays) {
  Vector v;
  NodeId wide = v.b.cast(v.h, DType::F32);
  EXPECT_EQ(simplified(v, v.b.make(Op::Cast, {wide}, CastAttr{DType::BF16})), "h");
  NodeId narrow = v.b.cast(v.x, DType::BF16);
  EXPECT_EQ(simplified(v, v.b.cast(narrow, DType::F32)), "cast(cast(x))");
}

TEST(Simplify, APromotionThatWidensIsWrittenOut) {
  Vector v;
  std::string implied = simplified(v, v.b.make(Op::Mul, {v.h, v.x}));
  EXPECT_EQ(implied, "mul(cast(h), x)");
  EXPECT_EQ(implied, simplified(v, v.b.make(Op::Mul, {v.b.cast(v.h, DType::F32), v.x})));
}

TEST(Simplify, NoRoundingMovesOrVanishes) {
  Vector v;
  NodeId one_over = v.b.make(Op::Div, {v.b.integer(1), v.b.make(Op::Sqrt, {v.x})});
  EXPECT_EQ(simplified(v, one_over), "div(1.00, sqrt(x))");
}

TEST(Simplify, AxesThatTheReaderOnlyRenamedBecomeOne) {
  GraphBuilder b;
  SymbolId s = b.symbol("cols", 8), t = b.symbol("hidden", 8);
  AxisId rows = b.axis("rows", Size(4)), cols = b.axis("cols", Size::symbol(s)),
         hidden = b.axis("hidden", Size::symbol(t));
  NodeId x = b.input({"x", InputKind::Tensor, DType::F32, {rows, cols}, {}, true, kNoNode});
  NodeId w = b.input({"w", InputKind::Parameter, DType::F32, {hidden}, {}, true, kNoNode});
  b.constrain({SizeConstraint::Kind::Equal, Size::symbol(t), Size::symbol(s)});
  NodeId y = b.make(Op::Mul, {w, b.rename(x, {{cols, hidden}})});
  b.output({"y", y, {rows, hidden}, {}});
  Graph g = simplify(std::move(b).finish());
  EXPECT_EQ(spelled(g, g.outputs[0].node), "mul(w, x)");
  EXPECT_EQ(g.axis(g.inputs[1].dims[0]).name, "cols");  // called after the size that stayed
  EXPECT_EQ(g.inputs[1].dims,
            g.inputs[0].dims.size() == 2 ? std::vector<AxisId>{g.inputs[0].dims[1]} : std::vector<AxisId>{});
}

TEST(Simplify, ATensorTimesItsTranspositionKeepsItsRename) {
  GraphBuilder b;
  Size n = Size::symbol(b.symbol("n", 8));
  AxisId i = b.axis("i", n), j = b.axis("j", n), k = b.axis("k", Size(3));
  NodeId x = b.input({"x", InputKind::Tensor, DType::F32, {i, k}, {}, true, kNoNode});
  NodeId y = b.make(Op::Contract, {x, b.rename(x, {{i, j}})}, AxisList{{k}});
  b.output({"y", y, {i, j}, {}});
  Graph g = simplify(std::move(b).finish());
  EXPECT_EQ(spelled(g, g.outputs[0].node), "contract(x, rename(x))");
}

TEST(Simplify, ASwapOfTwoAxesIsNotLost) {
  GraphBuilder b;
  Size n = Size::symbol(b.symbol("n", 8));
  AxisId i = b.axis("i", n), j = b.axis("j", n);
  NodeId x = b.input({"x", InputKind::Tensor, DType::F32, {i, j}, {}, true, kNoNode});
  b.output({"y", b.make(Op::Add, {x, b.rename(x, {{i, j}, {j, i}})}), {i, j}, {}});
  Graph g = simplify(std::move(b).finish());
  EXPECT_EQ(spelled(g, g.outputs[0].node), "add(x, rename(x))");
}

TEST(Simplify, SplittingWhatWasMergedIsNothing) {
  GraphBuilder b;
  AxisId g = b.axis("g", Size(2)), k = b.axis("k", Size(3)), c = b.axis("c", Size(6));
  NodeId x = b.input({"x", InputKind::Tensor, DType::F32, {g, k}, {}, true, kNoNode});
  NodeId merged = b.make(Op::Merge, {x}, SplitAttr{c, g, k});
  b.output({"y", b.make(Op::Split, {merged}, SplitAttr{c, g, k}), {g, k}, {}});
  Graph s = simplify(std::move(b).finish());
  EXPECT_EQ(spelled(s, s.outputs[0].node), "x");
}

TEST(Simplify, IsIdempotent) {
  Vector v;
  NodeId a = v.b.make(Op::Sub, {v.b.make(Op::Neg, {v.x}), v.b.make(Op::Neg, {v.h})});
  v.b.output({"out", v.b.make(Op::Div, {a, v.b.make(Op::Neg, {v.y})}), {v.n}, {}});
  Graph once = simplify(std::move(v.b).finish()), twice = simplify(once);
  EXPECT_EQ(spelled(once, once.outputs[0].node), spelled(twice, twice.outputs[0].node));
}

}  // namespace
}  // namespace kw::ir
