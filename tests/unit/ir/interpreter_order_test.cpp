// Sorting and top-k: stable, NaN largest, ties to the first.
#include <cmath>
#include <limits>

#include "interpreter_case.h"

namespace kw::ir {
namespace {

using Values = std::vector<double>;
const double kNaN = std::numeric_limits<double>::quiet_NaN();

Values sorted(Op op, Values x, bool descending) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(op, {c.tensor("x", DType::F32, {n})}, SortAttr{n, descending}), {n});
  const auto count = static_cast<int64_t>(x.size());
  c.give("x", {count}, std::move(x));
  const Values real = c.run().values;
  return real;
}

Values top(Op op, Values x, int64_t k, bool largest) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), to = c.axis("k", Size(k));
  c.output(c.b.make(op, {c.tensor("x", DType::F32, {n})}, TopKAttr{n, to, largest}), {to});
  const auto count = static_cast<int64_t>(x.size());
  c.give("x", {count}, std::move(x));
  return c.run().values;
}

TEST(InterpreterOrder, SortIsStableInBothDirections) {
  EXPECT_EQ(sorted(Op::Sort, {3, 1, 2, 1}, false), (Values{1, 1, 2, 3}));
  EXPECT_EQ(sorted(Op::Sort, {3, 1, 2, 1}, true), (Values{3, 2, 1, 1}));
  EXPECT_EQ(sorted(Op::ArgSort, {3, 1, 2, 1, 3}, false), (Values{1, 3, 2, 0, 4}));
  EXPECT_EQ(sorted(Op::ArgSort, {3, 1, 2, 1, 3}, true), (Values{0, 4, 2, 1, 3}));
}

TEST(InterpreterOrder, NaNIsLargest) {
  EXPECT_EQ(sorted(Op::ArgSort, {3, kNaN, 1}, false), (Values{2, 0, 1}));
  EXPECT_EQ(sorted(Op::ArgSort, {3, kNaN, 1}, true), (Values{1, 0, 2}));
  EXPECT_EQ(top(Op::ArgTopK, {3, kNaN, 1, 5}, 2, true), (Values{1, 3}));
  EXPECT_EQ(top(Op::ArgTopK, {3, kNaN, 1, 5}, 2, false), (Values{2, 0}));
}

TEST(InterpreterOrder, TopKIsSortedAndTakesTheFirstOfEqualValues) {
  EXPECT_EQ(top(Op::TopK, {1, 5, 3, 5, 2}, 3, true), (Values{5, 5, 3}));
  EXPECT_EQ(top(Op::ArgTopK, {1, 5, 3, 5, 2}, 3, true), (Values{1, 3, 2}));
  EXPECT_EQ(top(Op::TopK, {4, 1, 3, 1}, 2, false), (Values{1, 1}));
  EXPECT_EQ(top(Op::ArgTopK, {4, 1, 3, 1}, 2, false), (Values{1, 3}));
  EXPECT_EQ(top(Op::TopK, {4}, 0, true), Values{});
}

TEST(InterpreterOrder, TopKOfTooFewValuesIsAnError) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), to = c.axis("k", Size(3));
  c.output(c.b.make(Op::TopK, {c.tensor("x", DType::F32, {n})}, TopKAttr{n, to, true}), {to});
  c.give("x", {2}, {1, 2});
  EXPECT_NE(c.error().find("3 of only 2 values"), std::string::npos) << c.error();
}

TEST(InterpreterOrder, AMiddleAxisIsOrderedLineByLine) {
  InterpreterCase c;
  const AxisId a = c.axis("a"), n = c.axis("n"), b = c.axis("b"), k = c.axis("k", Size(2));
  const NodeId x = c.tensor("x", DType::F32, {a, n, b});
  c.output(c.b.make(Op::Sort, {x}, SortAttr{n, false}), {a, n, b}, "sorted");
  c.output(c.b.make(Op::ArgTopK, {x}, TopKAttr{n, k, true}), {b, k, a}, "best");
  c.give("x", {2, 3, 2}, {3, 6, 2, 5, 1, 4, 7, 10, 9, 12, 8, 11});
  const auto out = c.try_run();
  ASSERT_TRUE(out);
  EXPECT_EQ(out->at(0).values, (Values{1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12}));
  EXPECT_EQ(out->at(1).values, (Values{0, 1, 1, 2, 0, 1, 1, 2}));
}

}  // namespace
}  // namespace kw::ir
