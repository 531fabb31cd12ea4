// Every pointwise primitive on its own, in both semantics.
#include <cmath>
#include <functional>
#include <limits>

#include "interpreter_case.h"

namespace kw::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

void expect_same(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i];
    else
      EXPECT_EQ(got[i], expected[i]) << "element " << i;
  }
}

std::vector<double> unary(Op op, DType type, std::vector<double> x, const InterpretOptions& options = {}) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(op, {c.tensor("x", type, {n})}), {n});
  const auto count = static_cast<int64_t>(x.size());
  return c.give("x", {count}, std::move(x)).run(options).values;
}

std::vector<double> binary(Op op, DType left, std::vector<double> x, DType right, std::vector<double> y,
                           const InterpretOptions& options = {}) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  const NodeId a = c.tensor("x", left, {n}), b = c.tensor("y", right, {n});
  c.output(c.b.make(op, {a, b}), {n});
  const auto count = static_cast<int64_t>(x.size());
  return c.give("x", {count}, std::move(x)).give("y", {count}, std::move(y)).run(options).values;
}

struct UnaryFunction {
  Op op;
  std::function<double(double)> f;
  std::vector<double> at;
};

std::vector<UnaryFunction> unary_functions() {
  const std::vector<double> all{-2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 3.25, 1e-8};
  const std::vector<double> positive{0.25, 1, 2, 7.5, 1e-8, 300};
  const std::vector<double> unit{-0.99, -0.5, -1e-9, 0, 0.5, 0.99};
  return {
      {Op::Neg, [](double x) { return -x; }, all},
      {Op::Abs, [](double x) { return std::abs(x); }, all},
      {Op::Sign, [](double x) { return x > 0   ? 1.0
                                       : x < 0 ? -1.0
                                               : 0.0; }, all},
      {Op::Floor, [](double x) { return std::floor(x); }, all},
      {Op::Ceil, [](double x) { return std::ceil(x); }, all},
      {Op::Round, [](double x) { return std::rint(x); }, all},
      {Op::Trunc, [](double x) { return std::trunc(x); }, all},
      {Op::Sqrt, [](double x) { return std::sqrt(x); }, positive},
      {Op::Rsqrt, [](double x) { return 1 / std::sqrt(x); }, positive},
      {Op::Exp, [](double x) { return std::exp(x); }, all},
      {Op::Exp2, [](double x) { return std::exp2(x); }, all},
      {Op::Expm1, [](double x) { return std::expm1(x); }, all},
      {Op::Log, [](double x) { return std::log(x); }, positive},
      {Op::Log2, [](double x) { return std::log2(x); }, positive},
      {Op::Log1p, [](double x) { return std::log1p(x); }, positive},
      {Op::Sin, [](double x) { return std::sin(x); }, all},
      {Op::Cos, [](double x) { return std::cos(x); }, all},
      {Op::Tan, [](double x) { return std::tan(x); }, all},
      {Op::Asin, [](double x) { return std::asin(x); }, unit},
      {Op::Acos, [](double x) { return std::acos(x); }, unit},
      {Op::Atan, [](double x) { return std::atan(x); }, all},
      {Op::Sinh, [](double x) { return std::sinh(x); }, all},
      {Op::Cosh, [](double x) { return std::cosh(x); }, all},
      {Op::Tanh, [](double x) { return std::tanh(x); }, all},
      {Op::Asinh, [](double x) { return std::asinh(x); }, all},
      {Op::Acosh, [](double x) { return std::acosh(x); }, {1, 1.5, 10}},
      {Op::Atanh, [](double x) { return std::atanh(x); }, unit},
      {Op::Erf, [](double x) { return std::erf(x); }, all},
      {Op::Erfc, [](double x) { return std::erfc(x); }, all},
      {Op::Sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, all},
      {Op::StopGradient, [](double x) { return x; }, all},
  };
}

