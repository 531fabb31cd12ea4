// How a graph that no text gave is shown: names that clash, values without a name, long lines.
#include <gtest/gtest.h>

#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "rearranged.h"

namespace kw::ir {
namespace {

struct Matrix {
  GraphBuilder b;
  SymbolId rows_size = b.symbol("rows"), cols_size = b.symbol("cols");
  AxisId rows = b.axis("rows", Size::symbol(rows_size)), cols = b.axis("cols", Size::symbol(cols_size));
  NodeId x = b.input({"x", InputKind::Tensor, Type(DType::F32), {rows, cols}, {}, true, kNoNode});
  std::string text(NodeId y, std::vector<AxisId> dims) && {
    b.output({"y", y, std::move(dims), {}});
    const Graph graph = std::move(b).finish();
    const std::string printed = text::print(graph);
    Result<Graph> again = text::parse(printed);
    EXPECT_TRUE(again.has_value()) << printed << (again ? "" : render(again.error()));
    if (again) {
      EXPECT_EQ(text::print(*again), printed);
    }
    return printed;
  }
};

TEST(TextPrint, AxesOfOneNameGetNumbers) {
  Matrix m;
  const AxisId half = m.b.axis_like(m.cols, "half", floor_div(Size::symbol(m.cols_size), Size(2)));
  const NodeId y = m.b.make(Op::Slice, {m.x}, SliceAttr{m.cols, half, Size(0), 1});
  EXPECT_EQ(std::move(m).text(y, {m.rows, half}),
            "op op(x: f32[rows, cols])\n"
            "  y = slice(x, cols -> cols_2 = cols//2)\n"
            "return y\n");
}

TEST(TextPrint, AnAxisIsNotNamedLikeASizeThatIsNotItsOwn) {
  Matrix m;
  const AxisId other = m.b.axis("rows", Size(2) * Size::symbol(m.cols_size));
  const NodeId y = m.b.make(Op::Broadcast, {m.x}, AxisList{{other}});
  EXPECT_EQ(std::move(m).text(y, {m.rows, m.cols, other}),
            "op op(x: f32[rows, cols])\n"
            "  y = broadcast(x, rows_2 = 2*cols)\n"
            "return y\n");
}

TEST(TextPrint, AValueNamedLikeAnInputGetsANumber) {
  Matrix m;
  const NodeId wide = m.b.make(Op::Exp, {m.x});
  m.b.set_name(wide, "x");
  const NodeId y = m.b.make(Op::Sin, {wide});
  EXPECT_EQ(std::move(m).text(y, {m.rows, m.cols}),
            "op op(x: f32[rows, cols])\n"
            "  x_2 = exp(x)\n"
            "  y   = sin(x_2)\n"
            "return y\n");
}

TEST(TextPrint, ANameThatIsNoPlainNameIsQuotedOrChanged) {
  Matrix m;
  const NodeId node = m.b.make(Op::Exp, {m.x});
  m.b.set_name(node, "return");
  const NodeId odd = m.b.make(Op::Sin, {node});
  m.b.set_name(odd, "a`b\nc");
  EXPECT_EQ(std::move(m).text(odd, {m.cols, m.rows}),
            "op op(x: f32[rows, cols])\n"
            "  `return` = exp(x)\n"
            "  a_b_c    = sin(`return`)\n"
            "return y = a_b_c[cols, rows]\n");
}

TEST(TextPrint, ASharedValueWithoutANameGetsALineAndANumber) {
  Matrix m;
  const NodeId e = m.b.make(Op::Exp, {m.x});
  const NodeId y = m.b.make(Op::Div, {e, m.b.make(Op::Sum, {e}, AxisList{{m.cols}})});
  EXPECT_EQ(std::move(m).text(y, {m.rows, m.cols}),
            "op op(x: f32[rows, cols])\n"
            "  _1 = exp(x)\n"
            "  y  = _1 / sum(_1, cols)\n"
            "return y\n");
}

TEST(TextPrint, CastsOfInputsAndNumbersStandWhereTheyAreUsed) {
  Matrix m;
  const NodeId wide = m.b.cast(m.x, Type(DType::F64));
  const NodeId two = m.b.integer(2);
  m.b.set_name(two, "two");
  const NodeId y = m.b.make(Op::Add, {m.b.make(Op::Mul, {wide, two}), m.b.make(Op::Pow, {two, wide})});
  EXPECT_EQ(std::move(m).text(y, {m.rows, m.cols}),
            "op op(x: f32[rows, cols])\n"
            "  y = f64(x) * 2 + 2^f64(x)\n"
            "return y\n");
}

TEST(TextPrint, WhatNoOutputNeedsIsNotShown) {
  Matrix m;
  m.b.symbol("unused", 7);
  m.b.set_name(m.b.make(Op::Log, {m.x}), "lost");
  const NodeId y = m.b.make(Op::Exp, {m.x});
  EXPECT_EQ(std::move(m).text(y, {m.rows, m.cols}), "op op(x: f32[rows, cols])\n  y = exp(x)\nreturn y\n");
}

TEST(TextPrint, ALongSumIsBrokenIntoLinesThatFitThePage) {
  Matrix m;
  NodeId sum = m.x;
  for (int i = 1; i <= 60; ++i) sum = m.b.make(Op::Add, {sum, m.b.make(Op::Mul, {m.x, m.b.integer(i)})});
  const std::string text = std::move(m).text(sum, {m.rows, m.cols});
  size_t start = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; start = end + 1, end = text.find('\n', start)) {
    EXPECT_LE(end - start, 100u) << text;
  }
}

TEST(TextPrint, OneValueIsShownAsAnExpressionOverTheLines) {
  const Result<Graph> graph = text::parse(
      "op f(x: T[rows, cols]; eps = 1e-6)\n  ms = mean(f32(x)^2, cols)\n  y = x * rsqrt(ms + eps)\nreturn y\n");
  ASSERT_TRUE(graph.has_value());
  const NodeId product = graph->outputs[0].node;
  EXPECT_EQ(text::value_text(*graph, product), "x * rsqrt(ms + eps)");
  EXPECT_EQ(text::value_text(*graph, (*graph)[product].args[1]), "rsqrt(ms + eps)");
  EXPECT_EQ(text::value_text(*graph, (*graph)[product].args[0]), "x");
}

TEST(TextPrint, TheLinesAreThoseOfTheWholeText) {
  const Result<Graph> graph = text::parse("op f(x: T[n])\n  e = iota(k = 3) + x\n  y = sum(e, k)\nreturn y\n");
  ASSERT_TRUE(graph.has_value());
  const std::vector<text::ValueLine> lines = text::value_lines(*graph);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].name, "e");
  EXPECT_EQ(lines[0].value, "iota(k = 3) + x");
  EXPECT_EQ(lines[1].value, "sum(e, k)");
  EXPECT_EQ(lines[1].node, graph->outputs[0].node);
}

