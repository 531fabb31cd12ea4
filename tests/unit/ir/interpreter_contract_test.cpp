// Contraction against loops, in the shapes that attention, linear layers and einsum give it.
#include <cmath>
#include <random>

#include "interpreter_case.h"

namespace kw::ir {
namespace {

using Values = std::vector<double>;

Values random_values(size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  Values values(n);
  for (double& v : values) v = static_cast<double>(generator() % 41) / 8 - 2.5;
  return values;
}

TEST(InterpreterContract, AMatrixProductOfAnySizeMatchesLoops) {
  for (const auto& [rows, depth, cols] : {std::tuple{1, 1, 1}, {3, 5, 2}, {7, 130, 9}, {4, 129, 300}, {2, 0, 3}}) {
    const auto m = static_cast<size_t>(rows), k = static_cast<size_t>(depth), n = static_cast<size_t>(cols);
    InterpreterCase c;
    const AxisId am = c.axis("m"), ak = c.axis("k"), an = c.axis("n");
    const NodeId a = c.tensor("a", DType::F32, {am, ak}), b = c.tensor("b", DType::F32, {ak, an});
    c.output(c.b.make(Op::Contract, {a, b}, AxisList{{ak}}), {am, an}, "y");
    c.output(c.b.make(Op::Contract, {b, a}, AxisList{{ak}}), {an, am}, "turned");
    const Values x = random_values(m * k, 1), y = random_values(k * n, 2);
    c.give("a", {rows, depth}, x).give("b", {depth, cols}, y);
    Values expected(m * n), turned(m * n);
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (size_t l = 0; l < k; ++l) sum += x[i * k + l] * y[l * n + j];
        expected[i * n + j] = turned[j * m + i] = sum;  // exact: eighths
      }
    for (const InterpretOptions& options : {InterpretOptions{}, kBounded}) {
      const auto out = c.try_run(options);
      ASSERT_TRUE(out);
      EXPECT_EQ(out->at(0).values, expected);
      EXPECT_EQ(out->at(1).values, turned);
    }
  }
}

TEST(InterpreterContract, BatchesOuterAxesAndSeveralContractedAxes) {
  // y[b, i, j] = Σ over k, l of p[k, b, i, l] q[l, j, b, k]
  InterpreterCase c;
  const AxisId b = c.axis("b", Size(2)), i = c.axis("i", Size(3)), j = c.axis("j", Size(4)), k = c.axis("k", Size(5)),
               l = c.axis("l", Size(6));
  const NodeId p = c.tensor("p", DType::F64, {k, b, i, l}), q = c.tensor("q", DType::F64, {l, j, b, k});
  c.output(c.b.make(Op::Contract, {p, q}, AxisList{{k, l}}), {j, b, i});
  const Values ps = random_values(180, 3), qs = random_values(240, 4);
  c.give("p", {5, 2, 3, 6}, ps).give("q", {6, 4, 2, 5}, qs);
  Values expected;
  for (size_t ij = 0; ij < 4; ++ij)
    for (size_t ib = 0; ib < 2; ++ib)
      for (size_t ii = 0; ii < 3; ++ii) {
        double sum = 0;
        for (size_t ik = 0; ik < 5; ++ik)
          for (size_t il = 0; il < 6; ++il)
            sum += ps[((ik * 2 + ib) * 3 + ii) * 6 + il] * qs[((il * 4 + ij) * 2 + ib) * 5 + ik];
        expected.push_back(sum);
      }
  EXPECT_EQ(c.run().values, expected);
  EXPECT_EQ(c.run(kBounded).values, expected);
}

TEST(InterpreterContract, AnAxisOfOneOperandAloneIsSummed) {
  InterpreterCase c;
  const AxisId i = c.axis("i"), k = c.axis("k");
  c.output(c.b.make(Op::Contract, {c.tensor("a", DType::F32, {i, k}), c.tensor("b", DType::F32, {i})}, AxisList{{k}}),
           {i});
  c.give("a", {2, 3}, {1, 2, 3, 4, 5, 6}).give("b", {2}, {10, 100});
  EXPECT_EQ(c.run().values, (Values{60, 1500}));
}

TEST(InterpreterContract, Bf16ProductsAreAccumulatedExactlyAndRoundedOnce) {
  InterpreterCase c;
  const AxisId k = c.axis("k");
  c.output(c.b.make(Op::Contract, {c.tensor("a", DType::BF16, {k}), c.tensor("b", DType::BF16, {k})}, AxisList{{k}}),
           {});
  c.give("a", {1000}, Values(1000, 1)).give("b", {1000}, Values(1000, 1));
  EXPECT_EQ(c.run(kRounded).values, (Values{1000}));
}

TEST(InterpreterContract, InF64TheOracleIsMoreExactThanARunningSum) {
  InterpreterCase c;
  const AxisId k = c.axis("k");
  c.output(c.b.make(Op::Contract, {c.tensor("a", DType::F64, {k}), c.tensor("b", DType::F64, {k})}, AxisList{{k}}), {});
  c.give("a", {3}, {1e16, 1, -1e16}).give("b", {3}, {1, 1, 1});
  EXPECT_EQ(c.run(kRounded).values, (Values{1}));
  const double x = 1 + 0x1p-30;  // x² - (x² rounded) is 2^-60
  c.give("a", {2}, {x, -1}).give("b", {2}, {x, x * x});
  EXPECT_EQ(c.run(kRounded).values, (Values{0x1p-60}));
}

TEST(InterpreterContract, NaNAndInfinityReachTheirOwnElementsOnly) {
  InterpreterCase c;
  const AxisId i = c.axis("i"), k = c.axis("k");
  c.output(c.b.make(Op::Contract, {c.tensor("a", DType::F32, {i, k}), c.tensor("b", DType::F32, {k})}, AxisList{{k}}),
           {i});
  const double inf = INFINITY, nan = NAN;
  c.give("a", {3, 2}, {inf, 1, nan, 1, 1, 1}).give("b", {2}, {1, 1});
  const Array out = c.run(kBounded);
  EXPECT_EQ(out.values[0], inf);
  EXPECT_TRUE(std::isnan(out.values[1]));
  EXPECT_EQ(out.values[2], 2);
  EXPECT_EQ(out.bounds[0], 0);
  EXPECT_EQ(out.bounds[1], 0);
}

}  // namespace
}  // namespace kw::ir