TEST(InterpreterPointwise, FunctionsOfOneOperandAreThoseOfTheLibrary) {
  for (const UnaryFunction& function : unary_functions()) {
    SCOPED_TRACE(std::string(info(function.op).name));
    std::vector<double> expected, rounded, bf16;
    for (double x : function.at) {
      expected.push_back(function.f(x));
      rounded.push_back(static_cast<float>(function.f(static_cast<float>(x))));
      bf16.push_back(round_to(DType::BF16, static_cast<float>(function.f(round_to(DType::BF16, x)))));
    }
    expect_same(unary(function.op, DType::F32, function.at), expected);
    expect_same(unary(function.op, DType::F32, function.at, kRounded), rounded);
    expect_same(unary(function.op, DType::BF16, function.at, kRounded), bf16);
  }
}

TEST(InterpreterPointwise, ErfinvIsTheInverseOfErfToTheLastDigits) {
  std::vector<double> x{0, 1e-300, -1e-8, 0.1, -0.499, 0.5, 0.75, -0.9999, 1 - 1e-12, 1 - 0x1p-53};
  const std::vector<double> y = unary(Op::Erfinv, DType::F64, x);
  for (size_t i = 0; i < x.size(); ++i) {
    // erf is flat near its ends; there erfc keeps the digits.
    const double back = std::copysign(1 - std::erfc(std::abs(y[i])), x[i]);
    EXPECT_NEAR(std::abs(x[i]) < 0.5 ? std::erf(y[i]) : back, x[i], 4e-16 * std::abs(x[i]) + 1e-310) << x[i];
  }
  expect_same(unary(Op::Erfinv, DType::F64, {1, -1, 1.5, kNaN}), {kInf, -kInf, kNaN, kNaN});
  EXPECT_NEAR(y[6], 0.81341984759761855, 2e-16);  // erfinv(0.75)
}

TEST(InterpreterPointwise, RoundHalvesGoToEven) {
  expect_same(unary(Op::Round, DType::F32, {0.5, 1.5, 2.5, -0.5, -1.5}), {0, 2, 2, -0.0, -2});
}

TEST(InterpreterPointwise, SpecialValuesFollowPyTorch) {
  expect_same(unary(Op::Sign, DType::F32, {kNaN, kInf, -0.0}), {0, 1, 0});
  expect_same(unary(Op::Sqrt, DType::F32, {-1, kInf}), {kNaN, kInf});
  expect_same(unary(Op::Log, DType::F32, {0, -1}), {-kInf, kNaN});
  expect_same(unary(Op::Exp, DType::F32, {100, -kInf}, kRounded), {kInf, 0});
  expect_same(unary(Op::Exp, DType::F16, {12}, kRounded), {kInf});
  expect_same(unary(Op::Sigmoid, DType::F32, {-kInf, kInf, -1000}), {0, 1, 0});
  for (Op op : {Op::Max, Op::Min}) {
    SCOPED_TRACE(std::string(info(op).name));
    expect_same(binary(op, DType::F32, {kNaN, 1, kNaN}, DType::F32, {1, kNaN, kNaN}), {kNaN, kNaN, kNaN});
  }
}

