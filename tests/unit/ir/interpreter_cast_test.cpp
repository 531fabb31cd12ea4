// Casts to every type, to the bit, against independent definitions of each format.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "interpreter_case.h"
#include "ir/interpreter/rounding.h"

namespace kw::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> cast(DType from, DType to, std::vector<double> x, const InterpretOptions& options = kRounded) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(Op::Cast, {c.tensor("x", from, {n})}, CastAttr{to}), {n});
  const auto count = static_cast<int64_t>(x.size());
  return c.give("x", {count}, std::move(x)).run(options).values;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Every finite value of a small format, from its bits.
struct Format {
  DType type;
  int exponent_bits, fraction_bits, bias;
  bool has_infinity;
};
constexpr Format kFormats[] = {{DType::F16, 5, 10, 15, true},
                               {DType::BF16, 8, 7, 127, true},
                               {DType::F8E5M2, 5, 2, 15, true},
                               {DType::F8E4M3, 4, 3, 7, false}};

std::vector<double> finite_magnitudes(const Format& f) {
  std::vector<double> out;
  const int top = (1 << f.exponent_bits) - 1;
  for (int exponent = 0; exponent <= top; ++exponent)
    for (int fraction = 0; fraction < 1 << f.fraction_bits; ++fraction) {
      if (exponent == top && (f.has_infinity || fraction == (1 << f.fraction_bits) - 1)) continue;
      const double mantissa = exponent == 0 ? fraction : fraction + (1 << f.fraction_bits);
      out.push_back(std::ldexp(mantissa, std::max(exponent, 1) - f.bias - f.fraction_bits));
    }
  return out;
}

TEST(InterpreterCast, ValuesOfANarrowFormatAreKept) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(std::string(info(format.type).name));
    std::vector<double> values = finite_magnitudes(format);
    for (size_t i = values.size(); i-- > 0;) values.push_back(-values[i]);
    const std::vector<double> out = cast(DType::F32, format.type, values);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_TRUE(same(out[i], values[i])) << values[i] << " became " << out[i];
  }
}

TEST(InterpreterCast, BetweenTwoValuesTheNearerWinsAndATieGoesToTheEvenOne) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(std::string(info(format.type).name));
    const std::vector<double> values = finite_magnitudes(format);
    std::vector<double> x, expected;
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      const double low = values[i], high = values[i + 1], middle = (low + high) / 2;
      if (static_cast<float>(middle) != middle) continue;  // bf16's last subnormals have no f32 between them
      const double even = i % 2 == 0 ? low : high;         // consecutive values have consecutive bits
      for (double v : {std::nextafterf(static_cast<float>(middle), 0.0f), static_cast<float>(middle),
                       std::nextafterf(static_cast<float>(middle), INFINITY)}) {
        x.insert(x.end(), {v, -v});
        const double to = v < middle ? low : v > middle ? high : even;
        expected.insert(expected.end(), {to, -to});
      }
    }
    const std::vector<double> out = cast(DType::F32, format.type, x);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(same(out[i], expected[i])) << x[i] << " became " << out[i] << ", not " << expected[i];
  }
}

TEST(InterpreterCast, BeyondTheLargestValueLiesInfinityOrNaN) {
  EXPECT_EQ(cast(DType::F32, DType::F16, {65504, 65519.99609375, 65520, -1e30}),
            (std::vector<double>{65504, 65504, kInf, -kInf}));
  EXPECT_EQ(cast(DType::F32, DType::F8E5M2, {57344, 61439, 61440, kInf}),
            (std::vector<double>{57344, 57344, kInf, kInf}));
  EXPECT_EQ(cast(DType::F32, DType::BF16, {3.38e38, 3.4e38, -kInf}),
            (std::vector<double>{round_to(DType::BF16, 3.38e38), kInf, -kInf}));
  EXPECT_EQ(cast(DType::F64, DType::F32, {1e39, 1e-50}), (std::vector<double>{kInf, 0}));
  for (DType type : {DType::F32, DType::BF16, DType::F16, DType::F8E4M3, DType::F8E5M2})
    EXPECT_TRUE(std::isnan(cast(DType::F32, type, {kNaN})[0]));
}

