// Sizes are solved from the shapes that a call gives; what does not fit is said with its dimension.
#include "interpreter_case.h"
#include "ir/interpreter/philox.h"

namespace kw::ir {
namespace {

using Values = std::vector<double>;

TEST(InterpreterSizes, AMissingTensorAnUnknownOneAndAWrongRankAreErrors) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), m = c.axis("m");
  c.output(c.b.make(Op::Neg, {c.tensor("hidden", DType::F32, {n, m})}), {n, m});
  EXPECT_EQ(c.error(), "the input hidden is missing");
  c.give("hidden", {2}, {1, 2});
  EXPECT_EQ(c.error(), "the input hidden has 2 dimensions, but the tensor given has the shape [2]");
  c.give("hidden", {2, 2}, {1, 2, 3});
  EXPECT_EQ(c.error(), "the input hidden of shape [2, 2] has 3 values");
  c.give("hidden", {1, 1}, {1}).give("hiden", {}, {1});
  const auto result = c.try_run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "op has no input hiden");
  EXPECT_NE(result.error().hint.find("hidden"), std::string::npos);
}

TEST(InterpreterSizes, ContradictoryShapesNameTheDimension) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(Op::Add, {c.tensor("x", DType::F32, {n}), c.tensor("y", DType::F32, {n})}), {n});
  c.give("x", {3}, {1, 2, 3}).give("y", {2}, {1, 2});
  EXPECT_EQ(c.error(), "dimension 0 of y is 2, but n is 3");
}

TEST(InterpreterSizes, ASymbolIsSolvedFromASizeThatItIsPartOf) {
  InterpreterCase c;
  const Size half = Size::symbol(c.b.symbol("half")), heads = Size::symbol(c.b.symbol("heads"));
  const AxisId x_axis = c.axis("d", Size(2) * half + Size(1)), y_axis = c.axis("w", heads * half);
  const NodeId x = c.tensor("x", DType::F32, {x_axis}), y = c.tensor("y", DType::F32, {y_axis});
  c.output(c.b.make(Op::Add, {c.b.reduce(Op::Sum, x, {x_axis}), c.b.size_of(half)}), {});
  c.output(c.b.make(Op::Add, {c.b.reduce(Op::Sum, y, {y_axis}), c.b.size_of(heads)}), {}, "heads");
  c.give("x", {7}, Values(7, 0)).give("y", {12}, Values(12, 0));
  const auto out = c.try_run();
  ASSERT_TRUE(out);
  EXPECT_EQ(out->at(0).values, (Values{3}));
  EXPECT_EQ(out->at(1).values, (Values{4}));
  c.give("x", {8}, Values(8, 0));
  EXPECT_NE(c.error(), "");
}

TEST(InterpreterSizes, ASizeThatTwoValuesFitIsNotGuessed) {
  InterpreterCase c;
  const Size n = Size::symbol(c.b.symbol("n"));
  const AxisId pooled = c.axis("pooled", floor_div(n, Size(2)));
  c.output(c.b.make(Op::Add, {c.tensor("x", DType::F32, {pooled}), c.b.size_of(n)}), {pooled});
  c.give("x", {2}, {0, 0});
  EXPECT_EQ(c.error(), "cannot tell the sizes in dimension 0 of x, which is n//2");
  c.call.sizes["n"] = 5;
  EXPECT_EQ(c.run().values, (Values{5, 5}));
  c.call.sizes["n"] = 7;
  EXPECT_EQ(c.error(), "dimension 0 of x is 2, but n//2 is 3");
  c.call.sizes["m"] = 7;
  EXPECT_EQ(c.error(), "op has no size m");
}

TEST(InterpreterSizes, ASizeThatNoShapeGivesIsAskedFor) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(Op::Iota, {}, AxisList{{n}}), {n});
  EXPECT_EQ(c.error(), "no shape determines the size n");
  c.call.sizes["n"] = 3;
  EXPECT_EQ(c.run().values, (Values{0, 1, 2}));
}

TEST(InterpreterSizes, ConstraintsAreChecked) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), m = c.axis("m");
  const NodeId x = c.tensor("x", DType::F32, {n}), y = c.tensor("y", DType::F32, {m});
  c.b.constrain({SizeConstraint::Kind::Divisible, c.size(n), Size(4)});
  c.b.constrain({SizeConstraint::Kind::Equal, c.size(m), floor_div(c.size(n), Size(4))});
  c.output(c.b.make(Op::Mul, {x, y}), {n, m});
  c.give("x", {8}, Values(8, 1)).give("y", {2}, {1, 1});
  EXPECT_EQ(c.run().values.size(), 16u);
  c.give("x", {9}, Values(9, 1));
  EXPECT_NE(c.error().find("n must be a multiple of 4"), std::string::npos) << c.error();
  c.give("x", {8}, Values(8, 1)).give("y", {3}, {1, 1, 1});
  EXPECT_NE(c.error().find("must equal"), std::string::npos) << c.error();
}

TEST(InterpreterSizes, ASplitThatDoesNotComeOutEvenIsAnError) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), inner = c.axis("inner", Size(4)),
               outer = c.axis("outer", floor_div(c.size(n), Size(4)));
  c.output(c.b.make(Op::Split, {c.tensor("x", DType::F32, {n})}, SplitAttr{n, outer, inner}), {outer, inner});
  c.give("x", {8}, Values(8, 1));
  EXPECT_EQ(c.run().values.size(), 8u);
  c.give("x", {9}, Values(9, 1));
  EXPECT_NE(c.error(), "");
}

// ---- random numbers: known answers of the Random123 distribution ----
TEST(InterpreterRandom, PhiloxGivesThePublishedAnswers) {
  EXPECT_EQ(philox_4x32_10({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox_4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox_4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(InterpreterRandom, ElementsAreCountedRowMajorInTheOrderOfTheListedAxes) {
  InterpreterCase c;
  const AxisId a = c.axis("a"), b = c.axis("b");
  const NodeId random = c.b.make(Op::Random, {c.b.integer(1234567890123), c.b.integer(1000)}, AxisList{{b, a}});
  c.output(random, {a, b});
  c.call.sizes = {{"a", 2}, {"b", 3}};
  const Array out = c.run(kBounded);
  for (uint64_t i = 0; i < 2; ++i)
    for (uint64_t j = 0; j < 3; ++j) EXPECT_EQ(out.values[i * 3 + j], philox_uniform(1234567890123, 1000 + j * 2 + i));
  EXPECT_EQ(c.run().values, out.values);
}

TEST(InterpreterRandom, ValuesAreUniformInTheUnitIntervalAndExactInF32) {
  double sum = 0, least = 1, most = 0;
  for (uint64_t i = 0; i < 100000; ++i) {
    const double x = philox_uniform(42, i);
    ASSERT_EQ(x, static_cast<float>(x));
    sum += x;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);  // 5 standard deviations
  EXPECT_GE(least, 0);
  EXPECT_LT(least, 1e-3);
  EXPECT_LT(most, 1);
  EXPECT_GT(most, 0.999);
}

}  // namespace
}  // namespace kw::ir