TEST(InterpreterPointwise, ArithmeticOfTwoOperands) {
  const std::vector<double> a{7, -7, 7.5, -7.5, 0.5}, b{3, 3, -2, -2, 0.25};
  auto real = [&](Op op) { return binary(op, DType::F32, a, DType::F32, b); };
  expect_same(real(Op::Add), {10, -4, 5.5, -9.5, 0.75});
  expect_same(real(Op::Sub), {4, -10, 9.5, -5.5, 0.25});
  expect_same(real(Op::Mul), {21, -21, -15, 15, 0.125});
  expect_same(real(Op::Div), {7.0 / 3, -7.0 / 3, -3.75, 3.75, 2});
  expect_same(real(Op::FloorDiv), {2, -3, -4, 3, 2});
  expect_same(real(Op::Mod), {1, 2, -0.5, -1.5, 0});
  expect_same(real(Op::Max), {7, 3, 7.5, -2, 0.5});
  expect_same(real(Op::Min), {3, -7, -2, -7.5, 0.25});
  expect_same(real(Op::Lt), {0, 1, 0, 1, 0});
  expect_same(real(Op::Le), {0, 1, 0, 1, 0});
  expect_same(real(Op::Ne), {1, 1, 1, 1, 1});
  expect_same(binary(Op::Le, DType::F32, {1, 2}, DType::F32, {1, 1}), {1, 0});
  expect_same(binary(Op::Eq, DType::F32, {1, kNaN, kInf}, DType::F32, {1, kNaN, kInf}), {1, 0, 1});
  expect_same(binary(Op::Pow, DType::F32, {2, 9, -2, 0}, DType::F32, {10, 0.5, 3, 0}), {1024, 3, -8, 1});
  expect_same(binary(Op::Pow, DType::F32, {-8}, DType::F32, {1.0 / 3}), {kNaN});
  expect_same(binary(Op::Atan2, DType::F32, {1, -1}, DType::F32, {-1, -1}), {std::atan2(1, -1), std::atan2(-1, -1)});
  expect_same(binary(Op::FloorDiv, DType::F32, {5, -5, 5}, DType::F32, {0, 0, kInf}), {kInf, -kInf, 0});
  expect_same(binary(Op::Mod, DType::F32, {5}, DType::F32, {0}), {kNaN});
}

TEST(InterpreterPointwise, FloorDivisionIsThatOfTheExactQuotient) {
  // 1 / 0.1f rounds to 10 in f32 although the quotient is below it.
  const double tenth = static_cast<float>(0.1);
  ASSERT_EQ(static_cast<float>(1 / tenth), 10);
  expect_same(binary(Op::FloorDiv, DType::F32, {1}, DType::F32, {tenth}, kRounded), {9});
}

TEST(InterpreterPointwise, IntegersWrapShiftAndDivideLikePyTorch) {
  expect_same(binary(Op::Add, DType::U8, {250}, DType::U8, {10}), {4});
  expect_same(binary(Op::Mul, DType::I8, {100}, DType::I8, {2}), {-56});
  expect_same(binary(Op::Mul, DType::I32, {65536}, DType::I32, {65537}), {65536});
  expect_same(unary(Op::Neg, DType::U8, {1}), {255});
  expect_same(unary(Op::Not, DType::U8, {0b10100101}), {0b01011010});
  expect_same(unary(Op::Not, DType::I32, {5}), {-6});
  expect_same(unary(Op::Not, DType::Bool, {0, 1}), {1, 0});
  expect_same(binary(Op::FloorDiv, DType::I64, {7, -7, 7, -7}, DType::I64, {2, 2, -2, -2}), {3, -4, -4, 3});
  expect_same(binary(Op::Mod, DType::I64, {7, -7, 7, -7}, DType::I64, {3, 3, -3, -3}), {1, 2, -2, -1});
  expect_same(binary(Op::Pow, DType::I64, {2, -3, 1, 2}, DType::I64, {40, 3, -5, -1}), {1099511627776.0, -27, 1, 0});
  expect_same(binary(Op::And, DType::I32, {12, -1}, DType::I32, {10, 7}), {8, 7});
  expect_same(binary(Op::Or, DType::I32, {12, 0}, DType::I32, {10, -2}), {14, -2});
  expect_same(binary(Op::Xor, DType::I32, {12, -1}, DType::I32, {10, 1}), {6, -2});
  expect_same(binary(Op::Xor, DType::Bool, {0, 1, 1}, DType::Bool, {1, 0, 1}), {1, 1, 0});
  expect_same(binary(Op::Shl, DType::I32, {1, 1, 3}, DType::I32, {4, 40, 31}), {16, 0, -2147483648.0});
  expect_same(binary(Op::Shr, DType::I32, {-8, 8, -8, -8}, DType::I32, {1, 1, 40, -1}), {-4, 4, -1, -1});
}

