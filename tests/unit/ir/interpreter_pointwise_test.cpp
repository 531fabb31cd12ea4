#include "interpreter_case.h"

namespace kw::ir {
namespace {
TEST(InterpreterPointwise, Smoke) {
  InterpreterCase c;
  AxisId rows = c.axis("rows"), cols = c.axis("cols");
  NodeId x = c.tensor("x", DType::F32, {rows, cols});
  NodeId w = c.tensor("w", DType::F32, {cols});
  NodeId ms = c.b.make(Op::Mean, {c.b.make(Op::Mul, {x, x})}, AxisList{{cols}});
  NodeId y = c.b.make(Op::Mul, {c.b.make(Op::Mul, {x, c.b.make(Op::Rsqrt, {ms})}), w});
  c.output(y, {rows, cols});
  c.give("x", {2, 2}, {1, 1, 2, 2}).give("w", {2}, {1, 10});
  Array out = c.run();
  EXPECT_EQ(out.values, (std::vector<double>{1, 10, 1, 10}));
  out = c.run(kBounded);
  EXPECT_EQ(out.values, (std::vector<double>{1, 10, 1, 10}));
  EXPECT_EQ(out.bounds.size(), 4u);
  for (double e : out.bounds) EXPECT_TRUE(e > 0 && e < 1e-4) << e;
}
}  // namespace
}  // namespace kw::ir
