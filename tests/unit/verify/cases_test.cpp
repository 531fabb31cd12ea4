#include "verify/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/text/parse.h"
#include "verify/answers.h"
#include "verify/reach.h"
#include "verify/shapes.h"
#include "verify/trial.h"
#include "verify/values.h"

namespace kw::verify {
namespace {

kernel::Entry entry(const std::string& symbol, std::vector<std::string> guards) {
  kernel::Entry out;
  out.symbol = symbol;
  out.guards = std::move(guards);
  return out;
}

// A norm whose kernels hold a row in a warp, in a block, or nowhere.
Subject norm() {
  Subject out;
  out.forward =
      *ir::text::parse("op norm(x: f32[rows, cols]; eps = 0.25)\n  y = x * rsqrt(sum(x * x, cols) + eps)\nreturn y\n");
  kernel::Pass pass;
  pass.name = "forward";
  kernel::Buffer x, y;
  x.name = "x", x.type = "f32", x.shape = {"rows", "cols"}, x.role = kernel::Role::Input;
  y.name = "y", y.type = "f32", y.shape = {"rows", "cols"}, y.role = kernel::Role::Output;
  pass.buffers = {x, y};
  kernel::Step step;
  step.entries = {entry("warp", {"cols % 4 == 0", "cols <= 1024"}), entry("block", {"cols % 4 == 0", "cols <= 16384"}),
                  entry("streamed", {"cols % 4 == 0"}), entry("any", {})};
  pass.steps = {step};
  out.manifest.passes = {pass};
  return out;
}

bool is_any_known(const Expected& expected) {
  const std::vector<double>& bounds = expected.at("y").bounds;
  return std::any_of(bounds.begin(), bounds.end(), [](double bound) { return std::isfinite(bound); });
}

// What is left out of a long sum shows in it, and so does one sign that is: both are in the numbers.
TEST(Values, ThoseOfALongSumLeanToOneSide) {
  ValueSource source(Values::Leaning, ir::DType::F32, 5);
  constexpr int kMany = 10'000;
  double sum = 0, negative = 0;
  for (int i = 0; i < kMany; ++i) {
    const double value = source.next();
    sum += value;
    negative += std::min(value, 0.0);
  }
  EXPECT_NEAR(sum / kMany, 1, 0.1);
  EXPECT_LT(negative / kMany, -0.05);
}

// Where the squares of all that was drawn leave the range, anything would be right.
TEST(Answers, LargeValuesAreDrawnAgainWhereNothingWouldBeKnown) {
  const Subject subject = norm();
  Case c{.sizes = {{"rows", 2}, {"cols", 2}}, .values = Values::Large};
  int drawn_known = 0, known = 0;
  for (c.seed = 1; c.seed <= 40; ++c.seed) {
    const auto values = values_of(subject, c);
    ASSERT_TRUE(values);
    const auto expected = expect(subject, c.types, *values);
    ASSERT_TRUE(expected) << render(expected.error());
    drawn_known += is_any_known(*expected) ? 1 : 0;
    const auto made = answer(subject, c, 0);
    ASSERT_TRUE(made) << render(made.error());
    known += is_any_known((*made)->expected) ? 1 : 0;
  }
  EXPECT_LT(drawn_known, 30);
  EXPECT_EQ(known, 40);
}

// Of ordinary numbers a long product leaves the range in some order, and then anything would be right.
TEST(Values, TheProductOfALongRowStaysWhereTheOracleKnowsIt) {
  Subject subject;
  subject.forward = *ir::text::parse("op product(x: T[rows, cols])\n  y = prod(x, cols)\nreturn y\n");
  for (const ir::DType type : {ir::DType::F32, ir::DType::BF16, ir::DType::F16, ir::DType::F64}) {
    const Case c{.types = {{"T", type}}, .sizes = {{"rows", 20}, {"cols", 50'021}}, .seed = 3};
    const auto values = values_of(subject, c);
    ASSERT_TRUE(values);
    const auto expected = expect(subject, c.types, *values);
    ASSERT_TRUE(expected) << render(expected.error());
    const ir::Array& y = expected->at("y");
    for (std::size_t i = 0; i < y.values.size(); ++i) {
      EXPECT_NE(y.values[i], 0);
      EXPECT_LT(y.bounds[i], std::fabs(y.values[i]) / 50);
    }
    EXPECT_GT(std::set<double>(y.values.begin(), y.values.end()).size(), 10u);
  }
}

TEST(Values, OnlyWhatIsMultipliedAlongALongAxisIsMostlyOne) {
  Subject subject;
  subject.forward = *ir::text::parse(
      "op product(x: f32[rows, cols], y: f32[rows, cols])\n  z = prod(x, cols) * sum(y, cols)\nreturn z\n");
  const auto ones = [&](std::int64_t rows, std::int64_t cols, const char* tensor) {
    const auto values = values_of(subject, {.types = {}, .sizes = {{"rows", rows}, {"cols", cols}}, .seed = 3});
    const std::vector<double>& all = values->inputs.at(tensor).values;
    return std::count_if(all.begin(), all.end(), [](double value) { return std::fabs(value) == 1; });
  };
  EXPECT_GT(ones(3, 4000, "x"), 3 * 3900);
  EXPECT_LT(ones(3, 4000, "y"), 3 * 100);
  EXPECT_LT(ones(4000, 3, "x"), 3 * 100) << "three factors stay in range";
  subject.forward = *ir::text::parse(
      "op product(x: f32[rows, cols], y: f32[rows, cols])\n  z = prod(prod(x, cols), rows) + sum(y, rows, "
      "cols)\nreturn z\n");
  EXPECT_GT(ones(60, 60, "x"), 3500) << "of 3600 factors";
}

TEST(Reach, AShapeRunsTheFirstEntryThatItsGuardsAdmit) {
  EXPECT_EQ(reached(norm(), {{"rows", 3}, {"cols", 8}}, {}, {}), (std::set<std::string>{"warp"}));
  EXPECT_EQ(reached(norm(), {{"rows", 3}, {"cols", 16384}}, {}, {}), (std::set<std::string>{"block"}));
  EXPECT_EQ(reached(norm(), {{"rows", 3}, {"cols", 7}}, {}, {}), (std::set<std::string>{"any"}));
}

TEST(Reach, KernelsForLongRowsGetLongRows) {
  const std::vector<kernel::Sizes> tried = {{{"rows", 3}, {"cols", 8}}, {{"rows", 2}, {"cols", 4099}}};
  const std::vector<kernel::Sizes> more = shapes_that_reach(norm(), tried, {}, {}, 150'000);
  std::set<std::string> symbols;
  for (const kernel::Sizes& sizes : more) symbols.merge(reached(norm(), sizes, {}, {}));
  EXPECT_EQ(symbols, (std::set<std::string>{"block", "streamed"}));
  EXPECT_TRUE(std::any_of(more.begin(), more.end(), [](const auto& sizes) {
    return sizes.at("cols") > 1024 && sizes.at("rows") > 1;  // what rows share is tried too
  }));
}

TEST(Reach, ARowThatFillsItsSharedMemoryGoesPastIt) {
  Subject subject = norm();
  for (kernel::Entry& entry : subject.manifest.passes[0].steps[0].entries) {
    entry.launch.grid = {"rows", "1", "1"}, entry.launch.block = {"32", "1", "1"};
    if (entry.symbol == "streamed") entry.launch.shared_bytes = "min(4*cols, 160000)";
  }
  std::int64_t longest = 0;
  for (const kernel::Sizes& sizes : shapes_that_reach(subject, {}, {}, {}, 150'000))
    if (sizes.at("cols") % 4 == 0) longest = std::max(longest, sizes.at("cols"));
  EXPECT_GT(4 * longest, 160'000);
}

TEST(Shapes, WhatASliceTakesIsThere) {
  const auto graph = ir::text::parse(
      "op f(x: f32[rows, cols])\n  first = slice(x, cols -> one = 1)\n  y = x + broadcast(sum(first, one), "
      "cols)\nreturn y\n");
  ASSERT_TRUE(graph) << render(graph.error());
  const std::vector<kernel::Sizes> shapes = shapes_to_try(subject_of(*graph, {}, {}), 150'000);
  EXPECT_GT(shapes.size(), 5u);
  for (const kernel::Sizes& sizes : shapes) EXPECT_GT(sizes.at("cols"), 0) << "PyTorch refuses x[:, 0] of no columns";
}

TEST(Reach, ARowIsTriedThatIsLongerThanABlockAtItsLargestHolds) {
  Subject subject = norm();
  subject.manifest.passes[0].steps[0].entries = {entry("one", {})};
  kernel::Launch& launch = subject.manifest.passes[0].steps[0].entries[0].launch;
  launch.grid = {"rows", "1", "1"}, launch.block = {"32*min(16, max(1, ceil_div(cols, 256)))", "1", "1"};
  std::int64_t longest = 0;
  const std::vector<kernel::Sizes> tried = {{{"rows", 3}, {"cols", 8}}, {{"rows", 2}, {"cols", 4096}}};
  for (const kernel::Sizes& sizes : shapes_that_reach(subject, tried, {}, {}, 150'000))
    longest = std::max(longest, sizes.at("cols"));
  EXPECT_GT(longest, 16 * 256);
}

TEST(Reach, KernelsForRaggedRowsGetLongOddRows) {
  Subject subject = norm();
  subject.manifest.passes[0].steps[0].entries.back().guards = {"cols <= 1024"};
  subject.manifest.passes[0].steps[0].entries.push_back(entry("long and odd", {}));
  std::set<std::string> symbols;
  for (const kernel::Sizes& sizes : shapes_that_reach(subject, {}, {}, {}, 150'000))
    symbols.merge(reached(subject, sizes, {}, {}));
  EXPECT_EQ(symbols.count("long and odd"), 1u);
}

TEST(Reach, TheLongestRowOfAKernelIsTried) {
  std::set<std::int64_t> lengths;
  for (const kernel::Sizes& sizes : shapes_that_reach(norm(), {}, {}, {}, 150'000)) lengths.insert(sizes.at("cols"));
  EXPECT_TRUE(lengths.contains(1024) && lengths.contains(16384));
}

TEST(Reach, NoShapeIsLargerThanTheLimit) {
  const std::vector<kernel::Sizes> more = shapes_that_reach(norm(), {}, {}, {}, 5'000);
  EXPECT_FALSE(more.empty());
  for (const kernel::Sizes& sizes : more) EXPECT_LE(sizes.at("rows") * sizes.at("cols"), 5'000);
}

TEST(Reach, AKernelIsReachedInEachLayoutByItself) {
  Subject subject = norm();
  for (kernel::Entry& entry : subject.manifest.passes[0].steps[0].entries)
    if (entry.symbol != "any") entry.guards.insert(entry.guards.end(), {"unit(x)", "aligned(x, 16)"});
  const auto symbols = [&](Layout layout) {
    std::set<std::string> all;
    for (const kernel::Sizes& sizes : shapes_that_reach(subject, {}, {}, {}, 150'000, layout)) {
      EXPECT_TRUE(layout != Layout::Gaps || sizes.at("rows") > 1);  // one row has none
      all.merge(reached(subject, sizes, {}, {}, layout));
    }
    return all;
  };
  EXPECT_EQ(symbols(Layout::Gaps), (std::set<std::string>{"warp", "block", "streamed", "any"}));
  EXPECT_EQ(symbols(Layout::Misaligned), (std::set<std::string>{"any"}));
}

// A sum in two steps, with a part from every block.
Subject total() {
  Subject out;
  out.forward = *ir::text::parse("op total(x: f32[rows, cols])\n  y = sum(x, rows)\nreturn y\n");
  kernel::Pass pass;
  pass.name = "forward";
  const std::string parts = "max(1, min(ceil_div(rows, 16), 4*multiprocessors))";
  kernel::Buffer x, y, slices;
  x.name = "x", x.type = "f32", x.shape = {"rows", "cols"}, x.role = kernel::Role::Input;
  y.name = "y", y.type = "f32", y.shape = {"cols"}, y.role = kernel::Role::Output;
  slices.name = "slices", slices.type = "f32", slices.shape = {parts, "cols"}, slices.role = kernel::Role::Workspace;
  pass.buffers = {x, y, slices};
  kernel::Step first, second;
  first.entries = {entry("parts", {})};
  first.entries[0].launch.grid = {parts, "1", "1"}, first.entries[0].launch.block = {"64", "1", "1"};
  second.entries = {entry("whole", {})};
  second.entries[0].arguments = {{.kind = kernel::Argument::Kind::Read, .of = "slices"}};
  pass.steps = {first, second};
  out.manifest.passes = {pass};
  return out;
}

TEST(Reach, ASumOfSeveralPartsIsToldFromOneOfOne) {
  const kernel::Machine three{1, 3};
  EXPECT_EQ(reached(total(), {{"rows", 16}, {"cols", 8}}, {}, three), (std::set<std::string>{"parts", "whole"}));
  EXPECT_TRUE(reached(total(), {{"rows", 17}, {"cols", 8}}, {}, three).contains("whole, of several parts"));
  EXPECT_FALSE(reached(total(), {{"rows", 2000}, {"cols", 8}}, {}, three).contains("whole, of many parts"));
  EXPECT_TRUE(
      reached(total(), {{"rows", 2000}, {"cols", 8}}, {}, {1, kManyMultiprocessors}).contains("whole, of many parts"));
}

TEST(Reach, BlocksThatTakeTurnsAreToldFromThoseThatDoNot) {
  const kernel::Machine three{1, 3};
  const std::string turns = "parts, in several turns of several warps";
  EXPECT_FALSE(reached(total(), {{"rows", 16 * 12}, {"cols", 8}}, {}, three).contains(turns));
  EXPECT_TRUE(reached(total(), {{"rows", 16 * 12 + 1}, {"cols", 8}}, {}, three).contains(turns));
}

TEST(Reach, BlocksTakeTurnsInAKernelThatWantsVectorsOfTheOtherAxes) {
  Subject subject;
  subject.forward = *ir::text::parse(
      "op slopes(x: f32[batch, channels, height, width])\n  y = sum(x, batch, height, width)\nreturn y\n");
  kernel::Pass pass;
  pass.name = "forward";
  kernel::Buffer x, y;
  x.name = "x", x.type = "f32", x.shape = {"batch", "channels", "height", "width"}, x.role = kernel::Role::Input;
  y.name = "y", y.type = "f32", y.shape = {"channels"}, y.role = kernel::Role::Output;
  pass.buffers = {x, y};
  kernel::Step step;
  step.entries = {entry("vectors", {"(height*width) % 8 == 0"}), entry("any", {})};
  step.entries[0].launch.grid = {"max(1, min(channels, multiprocessors*8))", "1", "1"};
  step.entries[0].launch.block = {"32*batch", "1", "1"};
  pass.steps = {step};
  subject.manifest.passes = {pass};
  const kernel::Machine three{1, 3};
  std::set<std::string> all;
  for (const kernel::Sizes& sizes : shapes_that_reach(subject, {}, {}, three, 300'000))
    all.merge(reached(subject, sizes, {}, three));
  EXPECT_TRUE(all.contains("vectors, in several turns of several warps"));
}

TEST(Reach, SumsGetManyPartsOnAGpuOfManyMultiprocessors) {
  const std::vector<kernel::Sizes> shapes = shapes_of_many_parts(total(), {}, 150'000, Layout::Dense);
  ASSERT_FALSE(shapes.empty());
  for (const kernel::Sizes& sizes : shapes) {
    EXPECT_GT(sizes.at("rows"), 16 * 32);
    EXPECT_LE(sizes.at("rows") * sizes.at("cols"), 150'000);
  }
  EXPECT_TRUE(shapes_of_many_parts(norm(), {}, 150'000, Layout::Dense).empty());
  EXPECT_TRUE(shapes_of_many_parts(total(), {}, 500, Layout::Dense).empty());
}

TEST(Layouts, RowsThatVectorsServeCanBeReadByThemWithGapsToo) {
  for (const std::int64_t length : {16, 24, 12, 1032}) {
    const std::int64_t stride = strides_in(Layout::Gaps, std::vector<std::int64_t>{3, length})[0];
    EXPECT_GT(stride, length);
    for (const std::int64_t vector : {4, 8, 16}) EXPECT_TRUE(length % vector != 0 || stride % vector == 0) << length;
  }
  EXPECT_EQ(strides_in(Layout::Gaps, std::vector<std::int64_t>{3, 13})[0], 16);
}

TEST(Cases, NoOuterStrideOfUnevenGapsIsWhatSizesMakeOfTheNext) {
  const std::vector<std::int64_t> shape = {3, 5, 7, 16}, strides = strides_in(Layout::Uneven, shape);
  EXPECT_EQ(strides[3], 1);
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) EXPECT_GT(strides[d], strides[d + 1] * shape[d + 1]);
}

TEST(Cases, WhatIsVastReachesBeyond31BitsAndOneSliceIsDense) {
  for (const std::int64_t rows : {2, 3, 17}) {
    const std::vector<std::int64_t> strides = strides_in(Layout::Vast, std::vector<std::int64_t>{rows, 5});
    EXPECT_GT((rows - 1) * strides[0], std::int64_t{1} << 31) << rows;
    EXPECT_EQ(strides[1], 1);
  }
  EXPECT_EQ(strides_in(Layout::Vast, std::vector<std::int64_t>{1, 5})[0], 5);
}

TEST(Cases, WhereALayoutRepeatsANumberTheValuesDo) {
  const auto values = values_of(norm(), {.types = {}, .sizes = {{"rows", 4}, {"cols", 6}}, .layout = Layout::Repeated});
  ASSERT_TRUE(values);
  const std::vector<double>& x = values->inputs.at("x").values;
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], x[i / 6 * 6]) << i;
  EXPECT_NE(x[0], x[6]);
}

TEST(Cases, MaskedRowsAreInfiniteFromEndToEndBesideOrdinaryOnes) {
  const auto values =
      values_of(norm(), {.types = {}, .sizes = {{"rows", 40}, {"cols", 6}}, .values = Values::Masked, .seed = 7});
  ASSERT_TRUE(values);
  const std::vector<double>& x = values->inputs.at("x").values;
  int masked = 0, ordinary = 0;
  for (std::size_t r = 0; r < x.size() / 6; ++r) {
    const auto infinite =
        std::count_if(x.begin() + static_cast<std::ptrdiff_t>(6 * r),
                      x.begin() + static_cast<std::ptrdiff_t>(6 * r + 6), [](double v) { return std::isinf(v); });
    EXPECT_TRUE(infinite == 0 || infinite == 6) << r;
    (infinite == 6 ? masked : ordinary) += 1;
  }
  EXPECT_GT(masked, 4);
  EXPECT_GT(ordinary, 4);
}

TEST(Cases, WhatIsSummedOverIsLongInSomeCaseWhereThereIsRoom) {
  const auto longest = [](std::int64_t most_along_axis) {
    std::int64_t most = 0;
    for (const Case& c : plan_cases(norm(), {.seed = 1, .most_along_axis = most_along_axis}))
      most = std::max(most, c.sizes.at("cols"));
    return most;
  };
  EXPECT_GT(longest(1'400'000), 1 << 18);
  EXPECT_LT(longest(60'000), 60'000);
}

TEST(Cases, LayoutsAreTriedWhereNoSizeStandsInForAnother) {
  Subject subject;
  subject.forward = *ir::text::parse("op act(x: f32[batch, channels, height, width])\n  y = x * x\nreturn y\n");
  bool tried = false;
  for (const Case& c : plan_cases(subject, {.seed = 1, .most_elements = 40'000})) {
    if (c.layout != Layout::Expanded) continue;
    const auto height = c.sizes.at("height"), width = c.sizes.at("width"), channels = c.sizes.at("channels");
    EXPECT_NE(height * width, height + width) << c.text();
    EXPECT_NE(channels, height) << c.text();
    EXPECT_NE(height, width) << c.text();
    tried = true;
  }
  EXPECT_TRUE(tried);
}

TEST(Cases, OneRowAndTwoRowsAreTriedInOtherOrdersAndWithGaps) {
  Subject subject = norm();
  subject.shapes = {{{"rows", 3}, {"cols", 5000}}, {{"rows", 5000}, {"cols", 3}}};  // others than these are tried too
  for (const std::int64_t rows : {1, 2}) {
    bool tried = false;
    for (const Case& c : plan_cases(subject, {.seed = 1, .most_elements = 20'000}))
      tried |= c.layout == Layout::Mixed && c.sizes.at("rows") == rows && c.sizes.at("cols") > 1;
    EXPECT_TRUE(tried) << rows;
  }
}

TEST(Cases, RowsThatVectorsServeAreTriedFartherApartAndStillAligned) {
  bool tried = false;
  for (const Case& c : plan_cases(norm(), {.seed = 1, .most_elements = 40'000})) {
    if (c.layout != Layout::Gaps || c.sizes.at("rows") < 2) continue;
    const std::int64_t shape[] = {c.sizes.at("rows"), c.sizes.at("cols")};
    const std::int64_t stride = strides_in(c.layout, shape)[0];
    tried |= stride > shape[1] && shape[1] % kVector == 0 && stride % kVector == 0;
  }
  EXPECT_TRUE(tried);
}

TEST(Cases, EachAxisIsLongerThanATileInSomeCase) {
  Subject subject;
  subject.forward = *ir::text::parse("op act(x: f32[batch, channels, height, width])\n  y = x * x\nreturn y\n");
  const std::vector<Case> cases = plan_cases(subject, {.seed = 1, .most_elements = 20'000});
  for (const char* axis : {"batch", "channels", "height", "width"})
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const Case& c) { return c.sizes.at(axis) > 1024; }))
        << axis;
}

TEST(Cases, EachAxisIsOneInDenseTensorsThatVectorsServeAndInOthers) {
  Subject subject;
  subject.forward = *ir::text::parse("op act(x: f32[batch, channels, height, width])\n  y = x * x\nreturn y\n");
  const std::vector<std::string> axes = {"batch", "channels", "height", "width"};
  const std::vector<Case> cases = plan_cases(subject, {.seed = 1, .most_elements = 20'000});
  const auto is_tried = [&](const std::string& axis, bool by_vectors) {
    return std::any_of(cases.begin(), cases.end(), [&](const Case& c) {
      return c.layout == Layout::Dense && std::all_of(axes.begin(), axes.end(), [&](const std::string& other) {
               const std::int64_t size = c.sizes.at(other);
               return other == axis ? size == 1 : size > 1 && (size % 8 == 0) == by_vectors;
             });
    });
  };
  for (const std::string& axis : axes)
    for (const bool by_vectors : {false, true}) EXPECT_TRUE(is_tried(axis, by_vectors)) << axis;
}

TEST(Cases, EachAxisIsEmptyInSomeCase) {
  const Subject subject = norm();
  for (const std::string& name : {std::string("rows"), std::string("cols")}) {
    const std::vector<kernel::Sizes> shapes = shapes_to_try(subject, 40'000);
    EXPECT_TRUE(std::any_of(shapes.begin(), shapes.end(), [&](const auto& s) { return s.at(name) == 0; })) << name;
  }
}

TEST(Cases, WhatIsSearchedForItsGreatestIsNeverEmpty) {
  Subject subject;
  subject.forward = *ir::text::parse("op greatest(x: f32[rows, cols])\n  y = argmax(x, cols)\nreturn y\n");
  const std::vector<kernel::Sizes> shapes = shapes_to_try(subject, 40'000);
  const auto some_empty = [&](const char* name) {
    return std::any_of(shapes.begin(), shapes.end(), [&](const auto& s) { return s.at(name) == 0; });
  };
  EXPECT_FALSE(some_empty("cols"));
  EXPECT_TRUE(some_empty("rows"));
}

TEST(Cases, LandmarksAreTheNumbersOfTheMath) {
  const Subject subject = norm();
  Case c;
  c.sizes = {{"rows", 20}, {"cols", 20}};
  c.values = Values::Landmarks;
  c.seed = 1;
  const auto values = values_of(subject, c);
  ASSERT_TRUE(values) << render(values.error());
  const std::vector<double>& x = values->inputs.at("x").values;
  for (const double landmark : {0.0, 0.25, -0.25}) EXPECT_GT(std::count(x.begin(), x.end(), landmark), 10) << landmark;
  EXPECT_TRUE(std::any_of(x.begin(), x.end(), [](double v) { return v != 0 && std::fabs(v) != 0.25; }));
}

TEST(Cases, ATensorOfOneNumberMeetsEachLandmarkInEveryType) {
  Subject subject;
  subject.forward = *ir::text::parse(
      "op clip(x: T[rows], scale: T)\n  types T = bf16\n  sizes rows = 4\n  y = x * min(exp(scale), 100)\nreturn y\n");
  std::map<ir::DType, std::set<double>> met;
  for (const Case& c : plan_cases(subject, {}))
    met[c.types.at("T")].insert(values_of(subject, c)->inputs.at("scale").values[0]);
  for (const ir::DType type : {ir::DType::BF16, ir::DType::F16, ir::DType::F32, ir::DType::F64})
    EXPECT_TRUE(met[type].contains(ir::round_to(type, std::log(100.0)))) << ir::info(type).name;
}

TEST(Answers, AreComputedOnceForEachCaseAndTurn) {
  const Subject subject = norm();
  Case c;
  c.sizes = {{"rows", 2}, {"cols", 3}};
  c.seed = 7;
  Answers answers;
  const auto first = answers.of(subject, c, 0), second = answers.of(subject, c, 0), fresh = answers.of(subject, c, 1);
  ASSERT_TRUE(first && second && fresh);
  EXPECT_EQ(first->get(), second->get());
  EXPECT_NE((*first)->values.inputs.at("x").values, (*fresh)->values.inputs.at("x").values);
  const auto alone = answer(subject, c, 0);
  ASSERT_TRUE(alone);
  EXPECT_EQ((*alone)->expected.at("y").values, (*first)->expected.at("y").values);
}

TEST(Layout, MixedTensorsLieEachInItsOwnWay) {
  const std::vector<std::int64_t> shape = {3, 5};
  EXPECT_EQ(strides_in(Layout::Mixed, shape, 0), (std::vector<std::int64_t>{1, 6}));
  EXPECT_EQ(strides_in(Layout::Mixed, shape, 1), (std::vector<std::int64_t>{5, 1}));
  const std::vector<std::int64_t> row = {5};
  EXPECT_NE(strides_in(Layout::Mixed, row, 0), strides_in(Layout::Mixed, row, 1));
}

}  // namespace
}  // namespace kw::verify
