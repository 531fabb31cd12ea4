#include "kernel/expression.h"

#include <gtest/gtest.h>

namespace kw::kernel {
namespace {

Facts facts() {
  Facts facts;
  facts.sizes = {{"rows", 12}, {"cols", 10}, {"huge", std::int64_t{1} << 40}};
  facts.scalars = {{"eps", 1e-6}, {"offset", std::int64_t{1}}};
  facts.tensors["x"] = {ir::DType::BF16, {12, 10}, {16, 1}, 0x1000};
  facts.tensors["t"] = {ir::DType::F32, {12, 10}, {1, 12}, 0x1004};
  facts.tensors["one"] = {ir::DType::F32, {1, 10}, {999, 1}, 0x1000};
  facts.tensors["none"] = {ir::DType::F64, {0, 10}, {7, 3}, 0x1001};
  facts.tensors["spread"] = {ir::DType::F32, {12, 10}, {0, 1}, 0x1000};
  facts.machine = {6, 132};
  return facts;
}

std::int64_t size(const char* text) {
  const auto value = evaluate_size(text, facts());
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
  return value.value_or(-999);
}

bool holds(const char* text) {
  const auto value = evaluate_condition(text, facts());
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
  return value.value_or(false);
}

std::string size_error(const char* text) {
  const auto value = evaluate_size(text, facts());
  EXPECT_FALSE(value) << text;
  return value ? "" : value.error().message;
}

TEST(Expression, ArithmeticIsThatOfWholeNumbers) {
  EXPECT_EQ(size("rows*cols"), 120);
  EXPECT_EQ(size("(rows + 3)//4*cols"), 30);
  EXPECT_EQ(size("2 + 3*4"), 14);
  EXPECT_EQ(size("10 - 2 - 3"), 5);
  EXPECT_EQ(size("100//7//2"), 7);
  EXPECT_EQ(size("-7//2"), -4) << "the sign binds first, and division rounds down";
  EXPECT_EQ(size("-7 % 3"), 2);
  EXPECT_EQ(size("7 - -3"), 10);
  EXPECT_EQ(size("min(rows, cols) + max(rows, cols)"), 22);
  EXPECT_EQ(size("ceil_div(rows, 5)"), 3);
  EXPECT_EQ(size("ceil_div(10, 5)"), 2);
  EXPECT_EQ(size("next_pow2(cols)"), 16);
  EXPECT_EQ(size("next_pow2(16)"), 16);
  EXPECT_EQ(size("next_pow2(0)"), 1);
  EXPECT_EQ(size("threads + multiprocessors"), 138);
  EXPECT_EQ(size("9223372036854775807"), INT64_MAX);
}

TEST(Expression, BlocksAreThoseOfAStepBefore) {
  Facts known = facts();
  known.blocks = {264, 0};
  EXPECT_EQ(*evaluate_size("2*blocks(0) + blocks(1)", known), 528);
  EXPECT_EQ(evaluate_size("blocks(2)", known).error().message, "step 2 is not launched yet in 'blocks(2)'");
  EXPECT_EQ(size_error("blocks(rows)"), "a step is a small number: 0 is the first in 'blocks(rows)'");
  const auto expression = Expression::parse("blocks(1)", Expression::Kind::Size);
  Scope scope;
  EXPECT_EQ(expression->check(scope).error().message, "there is no step 1 before this one in 'blocks(1)'");
  scope.launches = {true, false};
  EXPECT_EQ(expression->check(scope).error().message, "step 1 launches no blocks in 'blocks(1)'");
  scope.launches = {false, true};
  EXPECT_TRUE(expression->check(scope));
}

TEST(Expression, BuffersHaveShapeStrideAndBytes) {
  EXPECT_EQ(size("shape(x, 0)*stride(x, 0)"), 192);
  EXPECT_EQ(size("stride(x, -1)"), 1);
  EXPECT_EQ(size("bytes(x)*numel(x)"), 240);
}

TEST(Expression, ConditionsCompareAndCombine) {
  EXPECT_TRUE(holds("rows == 12 and cols != 12"));
  EXPECT_TRUE(holds("rows < 10 or cols <= 10"));
  EXPECT_FALSE(holds("not rows > 10"));
  EXPECT_TRUE(holds("not (rows > 10 and cols > 10)"));
  EXPECT_TRUE(holds("rows >= 12 and rows <= 12"));
  EXPECT_TRUE(holds("eps < 1e-5 and eps > 0"));
  EXPECT_TRUE(holds("offset == 1"));
  EXPECT_TRUE(holds("eps > -0.5"));
  EXPECT_TRUE(holds("rows > 1 or 1//0 == 1")) << "what decides ends the search";
}

TEST(Expression, PredicatesAskOfTheMemory) {
  EXPECT_FALSE(holds("dense(x)"));
  EXPECT_TRUE(holds("unit(x)"));
  EXPECT_FALSE(holds("packed(x)"));
  EXPECT_TRUE(holds("packed(t)"));
  EXPECT_FALSE(holds("dense(t)"));
  EXPECT_FALSE(holds("unit(t)"));
  EXPECT_TRUE(holds("dense(one)")) << "a dimension of size one has no say";
  EXPECT_TRUE(holds("dense(none) and aligned(none, 64)")) << "nor has anything without elements";
  EXPECT_FALSE(holds("packed(spread)"));
  EXPECT_TRUE(holds("aligned(x, 32)")) << "rows are 32 bytes apart";
  EXPECT_FALSE(holds("aligned(x, 64)"));
  EXPECT_TRUE(holds("aligned(t, 4)"));
  EXPECT_FALSE(holds("aligned(t, 8)")) << "its address";
  EXPECT_TRUE(holds("starts(x, 64)")) << "whatever its strides are";
  EXPECT_FALSE(holds("starts(t, 8)"));
  EXPECT_TRUE(holds("starts(none, 64)"));
  EXPECT_FALSE(holds("same_strides(x, t)"));
  EXPECT_TRUE(holds("same_strides(x, x)"));
}

TEST(Expression, WhatCannotBeComputedIsAnError) {
  EXPECT_EQ(size_error("rows//(cols - 10)"), "a division by zero in 'rows//(cols - 10)'");
  EXPECT_EQ(size_error("rows % 0"), "a division by zero in 'rows % 0'");
  EXPECT_EQ(size_error("huge*huge"), "a size that 64 bits do not hold in 'huge*huge'");
  EXPECT_EQ(size_error("next_pow2(9223372036854775807)"),
            "a size that 64 bits do not hold in 'next_pow2(9223372036854775807)'");
  EXPECT_EQ(size_error("(-9223372036854775807 - 1)//-1"),
            "a size that 64 bits do not hold in '(-9223372036854775807 - 1)//-1'");
  EXPECT_EQ(size_error("depth"), "nothing is known of 'depth' in 'depth'");
  EXPECT_EQ(size_error("eps"), "'eps' is a scalar, not a size in 'eps'");
  EXPECT_EQ(size_error("numel(z)"), "nothing is known of the buffer 'z' in 'numel(z)'");
}

TEST(Expression, WhatIsNotOneIsRefused) {
  EXPECT_EQ(size_error(""), "something is missing in ''");
  EXPECT_EQ(size_error("rows +"), "something is missing in 'rows +'");
  EXPECT_EQ(size_error("rows cols"), "'cols' does not belong here in 'rows cols'");
  EXPECT_EQ(size_error("rows/2"), "sizes are whole numbers in 'rows/2'");
  EXPECT_EQ(size_error("(rows"), "a ')' is missing in '(rows'");
  EXPECT_EQ(size_error("1.5"), "a size is a whole number in '1.5'");
  EXPECT_EQ(size_error("rows*1.5"), "a size is a whole number in 'rows*1.5'");
  EXPECT_EQ(size_error("12ab"), "'12ab' is not a number in '12ab'");
  EXPECT_EQ(size_error("99999999999999999999999999"), "a size is a whole number in '99999999999999999999999999'");
  EXPECT_EQ(size_error("floor(rows)"), "there is no function 'floor' in 'floor(rows)'");
  EXPECT_EQ(size_error("min(rows)"), "min takes 2 arguments in 'min(rows)'");
  EXPECT_EQ(size_error("min(rows, 2, 3)"), "a ')' is missing after the arguments of min in 'min(rows, 2, 3)'");
  EXPECT_EQ(size_error("stride(x, rows)"),
            "a dimension is a small number: 0 is the first, -1 the last in 'stride(x, rows)'");
  EXPECT_EQ(size_error("numel(3)"), "the name of a buffer is expected in 'numel(3)'");
  EXPECT_EQ(size_error("dense(x)"), "a size is expected, not a condition in 'dense(x)'");
  EXPECT_EQ(size_error("(rows == 1) + 1"), "a size is expected, not a condition in '(rows == 1) + 1'");
  EXPECT_EQ(size_error("rows; cols"), "';' does not belong here in 'rows; cols'");
  EXPECT_EQ(size_error("__import__('os')"), "there is no function '__import__' in '__import__('os')'");
  EXPECT_FALSE(evaluate_condition("rows and cols", facts()));
  EXPECT_FALSE(evaluate_condition("rows == cols == 3", facts()));
  EXPECT_FALSE(evaluate_condition("not rows", facts()));
}

TEST(Expression, ErrorsPointIntoTheText) {
  const auto parsed = Expression::parse("rows + foo(cols)", Expression::Kind::Size);
  ASSERT_FALSE(parsed);
  ASSERT_TRUE(parsed.error().place);
  const auto unknown = Expression::parse("rows + colz", Expression::Kind::Size)->check({{"rows", "cols"}, {}, {}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().place->column, 8);
  EXPECT_EQ(unknown.error().hint, "did you mean cols?");
}

}  // namespace
}  // namespace kw::kernel
