// What random graphs have found.
#include <gtest/gtest.h>

#include <cmath>

#include "interpreter_case.h"
#include "ir/derivative/derivative.h"

namespace kw::ir {
namespace {

// One part joins an axis that the other keeps: x[a, b] joined along b, and x again along a.
struct CrossedConcat : InterpreterCase {
  AxisId a = axis("a"), b_axis = axis("b");
  AxisId joined = axis("joined", size(a) + size(b_axis));
  NodeId x = tensor("x", DType::F64, {a, b_axis});
  NodeId y = b.make(Op::Concat, {x, x}, ConcatAttr{{b_axis, a}, joined});

  CrossedConcat() {
    output(y, {a, b_axis, joined});
    give("x", {2, 3}, {1, 2, 3, 4, 5, 6});
  }
};

TEST(FoundByRandomGraphs, APartIsConstantAlongTheAxisThatItJoinsAndAnotherKeeps) {
  CrossedConcat c;
  std::vector<double> expected;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) expected.push_back(1 + 3 * i + k);  // x[i, :], whatever j
      for (int k = 0; k < 2; ++k) expected.push_back(1 + 3 * k + j);  // x[:, j], whatever i
    }
  EXPECT_EQ(c.run().values, expected);
}

TEST(FoundByRandomGraphs, ThatPartsGradientIsSummedOverTheAxisOnce) {
  CrossedConcat c;
  Result<Graph> joint = differentiate(c.b.graph());
  ASSERT_TRUE(joint.has_value()) << joint.error().message;
  c.give("d_y", {2, 3, 5}, std::vector<double>(30, 1.0));
  auto outputs = interpret(*joint, c.call);
  ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
  // Each element stands 3 times in the first part (once per j) and 2 times in the second (once per i).
  EXPECT_EQ(outputs->at(1).values, std::vector<double>(6, 5.0));
}

TEST(FoundByRandomGraphs, AnUnboundedFactorMakesAnExactMultipleUnbounded) {
  // A value scattered to an uncertain place may be anywhere: its multiple is no more certain than itself.
  InterpreterCase c;
  AxisId n = c.axis("n"), m = c.axis("m", c.size(n));
  NodeId x = c.tensor("x", DType::F32, {n});
  NodeId inexact = c.b.make(Op::Exp, {x});
  NodeId source = c.b.make(Op::Rename, {inexact}, RenameAttr{{{n, m}}});
  NodeId order = c.b.make(Op::ArgSort, {source}, SortAttr{m, false});
  NodeId scattered = c.b.make(Op::ScatterSet, {inexact, order, source}, AxisList{{n}});
  c.output(c.b.make(Op::Mul, {scattered, c.b.constant(0.0625)}), {n});
  c.give("x", {2}, {1.3, 1.3});
  for (double bound : c.run(kBounded).bounds) EXPECT_TRUE(std::isinf(bound));
}

}  // namespace
}  // namespace kw::ir