TEST(TextPrint, EqualCombinesAreWrittenOnceAndOthersKeepApart) {
  const auto combine = [](Op op) {
    GraphBuilder b;
    const NodeId l = b.input({"l", InputKind::Tensor, Type(DType::F32), {}, {}, true, kNoNode});
    const NodeId r = b.input({"r", InputKind::Tensor, Type(DType::F32), {}, {}, true, kNoNode});
    b.output({"y", b.make(op, {l, r}), {}, {}});
    b.graph().name = "join";
    return std::make_shared<const Combine>(Combine{std::make_shared<const Graph>(std::move(b).finish()), {0}});
  };
  Matrix m;
  const NodeId first = m.b.make(Op::Reduce, {m.x}, CombineAttr{combine(Op::Add), 0, m.cols});
  const NodeId second = m.b.make(Op::Reduce, {m.x}, CombineAttr{combine(Op::Add), 0, m.rows});
  const NodeId third = m.b.make(Op::Reduce, {m.x}, CombineAttr{combine(Op::Max), 0, m.rows});
  const NodeId y = m.b.make(Op::Sub, {first, m.b.make(Op::Sub, {second, third})});
  EXPECT_EQ(std::move(m).text(y, {m.rows, m.cols}),
            "op op(x: f32[rows, cols])\n"
            "  combine join(l: f32, r: f32) from (0)\n"
            "    y = l + r\n"
            "  return y\n"
            "  combine join_2(l: f32, r: f32) from (0)\n"
            "    y = max(l, r)\n"
            "  return y\n"
            "  y = reduce(join, x, cols) - (reduce(join, x, rows) - reduce(join_2, x, rows))\n"
            "return y\n");
}

}  // namespace
}  // namespace kw::ir
