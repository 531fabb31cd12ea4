#include "kernel/call.h"

#include <gtest/gtest.h>

#include "example_manifest.h"
#include "kernel/layout.h"
#include "kernel/lifetime.h"

namespace kw::kernel {
namespace {

using Shape = std::vector<std::int64_t>;

Tensor dense(DType dtype, Shape shape, std::uint64_t address = 0) {
  Tensor tensor{dtype, shape, dense_strides(shape), address};
  return tensor;
}

Facts forward_facts(std::int64_t rows, std::int64_t cols) {
  Facts facts;
  facts.sizes = {{"rows", rows}, {"cols", cols}};
  facts.scalars = {{"eps", 1e-6}};
  facts.tensors = {{"x", dense(DType::BF16, {rows, cols})}, {"w", dense(DType::F32, {cols})}};
  return facts;
}

const TypeBinding kTypes = {{"T", DType::BF16}, {"W", DType::F32}};

TEST(BindSizes, TensorsShowThem) {
  const Manifest manifest = norm_manifest();
  const auto sizes =
      bind_sizes(manifest, manifest.passes[0], {{"x", dense(DType::BF16, {3, 8})}, {"w", dense(DType::F32, {8})}});
  ASSERT_TRUE(sizes) << sizes.error().message;
  EXPECT_EQ(*sizes, (Sizes{{"rows", 3}, {"cols", 8}}));
  EXPECT_TRUE(check_constraints(manifest, *sizes));
  const auto odd = check_constraints(manifest, {{"rows", 3}, {"cols", 7}});
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().message, "these sizes do not fulfil cols % 2 == 0");
}

TEST(BindSizes, MultiplesAndSumsAreSolved) {
  Manifest manifest;
  manifest.sizes = {"half", "heads", "n"};
  const Pass pass{"forward",
                  {{"a", Role::Input, "f32", {"heads*2*half", "n + half"}}, {"b", Role::Input, "f32", {"2*half", "1"}}},
                  {}};
  const auto sizes = bind_sizes(manifest, pass, {{"a", dense(DType::F32, {24, 10})}, {"b", dense(DType::F32, {6, 1})}});
  ASSERT_TRUE(sizes) << sizes.error().message;
  EXPECT_EQ(*sizes, (Sizes{{"half", 3}, {"heads", 4}, {"n", 7}}));
}

TEST(BindSizes, TensorsThatDisagreeAreRefused) {
  const Manifest manifest = norm_manifest();
  const auto message = [&](Shape x, Shape w) {
    const auto sizes =
        bind_sizes(manifest, manifest.passes[0], {{"x", dense(DType::BF16, x)}, {"w", dense(DType::F32, w)}});
    return sizes ? "" : sizes.error().message;
  };
  EXPECT_EQ(message({3, 8}, {9}), "dimension 0 of w is 9, and cols is 8");
  EXPECT_EQ(message({3, 8, 1}, {8}), "x has 3 dimensions, and the manifest says [rows, cols]");
  const auto missing = bind_sizes(manifest, manifest.passes[0], {{"w", dense(DType::F32, {8})}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "no tensor shows the size 'rows'");
  EXPECT_TRUE(bind_sizes(manifest, manifest.passes[0], {{"w", dense(DType::F32, {8})}}, {{"rows", 2}}));
}

TEST(Choose, TheFirstEntryWhoseGuardsHold) {
  const Manifest manifest = norm_manifest();
  const Step& step = manifest.passes[0].steps[0];
  Facts facts = forward_facts(3, 8);
  EXPECT_EQ((*choose(step, facts))->symbol, "norm_fast");
  facts.tensors["x"].address = 2;
  EXPECT_EQ((*choose(step, facts))->symbol, "norm_general");
  facts = forward_facts(3, 10);
  EXPECT_EQ((*choose(step, facts))->symbol, "norm_general");
  facts = forward_facts(std::int64_t{1} << 31, 8);
  EXPECT_EQ((*choose(step, facts))->symbol, "norm_general") << "i32 does not hold the rows";
}

TEST(Choose, WhereNoneServesEachObstacleIsNamed) {
  Step step = norm_manifest().passes[0].steps[0];
  step.entries.pop_back();
  const auto none = choose(step, forward_facts(3, 10));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "no kernel serves this call: norm_fast needs aligned(x, 16)");
}

TEST(Choose, WhatComesAfterAStepKnowsItsBlocks) {
  Step fill, rows, columns;
  fill.kind = Step::Kind::Fill;
  Entry by_rows, by_columns;
  by_rows.launch.grid[0] = "min(rows, multiprocessors)";
  by_columns.guards = {"blocks(1) > 1"};
  by_columns.launch.grid[0] = "2*blocks(1)";
  rows.entries = {by_rows}, columns.entries = {by_columns};
  Facts facts = forward_facts(3, 8);
  facts.machine.multiprocessors = 2;
  EXPECT_EQ(*choose_next(fill, facts), nullptr);
  EXPECT_EQ(*choose_next(rows, facts), &rows.entries[0]);
  EXPECT_EQ(*choose_next(columns, facts), &columns.entries[0]);
  EXPECT_EQ(facts.blocks, (std::vector<std::int64_t>{0, 2, 4}));
}

TEST(Arguments, HaveTheValuesAndTypesOfTheSignature) {
  const Manifest manifest = norm_manifest();
  Facts facts = forward_facts(3, 8);
  facts.tensors["x"].strides = {16, 1};
  const auto values = arguments_of(manifest.passes[0].steps[0].entries[1], kTypes, facts);
  ASSERT_TRUE(values) << values.error().message;
  const std::vector<ArgumentValue> wanted = {
      BufferArgument{"x"},
      BufferArgument{"w"},
      BufferArgument{"y"},
      BufferArgument{"rstd"},
      NumberArgument{DType::I64, std::int64_t{3}},
      NumberArgument{DType::I64, std::int64_t{8}},
      NumberArgument{DType::I64, std::int64_t{16}},
      NumberArgument{DType::I64, std::int64_t{1}},
      NumberArgument{DType::F32, 1e-6},
  };
  EXPECT_EQ(*values, wanted);
  const auto wide = arguments_of(manifest.passes[0].steps[0].entries[1], {{"T", DType::F64}, {"W", DType::F64}}, facts);
  EXPECT_EQ(wide->back(), ArgumentValue(NumberArgument{DType::F64, 1e-6})) << "T|f32 is f64 for f64";
}

TEST(Arguments, AMissingScalarIsAnError) {
  Facts facts = forward_facts(3, 8);
  facts.scalars.clear();
  const auto values = arguments_of(norm_manifest().passes[0].steps[0].entries[0], kTypes, facts);
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().message, "the scalar eps is not given");
}

