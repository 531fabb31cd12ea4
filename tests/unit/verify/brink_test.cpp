#include "verify/brink.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/text/parse.h"
#include "verify/cases.h"

namespace kw::verify {
namespace {

using ir::DType;

Subject half_of_a_sum() {
  Subject out;
  out.forward = *ir::text::parse(
      "op half(x: no_grad T[rows, cols])\n  types T = f16\n  sizes rows = 4, cols = 4\n"
      "  s = T(sum(wide(x), cols))\n  y = 0.5 * s\nreturn y\n");
  return out;
}

TEST(Brink, OnlyATypeOfASmallerRangeHasOne) {
  EXPECT_EQ(brinks(half_of_a_sum(), {{"T", DType::F16}}).size(), 2u);  // the sum as it is rounded, and the half
  for (const DType type : {DType::F32, DType::F64, DType::BF16})
    EXPECT_TRUE(brinks(half_of_a_sum(), {{"T", type}}).empty()) << ir::info(type).name;
}

TEST(Brink, AValueThatIsBroughtThereHasJustLeftItsRange) {
  const Subject subject = half_of_a_sum();
  const kernel::TypeBinding types = {{"T", DType::F16}};
  ir::Environment values;
  values.sizes = {{"rows", 1}, {"cols", 4}};
  values.inputs["x"] = ir::Array{{1, 4}, {1, 0.5, 0.25, 0.75}};
  ASSERT_TRUE(to_the_brink(subject, types, brinks(subject, types)[0], values));
  double sum = 0;
  for (const double x : values.inputs["x"].values) sum += x;
  EXPECT_GT(sum, 65504);
  EXPECT_LT(sum / 2, 65504);
}

TEST(Brink, WhatCannotGetThereStaysAsItIs) {
  Subject subject;
  subject.forward =
      *ir::text::parse("op bounded(x: no_grad T[n])\n  types T = f16\n  sizes n = 4\n  y = tanh(x)\nreturn y\n");
  const kernel::TypeBinding types = {{"T", DType::F16}};
  ir::Environment values;
  values.sizes = {{"n", 2}};
  values.inputs["x"] = ir::Array{{2}, {1, -0.5}};
  for (const ir::NodeId value : brinks(subject, types)) ASSERT_TRUE(to_the_brink(subject, types, value, values));
  EXPECT_EQ(values.inputs["x"].values, (std::vector<double>{1, -0.5}));
}

}  // namespace
}  // namespace kw::verify