TEST(InterpreterPointwise, IntegerDivisionByZeroIsAnError) {
  for (Op op : {Op::FloorDiv, Op::Mod}) {
    InterpreterCase c;
    const AxisId n = c.axis("n");
    c.output(c.b.make(op, {c.tensor("x", DType::I32, {n}), c.tensor("y", DType::I32, {n})}), {n});
    c.give("x", {2}, {1, 2}).give("y", {2}, {1, 0});
    EXPECT_EQ(c.error(), std::string(info(op).name) + ": integer division by zero");
  }
}

TEST(InterpreterPointwise, SelectTakesTheBranchOfEachElement) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), m = c.axis("m");
  const NodeId condition = c.tensor("c", DType::Bool, {n}), x = c.tensor("x", DType::F32, {m});
  c.output(c.b.make(Op::Select, {condition, x, c.b.constant(-1)}), {m, n});
  c.give("c", {2}, {1, 0}).give("x", {3}, {5, 6, 7});
  EXPECT_EQ(c.run().values, (std::vector<double>{5, -1, 6, -1, 7, -1}));
}

TEST(InterpreterPointwise, OperandsOfDifferentTypesArePromotedBeforeTheArithmetic) {
  // 257 is no bf16 number: PyTorch rounds the integer tensor to bf16 and adds then.
  expect_same(binary(Op::Add, DType::I64, {257}, DType::BF16, {1}, kRounded), {256});
  expect_same(binary(Op::Add, DType::I64, {16777217}, DType::F32, {0.5}, kRounded), {16777216});
  // bf16 with f16 computes and stays in f32.
  expect_same(binary(Op::Mul, DType::BF16, {1.0078125}, DType::F16, {1.0009765625}, kRounded), {1.0087966918945312});
  expect_same(binary(Op::Div, DType::I32, {1}, DType::I32, {3}, kRounded), {static_cast<float>(1.0 / 3)});
  expect_same(unary(Op::Exp, DType::I64, {1}, kRounded), {static_cast<float>(std::exp(1.0))});
  expect_same(binary(Op::Add, DType::U8, {200}, DType::I8, {100}), {300});
}

NodeId with_number(InterpreterCase& c, Op op, DType type, double number, AxisId n) {
  return c.b.make(op, {c.tensor("x", type, {n}), c.b.constant(number)});
}

TEST(InterpreterPointwise, ANumberIsRoundedToTheTypeThatItsReaderComputesIn) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(with_number(c, Op::Mul, DType::BF16, 0.1, n), {n});
  c.give("x", {1}, {1.0078125});
  const double in_f32 = round_to(DType::BF16, static_cast<float>(1.0078125 * static_cast<float>(0.1)));
  const double in_bf16 = round_to(DType::BF16, static_cast<float>(1.0078125 * round_to(DType::BF16, 0.1)));
  ASSERT_NE(in_f32, in_bf16);
  EXPECT_EQ(c.run(kRounded).values, (std::vector<double>{in_f32}));
}

TEST(InterpreterPointwise, AComparisonRoundsANumberToTheTensorsType) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(with_number(c, Op::Eq, DType::BF16, 0.1, n), {n});
  c.give("x", {1}, {0.10009765625});  // bf16(0.1)
  EXPECT_EQ(c.run(kRounded).values, (std::vector<double>{1}));
  EXPECT_EQ(c.run().values, (std::vector<double>{0}));
}

TEST(InterpreterPointwise, NumbersAmongThemselvesStayExact) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  const NodeId third = c.b.make(Op::Div, {c.b.integer(1), c.b.integer(3)});
  c.output(c.b.make(Op::Mul, {c.tensor("x", DType::F32, {n}), c.b.make(Op::Mul, {third, c.b.integer(3)})}), {n});
  c.give("x", {1}, {7});
  EXPECT_EQ(c.run(kRounded).values, (std::vector<double>{7}));
}

