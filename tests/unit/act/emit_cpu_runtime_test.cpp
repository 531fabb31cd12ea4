// The headers that generated CPU kernels include; tests/unit/device/math_test.cpp has their functions.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "../../../runtime/cpu/element.h"
#include "../../../runtime/cpu/math.h"
#include "../../../runtime/cpu/reduction.h"
#include "../../../runtime/cpu/stream.h"
#include "ir/type.h"

namespace {

using kw::ir::DType;

template <class Element>
void expect_rounding_of(DType type) {
  std::mt19937 engine(1);
  auto check = [&](float value) {
    const double expected = kw::ir::round_to(type, value);
    const float got = Element(value);
    const float in_place = kw::round_to<Element>(value);
    ASSERT_TRUE(std::isnan(got) ? std::isnan(in_place) : got == in_place && std::signbit(got) == std::signbit(in_place))
        << value;
    if (!std::isnan(in_place)) {
      const float own = kw::round_own<Element>(value);
      ASSERT_TRUE(own == in_place && std::signbit(own) == std::signbit(in_place)) << value;
    }
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << value;
    } else {
      ASSERT_EQ(static_cast<double>(got), expected) << value;
      ASSERT_EQ(std::signbit(got), std::signbit(expected)) << value;
    }
  };
  for (uint32_t i = 0; i < 2'000'000; ++i) check(__builtin_bit_cast(float, static_cast<uint32_t>(engine())));
  // Every number of the type, its neighbours in f32, and the ties between it and the next.
  for (uint32_t i = 0; i < 0x10000; ++i) {
    Element element;
    element.bits = static_cast<decltype(element.bits)>(i);
    const float value = element;
    check(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(kw::round_own<Element>(value)) && std::isnan(kw::round_own<Element>(value * 3.0f)));
    }
    check(std::nextafter(value, INFINITY));
    check(std::nextafter(value, -INFINITY));
    Element next;
    next.bits = static_cast<decltype(next.bits)>(i + 1);
    check(static_cast<float>((static_cast<double>(value) + static_cast<double>(static_cast<float>(next))) / 2));
  }
}

TEST(CpuElement, Bf16RoundsToNearestEvenAndReadsBackExactly) { expect_rounding_of<kw::bf16>(DType::BF16); }
TEST(CpuElement, F16RoundsToNearestEvenAndReadsBackExactly) { expect_rounding_of<kw::f16>(DType::F16); }

TEST(CpuElement, F8RoundsToNearestEvenAndReadsBackExactly) {
  expect_rounding_of<kw::f8e4m3>(DType::F8E4M3);
  expect_rounding_of<kw::f8e5m2>(DType::F8E5M2);
}

template <class Element>
void expect_rounding_between() {
  for (const float number : {3.0f, -1.0f, 0.0f, 0.5f, -57344.0f})
    for (const auto& [least, most] : {std::pair(0.0f, 6.0f), std::pair(0.5f, 2.0f), std::pair(0.0f, 57344.0f)})
      for (uint32_t i = 0; i < 0x10000; ++i) {
        Element element;
        element.bits = static_cast<decltype(element.bits)>(i);
        const float sum = static_cast<float>(element) + number, rounded = kw::round_to<Element>(sum);
        const float expected = rounded >= most ? most : rounded <= least ? least : rounded;
        const float got = kw::round_between<Element>(sum, least, most);
        ASSERT_TRUE(std::isnan(expected) ? std::isnan(got)
                                         : got == expected && std::signbit(got) == std::signbit(expected))
            << sum << " between " << least << " and " << most;
      }
}
TEST(CpuElement, HoldingASumBetweenTwoNumbersBeforeItIsRoundedIsHoldingWhatIsRounded) {
  expect_rounding_between<kw::f16>();
  expect_rounding_between<kw::bf16>();
}

TEST(CpuElement, TypesJoinAsPyTorchPromotes) {
  static_assert(std::is_same_v<kw::join<kw::bf16, kw::bf16>, kw::bf16>);
  static_assert(std::is_same_v<kw::join<kw::bf16, kw::f16>, float>);
  static_assert(std::is_same_v<kw::join<kw::f16, float, kw::bf16>, float>);
  static_assert(std::is_same_v<kw::join<kw::f16, double>, double>);
  static_assert(std::is_same_v<kw::wide<kw::f16>, float> && std::is_same_v<kw::wide<double>, double>);
}

TEST(CpuReduction, ANanWinsFromEitherSide) {
  EXPECT_TRUE(std::isnan(kw::maximum(NAN, 1.0f)) && std::isnan(kw::maximum(1.0f, NAN)));
  EXPECT_TRUE(std::isnan(kw::minimum(NAN, 1.0f)) && std::isnan(kw::minimum(1.0f, NAN)));
  EXPECT_EQ(kw::maximum(float(kw::Least()), -INFINITY), -INFINITY);
  EXPECT_EQ(kw::minimum(int64_t(kw::Greatest()), int64_t(5)), 5);
}

TEST(CpuStream, AnyLengthAtAnyAlignmentArrivesAndNothingElseIsWritten) {
  std::vector<uint16_t> from(400), to(600, 7);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint16_t>(1000 + i);
  for (size_t shift = 0; shift < 40; ++shift)
    for (size_t n : {0, 1, 2, 15, 31, 32, 33, 64, 100, 399}) {
      std::fill(to.begin(), to.end(), uint16_t(7));
      kw::stream_out(to.data() + shift, from.data(), static_cast<int64_t>(n));
      for (size_t i = 0; i < to.size(); ++i)
        ASSERT_EQ(to[i], i >= shift && i < shift + n ? from[i - shift] : 7) << shift << " " << n << " " << i;
    }
}

}  // namespace