TEST(InterpreterCast, FastRoundingAgreesWithTheTypesOwnRounding) {
  std::mt19937_64 generator(7);
  for (DType type : {DType::F32, DType::BF16, DType::F16, DType::F8E4M3, DType::F8E5M2}) {
    SCOPED_TRACE(std::string(info(type).name));
    for (int i = 0; i < 200000; ++i) {
      // Any f32 bits: subnormals, infinities and NaN among them.
      float x;
      const auto bits = static_cast<uint32_t>(generator());
      std::memcpy(&x, &bits, sizeof x);
      double fast = x;
      interpreter::round_values(type, &fast, 1);
      ASSERT_TRUE(same(fast, round_to(type, x))) << x << " " << fast << " " << round_to(type, x);
      ASSERT_TRUE(same(interpreter::round_through(type, x), fast));
    }
  }
}

TEST(InterpreterCast, AWideValueIsRoundedThroughF32AsPyTorchDoes) {
  // In f64 just above a bf16 tie; f32 drops the excess, and the tie goes to even.
  const double x = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(cast(DType::F64, DType::BF16, {x}), (std::vector<double>{1}));
  EXPECT_EQ(round_to(DType::BF16, x), 1.0078125);
}

TEST(InterpreterCast, IntegersTruncateAndWrap) {
  for (const InterpretOptions& options : {InterpretOptions{}, kRounded}) {
    EXPECT_EQ(cast(DType::F32, DType::I64, {2.75, -2.75, -0.5}, options), (std::vector<double>{2, -2, 0}));
    EXPECT_EQ(cast(DType::F32, DType::U8, {300, 255.9, 44}, options), (std::vector<double>{44, 255, 44}));
    EXPECT_EQ(cast(DType::I64, DType::I8, {300, 200, -129}, options), (std::vector<double>{44, -56, 127}));
    EXPECT_EQ(cast(DType::I64, DType::I16, {40000}, options), (std::vector<double>{-25536}));
    EXPECT_EQ(cast(DType::I64, DType::I32, {2147483648.0}, options), (std::vector<double>{-2147483648.0}));
    EXPECT_EQ(cast(DType::F32, DType::Bool, {0, -0.0, 0.25, kNaN}, options), (std::vector<double>{0, 0, 1, 1}));
    EXPECT_EQ(cast(DType::Bool, DType::F32, {0, 1}, options), (std::vector<double>{0, 1}));
  }
  EXPECT_EQ(cast(DType::I64, DType::F16, {2049}), (std::vector<double>{2048}));
}

TEST(InterpreterCast, RealSemanticsKeepsWhatAFloatingCastWouldRound) {
  const double x = 0.1;
  EXPECT_EQ(cast(DType::F64, DType::BF16, {x}, {}), (std::vector<double>{x}));
  EXPECT_EQ(cast(DType::F64, DType::F8E4M3, {1e6}, {}), (std::vector<double>{1e6}));
}

TEST(InterpreterCast, AnInputIsRoundedToItsType) {
  EXPECT_EQ(cast(DType::BF16, DType::F32, {1.001}), (std::vector<double>{1}));
}

TEST(InterpreterCast, RoundingWithUnboundTypesIsRefused) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  const Type t = c.b.type_parameter("T", DType::BF16);
  Input input;
  input.name = "x";
  input.type = t;
  input.dims = {n};
  c.output(c.b.make(Op::Exp, {c.b.input(input)}), {n});
  c.give("x", {1}, {0});
  EXPECT_NE(c.error(kRounded).find("not bound"), std::string::npos);
  EXPECT_EQ(c.run().values, (std::vector<double>{1}));
}

}  // namespace
}  // namespace kw::ir
