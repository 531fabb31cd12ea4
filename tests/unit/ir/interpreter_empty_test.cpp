// Tensors without elements.
#include "interpreter_case.h"

namespace kw::ir {
namespace {

TEST(InterpreterEmpty, AnAxisWithoutElementsBehindOthersLeavesNothingToDo) {
  InterpreterCase c;
  AxisId i = c.axis("i"), j = c.axis("j"), k = c.axis("k");
  NodeId x = c.tensor("x", DType::F32, {i, j, k}), w = c.tensor("w", DType::F32, {k});
  c.output(c.b.make(Op::Mul, {x, w}), {i, j, k});
  c.give("x", {2, 2, 0}, {}).give("w", {0}, {});
  const Array y = c.run();
  EXPECT_EQ(y.shape, (std::vector<int64_t>{2, 2, 0}));
  EXPECT_TRUE(y.values.empty());
}

TEST(InterpreterEmpty, ReductionsOfNothingGiveTheirIdentity) {
  InterpreterCase c;
  AxisId i = c.axis("i"), j = c.axis("j"), k = c.axis("k");
  NodeId x = c.tensor("x", DType::F32, {i, j, k}), w = c.tensor("w", DType::F32, {k});
  NodeId product = c.b.make(Op::Mul, {x, w});
  c.output(c.b.reduce(Op::Sum, product, {k}), {i, j}, "sum");
  c.give("x", {2, 2, 0}, {}).give("w", {0}, {});
  EXPECT_EQ(c.run().values, (std::vector<double>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace kw::ir