TEST(Describe, GivesShapeTypeAndPyTorchsStrides) {
  Facts facts = forward_facts(4, 6);
  const Manifest manifest = norm_manifest();
  const auto rstd = describe(*manifest.passes[0].find("rstd"), kTypes, facts);
  EXPECT_EQ(*rstd, (Tensor{DType::F32, {4}, {1}, 0}));
  Buffer y{"y", Role::Output, "T", {"rows", "cols"}, {"x"}};
  facts.tensors["x"].strides = {1, 4};  // a transposed input
  EXPECT_EQ(describe(y, kTypes, facts)->strides, (Shape{1, 4}));
  facts.sizes["rows"] = -1;
  EXPECT_FALSE(describe(y, kTypes, facts));
}

TEST(MemoryUse, WorkspaceCountsWhileItIsNeeded) {
  const Pass backward = *norm_manifest().find("backward");
  Facts facts;
  facts.sizes = {{"rows", 100}, {"cols", 64}};
  const auto use = memory_use(backward, kTypes, facts);
  ASSERT_TRUE(use) << use.error().message;
  EXPECT_EQ(use->inputs, 2 * 100 * 64 * 2 + 64 * 4 + 100 * 4);
  EXPECT_EQ(use->outputs, 64 * 4) << "dx takes the memory of dy";
  EXPECT_EQ(use->workspace, 8 * 64 * 4);
  EXPECT_EQ(use->peak(), 64 * 4 + 8 * 64 * 4);
}

TEST(MemoryUse, WorkspaceThatIsNotNeededTogetherIsCountedOnce) {
  Pass pass{"forward",
            {{"x", Role::Input, "f32", {"n"}},
             {"a", Role::Workspace, "f32", {"n"}},
             {"b", Role::Workspace, "f32", {"3*n"}},
             {"c", Role::Workspace, "f32", {"n"}},
             {"y", Role::Output, "f32", {"n"}}},
            {}};
  const auto kernel = [](std::vector<std::string> reads, std::string writes) {
    Entry entry{"k", "k.cpp", {}, {}, {}};
    for (std::string& name : reads) entry.arguments.push_back({Argument::Kind::Read, std::move(name)});
    entry.arguments.push_back({Argument::Kind::Write, std::move(writes)});
    return Step{Step::Kind::Kernel, {entry}};
  };
  pass.steps = {kernel({"x"}, "a"), kernel({"a"}, "b"), kernel({"b"}, "c"), kernel({"c"}, "y")};
  const std::vector<Lifetime> lives = lifetimes(pass);
  EXPECT_EQ(lives[0].last, 3);
  EXPECT_EQ(lives[1].first, 0);
  EXPECT_EQ(lives[1].last, 1);
  EXPECT_EQ(lives[3].first, 2);
  Facts facts;
  facts.sizes = {{"n", 10}};
  EXPECT_EQ(memory_use(pass, {}, facts)->workspace, 4 * 10 * 4) << "b beside a, or b beside c";
}

TEST(Types, JoinByPyTorchsPromotion) {
  EXPECT_EQ(*dtype_of("T", kTypes), DType::BF16);
  EXPECT_EQ(*dtype_of("T|W", kTypes), DType::F32);
  EXPECT_EQ(*dtype_of("T|f16", kTypes), DType::F32);
  EXPECT_EQ(*dtype_of("i64", kTypes), DType::I64);
  EXPECT_FALSE(dtype_of("V", kTypes));
  EXPECT_FALSE(dtype_of("T||W", kTypes));
  EXPECT_FALSE(dtype_of("real", kTypes)) << "a weak type is none of a buffer";
  EXPECT_FALSE(dtype_of("f8e4m3|f32", kTypes)) << "fp8 promotes with nothing";
}

}  // namespace
}  // namespace kw::kernel