TEST(InterpreterPointwise, AScalarHasItsDefaultUnlessTheCallGivesIt) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(Op::Add, {c.tensor("x", DType::F32, {n}), c.scalar("eps", 0.5)}), {n});
  c.give("x", {2}, {1, 2});
  EXPECT_EQ(c.run().values, (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(c.run(kRounded).values, (std::vector<double>{1.5, 2.5}));
  c.call.inputs["eps"] = Array::scalar(3);
  EXPECT_EQ(c.run().values, (std::vector<double>{4, 5}));
}

TEST(InterpreterPointwise, OperandsBroadcastAlongTheAxesTheyLack) {
  InterpreterCase c;
  const AxisId a = c.axis("a"), b = c.axis("b"), d = c.axis("d");
  const NodeId x = c.tensor("x", DType::F32, {b, a}), y = c.tensor("y", DType::F32, {d, b});
  c.output(c.b.make(Op::Sub, {x, y}), {d, a, b});
  c.give("x", {2, 3}, {1, 2, 3, 4, 5, 6}).give("y", {2, 2}, {10, 20, 30, 40});
  EXPECT_EQ(c.run().values, (std::vector<double>{-9, -16, -8, -15, -7, -14, -29, -36, -28, -35, -27, -34}));
}

TEST(InterpreterPointwise, TilesMeetAtTheirEdges) {
  // Sizes around the tile's, so that first, inner and last tiles differ.
  for (int64_t rows : {1, 2, 5})
    for (int64_t cols : {1, 7, 511, 513, 1023, 1024, 1025, 2500}) {
      InterpreterCase c;
      const AxisId r = c.axis("r"), k = c.axis("k");
      const NodeId x = c.tensor("x", DType::F64, {r, k}), row = c.tensor("row", DType::F64, {r}),
                   col = c.tensor("col", DType::F64, {k}), turned = c.tensor("turned", DType::F64, {k, r});
      c.output(c.b.make(Op::Add, {c.b.make(Op::Mul, {x, row}), c.b.make(Op::Mul, {col, turned})}), {r, k});
      std::vector<double> xs, rs, cs, ts, expected;
      for (int64_t i = 0; i < rows * cols; ++i) xs.push_back(static_cast<double>(i % 97)), ts.push_back(i % 89);
      for (int64_t i = 0; i < rows; ++i) rs.push_back(static_cast<double>(i + 1));
      for (int64_t i = 0; i < cols; ++i) cs.push_back(static_cast<double>(i % 5));
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < cols; ++j)
          expected.push_back(xs[static_cast<size_t>(i * cols + j)] * rs[static_cast<size_t>(i)] +
                             cs[static_cast<size_t>(j)] * ts[static_cast<size_t>(j * rows + i)]);
      c.give("x", {rows, cols}, xs).give("row", {rows}, rs).give("col", {cols}, cs).give("turned", {cols, rows}, ts);
      EXPECT_EQ(c.run().values, expected) << rows << " x " << cols;
      EXPECT_EQ(c.run(kRounded).values, expected) << rows << " x " << cols;
    }
}

TEST(InterpreterPointwise, EmptyTensorsGiveEmptyTensors) {
  InterpreterCase c;
  const AxisId r = c.axis("r"), k = c.axis("k");
  c.output(c.b.make(Op::Exp, {c.tensor("x", DType::F32, {r, k})}), {k, r});
  c.give("x", {0, 3}, {});
  const Array out = c.run(kBounded);
  EXPECT_EQ(out.shape, (std::vector<int64_t>{3, 0}));
  EXPECT_TRUE(out.values.empty());
}

}  // namespace
}  // namespace kw::ir
