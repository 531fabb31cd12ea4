#include "ir/type.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kw::ir {
namespace {

TEST(Promotion, FollowsPyTorchOnConcreteTypes) {
  EXPECT_EQ(promote(DType::BF16, DType::F16), DType::F32);
  EXPECT_EQ(promote(DType::BF16, DType::F32), DType::F32);
  EXPECT_EQ(promote(DType::I64, DType::BF16), DType::BF16);
  EXPECT_EQ(promote(DType::U8, DType::I8), DType::I16);
  EXPECT_EQ(promote(DType::Bool, DType::U8), DType::U8);
  EXPECT_EQ(promote(DType::Real, DType::I32), DType::F32);
  EXPECT_EQ(promote(DType::Real, DType::BF16), DType::BF16);
  EXPECT_EQ(promote(DType::Int, DType::F16), DType::F16);
  EXPECT_EQ(promote(DType::Int, DType::Bool), DType::Int);
  EXPECT_EQ(promote(DType::F8E4M3, DType::BF16), DType::None);
}

TEST(Promotion, IsCommutativeOnEveryPair) {
  for (int i = 1; i < kDTypeCount; ++i)
    for (int j = 1; j < kDTypeCount; ++j) {
      DType a = static_cast<DType>(i), b = static_cast<DType>(j);
      EXPECT_EQ(promote(a, b), promote(b, a)) << info(a).name << " " << info(b).name;
    }
}

TEST(Promotion, JoinsParametersLikeTheTypesTheyAreBoundTo) {
  Type t = Type::parameter(0), w = Type::parameter(1);
  const DType floating[] = {DType::BF16, DType::F16, DType::F32, DType::F64};
  for (DType a : floating)
    for (DType b : floating) {
      const DType bindings[] = {a, b};
      EXPECT_EQ(promote(t, w).bind(bindings), promote(a, b));
      EXPECT_EQ(opmath(t).bind(bindings), opmath(a));
      EXPECT_EQ(opmath(promote(t, w)).bind(bindings), opmath(promote(a, b)));
      EXPECT_EQ(promote(t, Type(DType::I64)).bind(bindings), a);
      EXPECT_EQ(promote(t, Type(DType::Real)).bind(bindings), a);
      EXPECT_EQ(promote(t, Type(DType::F64)), Type(DType::F64));
    }
}

TEST(Rounding, GoesToNearestEvenInEachType) {
  EXPECT_EQ(round_to(DType::BF16, 1.0 + 1.0 / 256), 1.0);  // a tie goes to the even mantissa
  EXPECT_EQ(round_to(DType::BF16, 1.0 + 3.0 / 256), 1.0 + 4.0 / 256);
  EXPECT_EQ(round_to(DType::F16, 2049.0), 2048.0);
  EXPECT_EQ(round_to(DType::F16, 65520.0), INFINITY);
  EXPECT_EQ(round_to(DType::F16, 65519.0), 65504.0);
  EXPECT_EQ(round_to(DType::F16, std::ldexp(1.0, -24)), std::ldexp(1.0, -24));  // the smallest subnormal
  EXPECT_EQ(round_to(DType::F16, std::ldexp(1.0, -25)), 0.0);
  EXPECT_EQ(round_to(DType::F16, std::ldexp(1.5, -25)), std::ldexp(1.0, -24));
  EXPECT_TRUE(std::isnan(round_to(DType::F8E4M3, 1e9)));
  EXPECT_EQ(round_to(DType::F8E4M3, 448.0), 448.0);
  EXPECT_EQ(round_to(DType::F8E5M2, 61440.0), INFINITY);
  EXPECT_TRUE(std::signbit(round_to(DType::BF16, -0.0)));
}

TEST(Rounding, WrapsIntegersAndTruncatesFractions) {
  EXPECT_EQ(round_to(DType::I8, 130.0), -126.0);
  EXPECT_EQ(round_to(DType::U8, -1.0), 255.0);
  EXPECT_EQ(round_to(DType::I32, -2.7), -2.0);
  EXPECT_EQ(round_to(DType::Bool, 0.3), 1.0);
}

}  // namespace
}  // namespace kw::ir
