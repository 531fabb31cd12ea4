#include "ir/interpreter/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kw::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(InterpreterCompare, TheWorstElementIsTheOneWithTheLargestShareOfItsBound) {
  const Array expected{{2, 2}, {1, 2, 3, 4}, {0.1, 0.5, 0.001, 1}};
  const std::vector<double> got{1.05, 2.25, 3.002, 4.5};
  const ErrorReport report = compare(expected, got, DType::F32);
  EXPECT_EQ(report.elements, 4);
  EXPECT_EQ(report.beyond, 1);
  EXPECT_FALSE(report.within());
  EXPECT_EQ(report.worst.index, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(report.worst.got, 3.002);
  EXPECT_EQ(report.worst.bound, 0.001);
  EXPECT_NEAR(report.max_share, 2, 1e-9);
  EXPECT_EQ(report.max_error, 0.5);
}

TEST(InterpreterCompare, UlpsAreThoseOfTheTypeAtTheExpectedValue) {
  const Array expected{{1}, {1}, {1}};
  EXPECT_EQ(compare(expected, std::vector<double>{1 + 0x1p-7}, DType::BF16).max_ulps, 1);
  EXPECT_EQ(compare(expected, std::vector<double>{1 + 0x1p-7}, DType::F32).max_ulps, 65536);
}

TEST(InterpreterCompare, NaNIsOnlyNaNAndInfinityOnlyItself) {
  const Array expected{{4}, {kNaN, kInf, kInf, 1}, {0, 0, 0, 1e300}};
  EXPECT_EQ(compare(expected, std::vector<double>{kNaN, kInf, kInf, 1}, DType::F32).beyond, 0);
  EXPECT_EQ(compare(expected, std::vector<double>{1, -kInf, 1e38, kNaN}, DType::F32).beyond, 4);
}

TEST(InterpreterCompare, WithoutBoundsEveryElementMustBeEqual) {
  const Array expected{{2}, {1, 2}};
  EXPECT_TRUE(compare(expected, std::vector<double>{1, 2}, DType::F32).within());
  EXPECT_EQ(compare(expected, std::vector<double>{1, std::nextafter(2.0, 3.0)}, DType::F32).beyond, 1);
}

TEST(InterpreterCompare, AnInfiniteBoundAdmitsAnything) {
  const Array expected{{2}, {1, 2}, {kInf, kInf}};
  EXPECT_TRUE(compare(expected, std::vector<double>{kNaN, -kInf}, DType::F32).within());
}

TEST(InterpreterCompare, OneElementInAThousandMayExceedThePercentile) {
  Array expected{{1000}, std::vector<double>(1000, 1.0), std::vector<double>(1000, 10.0)};
  std::vector<double> got(1000, 1.5);
  got[3] = 4;
  EXPECT_EQ(compare(expected, got, DType::F32).error_99_9, 0.5);
  got[4] = 3;
  EXPECT_EQ(compare(expected, got, DType::F32).error_99_9, 2);
}

TEST(InterpreterCompare, EmptyResultsAgree) {
  const ErrorReport report = compare(Array{{0}, {}, {}}, {}, DType::F32);
  EXPECT_TRUE(report.within());
  EXPECT_EQ(describe(report), "all 0 elements are within their bound");
}

TEST(InterpreterCompare, ElementsAreCountedByTheirShareOfTheBound) {
  const Array expected{{6}, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, kInf}};
  const ErrorReport report = compare(expected, std::vector<double>{1, 1.125, 1.75, 2, 3, 9}, DType::F64);
  EXPECT_EQ(report.by_share, (ShareHistogram{2, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1}));
  EXPECT_EQ(report.beyond, 1);
}

TEST(InterpreterCompare, ThePlainTextNamesTheWorstElement) {
  const Array expected{{2, 2}, {1, 2, 3, 0.25}, {0, 0, 0, 0.125}};
  EXPECT_EQ(
      describe(compare(expected, std::vector<double>{1, 2, 3, 0.5}, DType::F16)),
      "1 of 4 elements are beyond their bound; worst at [1, 1]: got 0.5, expected 0.25 ± 0.125; largest error 0.25, "
      "99.9 % within 1024 ulps");
}

}  // namespace
}  // namespace kw::ir
