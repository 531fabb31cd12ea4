// What a text means: precedence, literals, types, implied sizes, places. Texts on the left are compared with texts that
// spell everything out.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "ir/canonical.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

namespace kw::ir {
namespace {

Graph parsed(const std::string& text) {
  Result<Graph> graph = text::parse(text);
  if (!graph) throw std::runtime_error(render(graph.error()) + "\nin\n" + text);
  return *graph;
}

// The graph of one expression over some inputs.
Graph of(const std::string& expression) {
  return parsed("op f(x: f32[n], y: f32[n], z: f32[n], i: i64[n], j: i64[n], b: bool[n], c: bool[n], t: T[n])\n  v = " +
                expression + "\nreturn v\n");
}

void expect_means(const std::string& short_form, const std::string& spelled_out) {
  std::string difference;
  EXPECT_TRUE(equivalent(of(short_form), of(spelled_out), &difference)) << short_form << "\n" << difference;
}

TEST(TextParse, OperatorsBindAsInMathematics) {
  expect_means("x + y * z", "add(x, mul(y, z))");
  expect_means("x - y - z", "sub(sub(x, y), z)");
  expect_means("x / y / z", "div(div(x, y), z)");
  expect_means("x - (y - z)", "sub(x, sub(y, z))");
  expect_means("x // y % z", "mod(floor_div(x, y), z)");
  expect_means("-x * y", "mul(neg(x), y)");
  expect_means("-x^2", "neg(mul(x, x))");
  expect_means("-x^3", "neg(pow(x, 3))");
  expect_means("x^y^z", "pow(x, pow(y, z))");
  expect_means("x^-y", "pow(x, neg(y))");
  expect_means("2 * x^3", "mul(2, pow(x, 3))");
  expect_means("i << 1 + j", "shl(i, add(1, j))");
  expect_means("i >> j >> 1", "shr(shr(i, j), 1)");
  expect_means("x < y + z", "lt(x, add(y, z))");
  expect_means("x < y & y < z", "and(lt(x, y), lt(y, z))");
  expect_means("b | c & b", "or(b, and(c, b))");
  expect_means("~b & c", "and(not(b), c)");
  expect_means("x == y | x != z", "or(eq(x, y), ne(x, z))");
}

TEST(TextParse, AGreaterSideComesSecond) {
  expect_means("x > y", "lt(y, x)");
  expect_means("x >= y", "le(y, x)");
}

TEST(TextParse, ASquareIsAProduct) {
  expect_means("x^2", "mul(x, x)");
  expect_means("(x + y)^2", "mul(x + y, x + y)");
  const Graph power = of("pow(x, 2)");
  EXPECT_EQ(power[power.outputs[0].node].op, Op::Pow);
  const Graph real = of("x^2.0");
  EXPECT_EQ(real[real.outputs[0].node].op, Op::Pow);
  EXPECT_FALSE(equivalent(power, real));
}

TEST(TextParse, ASignBeforeANumberBelongsToIt) {
  const auto literal = [](const std::string& text) {
    const Graph graph = parsed("op f(x: f64)\nreturn y = " + text + "\n");
    return graph[graph.outputs[0].node].as<Literal>();
  };
  EXPECT_EQ(literal("-1"), Literal{int64_t{-1}});
  EXPECT_EQ(literal("-9223372036854775808"), Literal{std::numeric_limits<int64_t>::min()});
  EXPECT_EQ(literal("-0.0"), Literal{-0.0});
  EXPECT_EQ(literal("-inf"), Literal{-INFINITY});
  EXPECT_EQ(literal(".5"), Literal{0.5});
  EXPECT_EQ(literal("1e3"), Literal{1000.0});
  EXPECT_EQ(literal("2E-3"), Literal{0.002});
  EXPECT_EQ(literal("true"), Literal{true});
  EXPECT_TRUE(std::isnan(literal("nan").number()));
  const Graph negated = of("-(1)");
  EXPECT_EQ(negated[negated.outputs[0].node].op, Op::Neg);
  expect_means("-1^2", "neg(mul(1, 1))");
}

TEST(TextParse, CastsGoToTheTypeThatIsCalled) {
  const auto cast_type = [](const std::string& text) {
    const Graph graph = of(text);
    return text::type_text(graph, graph[graph.outputs[0].node].type);
  };
  EXPECT_EQ(cast_type("f32(t)"), "f32");
  EXPECT_EQ(cast_type("T(x)"), "T");
  EXPECT_EQ(cast_type("wide(t)"), "T|f32");
  EXPECT_EQ(cast_type("wide(bf16(x))"), "f32");
  EXPECT_EQ(cast_type("cast(x, T|f16)"), "T|f16");
  EXPECT_EQ(cast_type("t + x"), "T|f32");
}

TEST(TextParse, ATypeParameterIsBf16UnlessALineSaysOtherwise) {
  EXPECT_EQ(parsed("op f(x: T[n])\nreturn x\n").type_parameters[0].default_dtype, DType::BF16);
  EXPECT_EQ(parsed("op f(x: T[n])\n  types T\nreturn x\n").type_parameters[0].default_dtype, DType::BF16);
  EXPECT_EQ(parsed("op f(x: T[n])\n  types T = f16\nreturn x\n").type_parameters[0].default_dtype, DType::F16);
}

TEST(TextParse, ScalarsHaveTheTypeOfTheirDefault) {
  const Graph graph = parsed("op f(x: f32[n]; a = 1, b = 1.0, c = true, d, e: int, g: real = 1)\nreturn x\n");
  EXPECT_EQ(graph.inputs[1].type, Type(DType::Int));
  EXPECT_EQ(graph.inputs[2].type, Type(DType::Real));
  EXPECT_EQ(graph.inputs[3].type, Type(DType::Bool));
  EXPECT_EQ(graph.inputs[4].type, Type(DType::Real));
  EXPECT_FALSE(graph.inputs[4].default_value.has_value());
  EXPECT_EQ(graph.inputs[5].type, Type(DType::Int));
  EXPECT_EQ(graph.inputs[6].type, Type(DType::Real));
  EXPECT_EQ(graph.inputs[6].default_value, Literal{int64_t{1}});
}

TEST(TextParse, GradientsAreWantedForFloatingTensorsAndParametersOnly) {
  const Graph graph = parsed(
      "op f(x: f32[n], w: parameter f32[n], r: buffer f32[n], i: i64[n], m: bool[n], a: no_grad f32[n], "
      "b: buffer with_grad f32[n]; s = 1.0)\nreturn x\n");
  const std::vector<bool> expected = {true, true, false, false, false, false, true, false};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(graph.inputs[i].differentiable, expected[i]) << graph.inputs[i].name;
}

// The text of the size of the axis with that name.
std::string size_in(const Graph& graph, const std::string& axis) {
  for (const Axis& a : graph.axes) {
    if (a.name == axis) return graph.size_text(a.size);
  }
  return "no axis " + axis;
}

TEST(TextParse, SizesOfNewAxesFollowFromTheOldOnes) {
  const auto size = [](const std::string& line, const std::string& axis) {
    return size_in(parsed("op f(x: f32[h, w], o: i64[e])\n  y = " + line + "\nreturn y, x, o\n"), axis);
  };
  EXPECT_EQ(size("rename(x, h -> k)", "k"), "h");
  EXPECT_EQ(size("merge(x, (h, w) -> k)", "k"), "h*w");
  EXPECT_EQ(size("split(x, h -> (a, b = 4))", "a"), "h//4");
  EXPECT_EQ(size("split(x, h -> (a = 4, b))", "b"), "h//4");
  EXPECT_EQ(size("concat(x: h, x: h -> k)", "k"), "2*h");
  EXPECT_EQ(size("segment_sum(x, o, h -> runs)", "runs"), "e - 1");
  EXPECT_EQ(size("window(x, 0, h -> (p, k = 3))", "p"), "h - 2");
  EXPECT_EQ(size("window(x, 0, h -> (p, k = 3), pad = 1)", "p"), "h");
  const Size strided = floor_div(Size::symbol(0) - Size(1), Size(2)) + Size(1);
  EXPECT_EQ(size("window(x, 0, h -> (p, k = 3), stride = 2, pad = 1)", "p"),
            strided.text([](SymbolId) { return std::string("h"); }));
  EXPECT_EQ(size("window(x, 0, h -> (p, k = 3), dilation = 2)", "p"), "h - 4");
  EXPECT_EQ(size("window(x, 0, h -> (p, k = 2), input_dilation = 2)", "p"), "2*h - 2");
  EXPECT_EQ(size("slice(x, h -> k = -w//2 + h)", "k"), "h - w//2");
  EXPECT_EQ(size("slice(x, h -> k = h % 4 + 1)", "k"), "h + 1 - 4*(h//4)");
}

TEST(TextParse, AnAxisMayBeNamedInASize) {
  EXPECT_EQ(size_in(parsed("op f(x: f32[n, half = n//2, k = half + 1])\nreturn x\n"), "k"), "n//2 + 1");
}

TEST(TextParse, AFactWithAModuloSaysThatASizeDivides) {
  const auto fact = [](const std::string& text) {
    return parsed("op f(x: f32[n, m])\n  where " + text + "\nreturn x\n").constraints[0];
  };
  EXPECT_EQ(fact("n % 2 == 0").kind, SizeConstraint::Kind::Divisible);
  EXPECT_EQ(fact("2*n % 4 == 0").kind, SizeConstraint::Kind::Divisible);
  EXPECT_EQ(fact("2*n % 4 == 0").left, Size(2) * Size::symbol(0));
  EXPECT_EQ(fact("n % 2 == 1").kind, SizeConstraint::Kind::Equal);
  EXPECT_EQ(fact("n + m % 2 == 0").kind, SizeConstraint::Kind::Equal);
  EXPECT_EQ(fact("n == m").kind, SizeConstraint::Kind::Equal);
}

TEST(TextParse, LinesEndAtBracketsCommasAndOperatorsOnlyWhenTheyAreClosed) {
  std::string difference;
  const Graph one_line = parsed("op f(x: f32[n]; a = 1.0); y = x * a + exp(x); return y");
  const Graph broken = parsed(
      "\n# a comment\nop f(x: f32[n];\n     a = 1.0) # and another\n\n  y = x *\n a +\n    exp(\n  "
      "x\n)\n\nreturn\ty\r\n\n");
  EXPECT_TRUE(equivalent(one_line, broken, &difference)) << difference;
}

TEST(TextParse, ANodeKnowsItsLineAndColumn) {
  const Graph graph = parsed("op f(x: f32[n])\n  y = exp(x) * 2\nreturn y\n");
  const Origin product = graph.origins[static_cast<size_t>(graph.outputs[0].node)];
  EXPECT_EQ(product.line, 2);
  EXPECT_EQ(product.column, 14);
  EXPECT_EQ(graph.source_files, std::vector<std::string>{"math"});
}

TEST(TextParse, NamesMayHaveDotsOtherAlphabetsAndBackquotes) {
  const Graph graph =
      parsed("op f(norm.0.weight: f32[ε], `a b`: f32[ε])\n  größe = norm.0.weight + `a b`\nreturn größe\n");
  EXPECT_EQ(graph.inputs[0].name, "norm.0.weight");
  EXPECT_EQ(graph.inputs[1].name, "a b");
  EXPECT_EQ(graph.axes[0].name, "ε");
  EXPECT_EQ(graph.names.begin()->second, "größe");
}

TEST(TextParse, LinesThatThePrinterNamedKeepNoName) {
  EXPECT_TRUE(parsed("op f(x: f32[n])\n  _1 = exp(x)\n  y = _1 + _1\nreturn y\n").names.size() == 1);
}

TEST(TextParse, AnUnnamedOutputIsNumbered) {
  const Graph graph = parsed("op f(x: f32[n])\nreturn x * 2, exp(x)\n");
  EXPECT_EQ(graph.outputs[0].name, "out1");
  EXPECT_EQ(graph.outputs[1].name, "out2");
}

TEST(TextParse, AnOutputListsItsAxesInTheOrderOfTheirFirstAppearance) {
  const Graph graph = parsed("op f(x: f32[a, b], y: f32[c, b])\n  z = contract(y, x, b)\nreturn z, w = z[c, 1, a]\n");
  EXPECT_EQ(graph.outputs[0].dims, (std::vector<AxisId>{0, 2}));
  EXPECT_EQ(graph.outputs[1].dims, (std::vector<AxisId>{2, kUnit, 0}));
}

}  // namespace
}  // namespace kw::ir
