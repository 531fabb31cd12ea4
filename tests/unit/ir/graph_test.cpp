#include "ir/graph.h"

#include <gtest/gtest.h>

#include "ir/infer.h"

namespace kw::ir {
namespace {

struct Matrix {
  GraphBuilder b;
  SymbolId rows_size = b.symbol("rows", 4), cols_size = b.symbol("cols", 6);
  AxisId rows = b.axis("rows", Size::symbol(rows_size)), cols = b.axis("cols", Size::symbol(cols_size));
  Type T = b.type_parameter("T", DType::BF16), W = b.type_parameter("W", DType::F32);
  NodeId x = b.input({"x", InputKind::Tensor, T, {rows, cols}, {}, true, kNoNode});
  NodeId w = b.input({"w", InputKind::Parameter, W, {cols}, {}, true, kNoNode});
};

TEST(Graph, EqualNodesAreOneNode) {
  Matrix m;
  NodeId first = m.b.make(Op::Mul, {m.x, m.w});
  EXPECT_EQ(m.b.make(Op::Mul, {m.x, m.w}), first);
  EXPECT_NE(m.b.make(Op::Mul, {m.w, m.x}), first);
}

TEST(Graph, PointwiseOpsBroadcastByIdentityAndPromote) {
  Matrix m;
  NodeId y = m.b.make(Op::Mul, {m.x, m.w});
  EXPECT_EQ(m.b[y].axes, (std::vector<AxisId>{m.rows, m.cols}));
  EXPECT_EQ(m.b[y].type, promote(m.T, m.W));
  EXPECT_EQ(m.b[m.b.make(Op::Lt, {m.x, m.w})].type, Type(DType::Bool));
}

TEST(Graph, BindingTypesDropsCastsThatBecomeIdentities) {
  Matrix m;
  NodeId wide = m.b.cast(m.x, Type(DType::F32));
  NodeId y = m.b.cast(m.b.make(Op::Exp, {wide}), m.T);
  m.b.output({"y", y, {m.rows, m.cols}, {}});
  Graph g = std::move(m.b).finish();
  Graph bf16 = bind_types(g), f32 = bind_types(g, {{"T", DType::F32}});
  EXPECT_EQ(bf16.nodes.size(), 5u);
  EXPECT_EQ(f32.nodes.size(), 3u);
  EXPECT_EQ(f32[f32.outputs[0].node].type, Type(DType::F32));
  EXPECT_TRUE(check(bf16).has_value());
}

TEST(Graph, FinishDropsWhatNoOutputNeedsAndKeepsInputs) {
  Matrix m;
  m.b.make(Op::Exp, {m.x});
  m.b.output({"y", m.b.make(Op::Neg, {m.w}), {m.cols}, {}});
  Graph g = std::move(m.b).finish();
  EXPECT_EQ(g.nodes.size(), 3u);
  EXPECT_EQ(g.inputs.size(), 2u);
}

// ---- what does not fit is refused with a reason ----
std::string refusal(Matrix& m, Op op, std::vector<NodeId> args, Attr attr = {}) {
  Result<NodeId> made = m.b.try_make(op, std::move(args), std::move(attr));
  return made ? "accepted" : made.error().message;
}

TEST(Inference, RefusesWhatDoesNotFitAndSaysWhy) {
  Matrix m;
  EXPECT_NE(refusal(m, Op::Sum, {m.w}, AxisList{{m.rows}}).find("no axis rows"), std::string::npos);
  EXPECT_NE(refusal(m, Op::Sum, {m.w}, AxisList{{}}).find("no axis to reduce"), std::string::npos);
  EXPECT_NE(refusal(m, Op::Sum, {m.x}, AxisList{{m.cols, m.cols}}).find("twice"), std::string::npos);
  EXPECT_NE(refusal(m, Op::Rename, {m.x}, RenameAttr{{{m.rows, m.cols}}}).find("one size"), std::string::npos);
  EXPECT_NE(refusal(m, Op::Gather, {m.x, m.w}, AxisList{{m.cols}}).find("integer"), std::string::npos);
  EXPECT_NE(refusal(m, Op::Select, {m.x, m.x, m.x}).find("bool"), std::string::npos);
  EXPECT_NE(refusal(m, Op::Add, {m.x}).find("takes 2 operands"), std::string::npos);
  EXPECT_NE(refusal(m, Op::And, {m.x, m.x}).find("bool and integers"), std::string::npos);
  EXPECT_NE(refusal(m, Op::Cast, {m.x}, AxisList{{m.rows}}).find("attribute of another op"), std::string::npos);
  EXPECT_NE(refusal(m, Op::Sum, {m.x}, AxisList{{99}}).find("does not exist"), std::string::npos);
  AxisId half = m.b.axis("half", Size(3)), third = m.b.axis("third", Size(5));
  EXPECT_NE(refusal(m, Op::Split, {m.x}, SplitAttr{m.cols, half, third}).find("outer times inner"), std::string::npos);
  EXPECT_NE(refusal(m, Op::Slice, {m.x}, SliceAttr{m.cols, half, Size(4), 1}).find("do not lie within"),
            std::string::npos);
  EXPECT_NE(refusal(m, Op::Slice, {m.x}, SliceAttr{m.cols, half, Size(0), 0}).find("step"), std::string::npos);
}

TEST(Inference, SizesThatOnlyACallKnowsAreCheckedWhenTheyAreBound) {
  GraphBuilder b;
  SymbolId n = b.symbol("n");
  AxisId whole = b.axis("whole", Size::symbol(n)), outer = b.axis("outer", floor_div(Size::symbol(n), Size(4))),
         inner = b.axis("inner", Size(4));
  NodeId x = b.input({"x", InputKind::Tensor, DType::F32, {whole}, {}, true, kNoNode});
  b.output({"y", b.make(Op::Split, {x}, SplitAttr{whole, outer, inner}), {outer, inner}, {}});
  Graph g = std::move(b).finish();
  EXPECT_TRUE(check_sizes(g, [](SymbolId) { return std::optional<int64_t>(8); }).has_value());
  EXPECT_FALSE(check_sizes(g, [](SymbolId) { return std::optional<int64_t>(9); }).has_value());
}

}  // namespace
}  // namespace kw::ir
