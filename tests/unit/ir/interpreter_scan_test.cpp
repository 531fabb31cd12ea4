// Scans along one axis: forward and backward, inclusive and exclusive, with any combine.
#include <cmath>
#include <limits>

#include "interpreter_case.h"

namespace kw::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> scan(Op op, std::vector<double> x, bool reverse, bool exclusive) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(op, {c.tensor("x", DType::F64, {n})}, ScanAttr{n, reverse, exclusive}), {n});
  const auto count = static_cast<int64_t>(x.size());
  c.give("x", {count}, std::move(x));
  const std::vector<double> real = c.run().values;
  EXPECT_EQ(c.run(kBounded).values, real);
  return real;
}

using Values = std::vector<double>;

TEST(InterpreterScan, SumsRunForwardsAndBackwardsWithAndWithoutTheirOwnElement) {
  EXPECT_EQ(scan(Op::CumSum, {1, 2, 3, 4}, false, false), (Values{1, 3, 6, 10}));
  EXPECT_EQ(scan(Op::CumSum, {1, 2, 3, 4}, false, true), (Values{0, 1, 3, 6}));
  EXPECT_EQ(scan(Op::CumSum, {1, 2, 3, 4}, true, false), (Values{10, 9, 7, 4}));
  EXPECT_EQ(scan(Op::CumSum, {1, 2, 3, 4}, true, true), (Values{9, 7, 4, 0}));
}

TEST(InterpreterScan, ProductsAndExtremes) {
  EXPECT_EQ(scan(Op::CumProd, {2, 3, 4}, false, false), (Values{2, 6, 24}));
  EXPECT_EQ(scan(Op::CumProd, {2, 3, 4}, true, true), (Values{12, 4, 1}));
  EXPECT_EQ(scan(Op::CumMax, {1, 3, 2, 5, 4}, false, false), (Values{1, 3, 3, 5, 5}));
  EXPECT_EQ(scan(Op::CumMax, {1, 3, 2, 5, 4}, true, false), (Values{5, 5, 5, 5, 4}));
  EXPECT_EQ(scan(Op::CumMax, {1, 3}, false, true), (Values{-kInf, 1}));
  EXPECT_EQ(scan(Op::CumMin, {3, 1, 2}, false, false), (Values{3, 1, 1}));
}

TEST(InterpreterScan, LogSumExpKeepsLargeAndAbsentTerms) {
  const Values y = scan(Op::CumLogSumExp, {-kInf, 1000, 1000}, false, false);
  EXPECT_EQ(y[0], -kInf);
  EXPECT_EQ(y[1], 1000);
  EXPECT_NEAR(y[2], 1000 + std::log(2.0), 1e-12);
}

TEST(InterpreterScan, AMiddleAxisIsScannedLineByLine) {
  InterpreterCase c;
  const AxisId a = c.axis("a"), n = c.axis("n"), b = c.axis("b");
  c.output(c.b.make(Op::CumSum, {c.tensor("x", DType::I32, {a, n, b})}, ScanAttr{n}), {a, n, b});
  c.give("x", {2, 3, 2}, {1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60});
  EXPECT_EQ(c.run().values, (Values{1, 10, 3, 30, 6, 60, 4, 40, 9, 90, 15, 150}));
}

TEST(InterpreterScan, ANaNStays) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(Op::CumMax, {c.tensor("x", DType::F32, {n})}, ScanAttr{n}), {n});
  c.give("x", {3}, {1, nan, 3});
  const Values y = c.run().values;
  EXPECT_EQ(y[0], 1);
  EXPECT_TRUE(std::isnan(y[1]) && std::isnan(y[2]));
}

// y[i] = a[i] y[i-1] + b[i], as the combine (a, b) ∘ (c, d) = (ac, bc + d).
std::shared_ptr<const Combine> linear_recurrence() {
  GraphBuilder b;
  std::vector<NodeId> v;
  for (const char* name : {"a", "b", "c", "d"}) {
    Input input;
    input.name = name;
    input.type = DType::F64;
    v.push_back(b.input(input));
  }
  b.output({"decay", b.make(Op::Mul, {v[0], v[2]}), {}, {}});
  b.output({"state", b.make(Op::Add, {b.make(Op::Mul, {v[1], v[2]}), v[3]}), {}, {}});
  return std::make_shared<Combine>(Combine{std::make_shared<Graph>(std::move(b).finish()), {1, 0}});
}

TEST(InterpreterScan, APairCombineRunsALinearRecurrence) {
  for (bool exclusive : {false, true})
    for (int64_t length : {1, 2, 3, 8, 13}) {
      InterpreterCase c;
      const AxisId n = c.axis("n"), r = c.axis("r");
      const NodeId decay = c.tensor("a", DType::F64, {n}), input = c.tensor("b", DType::F64, {r, n});
      c.output(c.b.make(Op::Scan, {decay, input}, CombineAttr{linear_recurrence(), 1, n, false, exclusive}), {r, n});
      Values a, b, expected(static_cast<size_t>(2 * length));
      for (int64_t i = 0; i < length; ++i) a.push_back(static_cast<double>(i % 3) - 1);
      for (int64_t i = 0; i < 2 * length; ++i) b.push_back(static_cast<double>(i % 7));
      for (int64_t row = 0; row < 2; ++row) {
        double y = 0;
        for (int64_t i = 0; i < length; ++i) {
          const auto at = static_cast<size_t>(row * length + i);
          if (exclusive) expected[at] = y;
          y = a[static_cast<size_t>(i)] * y + b[at];
          if (!exclusive) expected[at] = y;
        }
      }
      c.give("a", {length}, a).give("b", {2, length}, b);
      EXPECT_EQ(c.run().values, expected) << exclusive << length;
      EXPECT_EQ(c.run(kBounded).values, expected) << exclusive << length;
    }
}

TEST(InterpreterScan, AScanFromTheEndCombinesInTheOrderOfTheAxis) {
  // With (a, b) ∘ (c, d) = (ac, bc + d): (3,10) ∘ (5,100) = (15, 150), then (2,1) ∘ (15,150) = (30, 165).
  for (bool exclusive : {false, true}) {
    InterpreterCase c;
    const AxisId n = c.axis("n");
    c.output(c.b.make(Op::Scan, {c.tensor("a", DType::F64, {n}), c.tensor("b", DType::F64, {n})},
                      CombineAttr{linear_recurrence(), 1, n, true, exclusive}),
             {n});
    c.give("a", {3}, {2, 3, 5}).give("b", {3}, {1, 10, 100});
    EXPECT_EQ(c.run().values, exclusive ? (Values{150, 100, 0}) : (Values{165, 150, 100}));
  }
}

}  // namespace
}  // namespace kw::ir
