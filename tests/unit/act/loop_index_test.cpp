#include <gtest/gtest.h>

#include "act/loop/index.h"

namespace kw::act {
namespace {

// Axes i of n, j of m, k of 4, and the sizes n, m, p.
class LoopIndex : public ::testing::Test {
 protected:
  LoopIndex() {
    program.symbols = {{"n", {}}, {"m", {}}, {"p", {}}};
    program.axes = {{"i", n, {}}, {"j", m, {}}, {"k", ir::Size(4), {}}, {"unit", ir::Size(1), {}}};
  }
  std::string shown(const Index& index) const { return text(index, program); }
  Index sum(const Index& a, const Index& b) const { return arithmetic.add(a, b); }
  Index times(const Index& a, const ir::Size& b) const { return arithmetic.mul(a, size_index(b)); }

  const ir::Size n = ir::Size::symbol(0), m = ir::Size::symbol(1), p = ir::Size::symbol(2);
  const Index i = axis_index(0), j = axis_index(1), k = axis_index(2);
  LoopProgram program;
  IndexArithmetic arithmetic{program.axes};
};

TEST_F(LoopIndex, SumsAreOneInAnyOrder) {
  EXPECT_EQ(sum(sum(i, j), size_index(3)), sum(size_index(3), sum(j, i)));
  EXPECT_EQ(shown(sum(sum(i, size_index(5)), size_index(-2))), "i + 3");
  EXPECT_EQ(shown(arithmetic.sub(sum(i, j), i)), "j");
  EXPECT_EQ(shown(arithmetic.sub(i, i)), "0");
  EXPECT_EQ(shown(times(sum(times(i, m), j), ir::Size(4))), "i*(4*m) + j*4");
}

TEST_F(LoopIndex, WhatIsTakenAwayStandsLast) {
  EXPECT_EQ(shown(arithmetic.sub(size_index(n - ir::Size(1)), i)), "n - 1 - i");
  EXPECT_EQ(shown(sum(times(i, ir::Size(-2)), size_index(8))), "8 - i*2");
  EXPECT_EQ(shown(sum(i, size_index(-4))), "i - 4");
  EXPECT_EQ(shown(times(i, ir::Size(-1))), "i*(-1)");
}

TEST_F(LoopIndex, DivisionTakesApartWhatASplitPutTogether) {
  const Index whole = sum(times(i, m), j);
  EXPECT_EQ(arithmetic.floor_div(whole, m), i);
  EXPECT_EQ(arithmetic.mod(whole, m), j);
  const Index three = sum(times(whole, ir::Size(4)), k);
  EXPECT_EQ(arithmetic.floor_div(three, m * ir::Size(4)), i);
  EXPECT_EQ(arithmetic.mod(three, m * ir::Size(4)), sum(times(j, ir::Size(4)), k));
  EXPECT_EQ(arithmetic.floor_div(three, ir::Size(2)),
            sum(sum(times(i, ir::Size(2) * m), times(j, ir::Size(2))), arithmetic.floor_div(k, ir::Size(2))));
}

TEST_F(LoopIndex, DivisionKeepsWhatItCannotDecide) {
  EXPECT_EQ(shown(arithmetic.floor_div(i, p)), "i//p");
  EXPECT_EQ(shown(arithmetic.mod(sum(i, j), m)), "(i + j)%m");
  EXPECT_EQ(shown(arithmetic.floor_div(arithmetic.floor_div(i, p), ir::Size(3))), "i//(3*p)");
  EXPECT_EQ(shown(arithmetic.floor_div(sum(i, size_index(-1)), ir::Size(2))), "(i + 1)//2 - 1");
}

TEST_F(LoopIndex, AnAxisIsBelowMultiplesOfItsSize) {
  EXPECT_EQ(arithmetic.mod(j, ir::Size(3) * m), j);
  EXPECT_EQ(shown(arithmetic.floor_div(k, ir::Size(5))), "0");
  EXPECT_EQ(shown(arithmetic.mod(k, ir::Size(3))), "k%3");
}

TEST_F(LoopIndex, NothingIsDividedByAnAxisOfSizeZero) {
  EXPECT_EQ(arithmetic.floor_div(i, ir::Size(0)), i);
  EXPECT_EQ(shown(arithmetic.mod(i, ir::Size(0))), "0");
}

TEST_F(LoopIndex, DigitsEnumerateTheirRange) {
  EXPECT_EQ(arithmetic.enumerated(i), n);
  EXPECT_EQ(arithmetic.enumerated(sum(times(i, m), j)), n * m);
  EXPECT_EQ(arithmetic.enumerated(size_index(0)), ir::Size(1));
  EXPECT_EQ(arithmetic.enumerated(sum(sum(times(i, m), j), axis_index(3))), n * m);
  EXPECT_EQ(arithmetic.enumerated(sum(times(i, p), j)), std::nullopt);
  EXPECT_EQ(arithmetic.enumerated(times(i, ir::Size(2))), std::nullopt);
  EXPECT_EQ(arithmetic.enumerated(sum(i, size_index(1))), std::nullopt);
  EXPECT_EQ(arithmetic.enumerated(arithmetic.mod(i, p)), std::nullopt);
}

TEST_F(LoopIndex, NeighbouringDigitsFuse) {
  const Index whole = sum(times(i, m), j);
  EXPECT_EQ(arithmetic.fuse(whole, 0, 1, m), i);
  EXPECT_EQ(arithmetic.fuse(sum(times(whole, ir::Size(4)), k), 0, 1, m), sum(times(i, ir::Size(4)), k));
  EXPECT_EQ(arithmetic.fuse(k, 0, 1, m), k);
  EXPECT_EQ(arithmetic.fuse(i, 0, 1, m), std::nullopt);
  EXPECT_EQ(arithmetic.fuse(sum(times(j, n), i), 0, 1, m), std::nullopt);
  EXPECT_EQ(arithmetic.fuse(arithmetic.mod(i, p), 0, 1, m), std::nullopt);
}

TEST_F(LoopIndex, AProductOfTwoIndicesStaysOne) {
  EXPECT_EQ(shown(arithmetic.mul(i, j)), "i*j");
  EXPECT_EQ(shown(arithmetic.mul(sum(i, size_index(1)), j)), "(i + 1)*j");
  EXPECT_EQ(axes_of(arithmetic.mul(j, i)), (std::vector<LoopAxisId>{0, 1}));
}

}  // namespace
}  // namespace kw::act
