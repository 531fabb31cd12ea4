// The bound: kernels that round where the graph says and sum in another order lie within it; others lie outside.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "interpreter_case.h"
#include "ir/interpreter/compare.h"

namespace kw::ir {
namespace {

using Values = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

double bf16(double x) { return round_to(DType::BF16, static_cast<float>(x)); }

Array bounded(Op op, DType type, Values x, Values bounds, const InterpretOptions& options = kBounded) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(op, {c.tensor("x", type, {n})}), {n});
  c.call.inputs["x"] = Array{{static_cast<int64_t>(x.size())}, std::move(x), std::move(bounds)};
  return c.run(options);
}

Array bounded(Op op, DType type, Values a, Values ea, Values b, Values eb) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(op, {c.tensor("a", type, {n}), c.tensor("b", type, {n})}), {n});
  c.call.inputs["a"] = Array{{static_cast<int64_t>(a.size())}, std::move(a), std::move(ea)};
  c.call.inputs["b"] = Array{{static_cast<int64_t>(b.size())}, std::move(b), std::move(eb)};
  return c.run(kBounded);
}

// ---- what one op does to a bound ----
TEST(InterpreterBound, CorrectlyRoundedOpsOnExactOperandsAreExact) {
  for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min, Op::Lt, Op::Mod})
    for (DType type : {DType::F32, DType::BF16, DType::F16})
      EXPECT_EQ(bounded(op, type, {1.1, 2.3, -7.7}, {}, {3.3, -0.9, 1e-3}, {}).bounds, (Values{0, 0, 0}))
          << info(op).name;
  EXPECT_EQ(bounded(Op::FloorDiv, DType::F32, {1.1}, {}, {0.3}, {}).bounds, (Values{0}));
  for (Op op : {Op::Neg, Op::Abs, Op::Floor, Op::Round, Op::Sign})
    EXPECT_EQ(bounded(op, DType::BF16, {1.1, -2.5}, {}).bounds, (Values{0, 0})) << info(op).name;
}

TEST(InterpreterBound, ACastAddsNothingExceptWhereTheIntervalCrossesARoundingBoundary) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(Op::Cast, {c.tensor("x", DType::F32, {n})}, CastAttr{DType::BF16}), {n});
  const double tie = 1 + 0x1p-8;  // between 1 and 1 + 2^-7
  c.call.inputs["x"] = Array{{4}, {1.001, tie - 0x1p-16, tie + 0x1p-16, 3}, {1e-4, 0x1p-15, 0x1p-15, 0}};
  const Array out = c.run(kBounded);
  EXPECT_EQ(out.values, (Values{1, 1, 1 + 0x1p-7, 3}));
  EXPECT_EQ(out.bounds, (Values{0, 0x1p-7, 0x1p-7, 0}));
}

TEST(InterpreterBound, AFunctionIsChargedItsUlpsInTheTypeThatItIsComputedIn) {
  const Array f32 = bounded(Op::Tanh, DType::F32, {0.5}, {});
  const double ulp_there = ulp(DType::F32, std::tanh(0.5));
  EXPECT_GE(f32.bounds[0], 2 * ulp_there);
  EXPECT_LE(f32.bounds[0], 3 * ulp_there);
  // In bf16 the f32 error matters only next to a tie.
  EXPECT_EQ(bounded(Op::Tanh, DType::BF16, {0.5}, {}).bounds, (Values{0}));
}

TEST(InterpreterBound, MonotoneFunctionsMoveByTheirEnds) {
  const Array out = bounded(Op::Exp, DType::F64, {1, 1}, {0.5, 0});
  EXPECT_NEAR(out.bounds[0], std::exp(1.5) - std::exp(1.0), 1e-12);
  EXPECT_LT(out.bounds[1], 1e-14);
  EXPECT_EQ(bounded(Op::Floor, DType::F32, {2.5, 2.9}, {0.25, 0.25}).bounds, (Values{0, 1}));
  EXPECT_EQ(bounded(Op::Sign, DType::F32, {0.5, 0.5}, {0.25, 0.75}).bounds, (Values{0, 2}));
}

TEST(InterpreterBound, WhereAFunctionMayBeUndefinedAnythingGoes) {
  EXPECT_EQ(bounded(Op::Sqrt, DType::F32, {0.5}, {1}).bounds[0], kInf);
  EXPECT_EQ(bounded(Op::Log, DType::F32, {0.5}, {1}).bounds[0], kInf);
  EXPECT_EQ(bounded(Op::Div, DType::F32, {1}, {0}, {0.5}, {1}).bounds[0], kInf);
  EXPECT_EQ(bounded(Op::Tan, DType::F32, {1.5}, {0.5}).bounds[0], kInf);
  EXPECT_EQ(bounded(Op::Pow, DType::F32, {0.5}, {1}, {0.5}, {0}).bounds[0], kInf);
}

TEST(InterpreterBound, ANaNOrAnInfinityThatIsSureStaysSure) {
  const Array nan = bounded(Op::Add, DType::F32, {kNaN, kInf, -kInf}, {}, {1, 1, 1}, {0.5, 0.5, 0.5});
  EXPECT_EQ(nan.bounds, (Values{0, 0, 0}));
  EXPECT_EQ(bounded(Op::Mul, DType::F32, {-kInf}, {}, {2}, {0.5}).bounds, (Values{0}));
  EXPECT_EQ(bounded(Op::Exp, DType::F32, {-kInf, 200}, {}).bounds, (Values{0, 0}));
  // Next to the largest number the kernel may overflow.
  EXPECT_EQ(bounded(Op::Mul, DType::F16, {255}, {1}, {256}, {0}).bounds[0], kInf);
}

TEST(InterpreterBound, WhatMayOverflowOnTheWayNeedNotBeUndefinedWhereTheOracleIs) {
  // An infinity that a kernel may not have met, times zero: NaN here, 0 there.
  EXPECT_EQ(bounded(Op::Mul, DType::F32, {-kInf}, {kInf}, {0}, {0}).bounds[0], kInf);
  // A NaN that every kernel meets stays one, whatever it is combined with.
  EXPECT_EQ(bounded(Op::Mul, DType::F32, {kNaN}, {0}, {0}, {kInf}).bounds[0], 0);
  EXPECT_EQ(bounded(Op::Mul, DType::F32, {-kInf}, {0}, {0}, {0}).bounds[0], 0);
}

TEST(InterpreterBound, AMeanWithAnInfiniteTermIsInfiniteInEveryOrder) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(Op::Mean, {c.tensor("x", DType::F32, {n})}, AxisList{{n}}), {});
  c.call.inputs["x"] = Array{{4}, {1, kInf, -2, 0.5}};
  const Array out = c.run(kBounded);
  EXPECT_EQ(out.values, (Values{kInf}));
  EXPECT_EQ(out.bounds, (Values{0}));
}

TEST(InterpreterBound, AComparisonIsUndecidedWhereTheIntervalsMeet) {
  const Array out = bounded(Op::Lt, DType::F32, {1, 1, 1}, {0.25, 0.25, 0}, {1.25, 2, 1}, {0, 0.5, 0});
  EXPECT_EQ(out.values, (Values{1, 1, 0}));
  EXPECT_EQ(out.bounds, (Values{1, 0, 0}));
}

TEST(InterpreterBound, AnUndecidedSelectCoversBothBranches) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  const NodeId x = c.tensor("x", DType::F32, {n});
  const NodeId positive = c.b.make(Op::Lt, {c.b.constant(0), x});
  c.output(c.b.make(Op::Select, {positive, c.b.constant(5), c.b.constant(-1)}), {n});
  c.call.inputs["x"] = Array{{3}, {0.5, 0.5, -1}, {0.25, 1, 2}};
  const Array out = c.run(kBounded);
  EXPECT_EQ(out.values, (Values{5, 5, -1}));
  EXPECT_EQ(out.bounds, (Values{0, 6, 6}));
}

TEST(InterpreterBound, ASumIsChargedTheLogarithmAndTheChainNeverItsLength) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(Op::Sum, {c.tensor("x", DType::F32, {n})}, AxisList{{n}}), {});
  c.call.inputs["x"] = Array{{1 << 20}, Values(1 << 20, 1.0)};
  const double u = 0x1p-24, total = 1 << 20;
  for (int64_t chain : {0, 8, 64}) {
    const Array out = c.run({.semantics = Semantics::Rounded, .track_bounds = true, .longest_serial_chain = chain});
    EXPECT_NEAR(out.bounds[0], (20 + static_cast<double>(chain)) * u * total, 0.126);
  }
  // One or two terms are rounded as the oracle rounds them; a third makes the order matter.
  c.give("x", {2}, {1, 0x1p-30});
  EXPECT_EQ(c.run(kBounded).bounds[0], 0);
  c.give("x", {3}, {1, 0x1p-30, 1});
  EXPECT_GT(c.run(kBounded).bounds[0], 0);
  EXPECT_LE(c.run(kBounded).bounds[0], 0x1p-21);
}

TEST(InterpreterBound, WhereAPartialSumMayOverflowAnythingGoes) {
  const double most = 3e38;
  for (const Op op : {Op::Sum, Op::Mean}) {
    InterpreterCase c;
    const AxisId n = c.axis("n");
    c.output(c.b.make(op, {c.tensor("x", DType::F32, {n})}, AxisList{{n}}), {});
    c.give("x", {3}, {most, -most, most});  // in order 3e38; the first and the last together are infinite
    EXPECT_EQ(c.run(kBounded).bounds[0], kInf);
    c.give("x", {2}, {most, -most});
    EXPECT_EQ(c.run(kBounded).bounds[0], 0);
    c.give("x", {3}, {most / 4, -most / 4, most / 4});
    EXPECT_LT(c.run(kBounded).bounds[0], most);
    // Of one sign: the sum is infinite in every order, the mean only where it is not scaled first.
    for (const Values& x : {Values{most, most, most}, Values{most, most}}) {
      c.give("x", {static_cast<int64_t>(x.size())}, x);
      EXPECT_EQ(c.run(kBounded).bounds[0], op == Op::Sum ? 0 : kInf);
    }
  }
}

TEST(InterpreterBound, AProductThatOverflowsInASumOrALongerProductMayNeverHaveBeen) {
  for (const DType type : {DType::F32, DType::F64}) {
    const double most = info(type).max_finite;
    const auto bound_of = [&](Op op, double x, double other) {
      InterpreterCase c;
      const AxisId n = c.axis("n");
      const NodeId product = c.b.make(Op::Mul, {c.tensor("x", type, {n}), c.tensor("y", type, {n})});
      c.output(op == Op::Mul || op == Op::Add ? c.b.make(op, {product, c.tensor("z", type, {n})}) : product, {n});
      c.give("x", {1}, {x});
      c.give("y", {1}, {2});
      if (op == Op::Mul || op == Op::Add) c.give("z", {1}, {other});
      return c.run(kBounded).bounds[0];
    };
    EXPECT_EQ(bound_of(Op::Add, most, -kInf), kInf) << "fused, it is -inf; else no number";
    EXPECT_EQ(bound_of(Op::Mul, most, 0.25), kInf) << "in another order it is finite";
    EXPECT_EQ(bound_of(Op::Neg, most, 0), 0) << "by itself it is infinite in every kernel";
    EXPECT_EQ(bound_of(Op::Mul, kInf, 0.25), 0) << "what was given as infinite is so in any order";
    EXPECT_LT(bound_of(Op::Mul, most / 4, 0.25), most);
  }
  // What is rounded to a narrower type is there.
  InterpreterCase c;
  const AxisId n = c.axis("n");
  const NodeId product = c.b.make(Op::Mul, {c.tensor("x", DType::F16, {n}), c.tensor("y", DType::F16, {n})});
  c.output(c.b.make(Op::Mul, {product, c.tensor("z", DType::F16, {n})}), {n});
  for (const char* name : {"x", "y"}) c.give(name, {1}, {300});
  c.give("z", {1}, {0.25});
  EXPECT_EQ(c.run(kBounded).values[0], kInf);
  EXPECT_EQ(c.run(kBounded).bounds[0], 0);
}

TEST(InterpreterBound, ATieThatATinyTermBreaksInAFusedSumIsWithinTheBound) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  const NodeId product = c.b.make(Op::Mul, {c.tensor("x", DType::F32, {n}), c.tensor("y", DType::F32, {n})});
  c.output(c.b.make(Op::Add, {product, c.tensor("z", DType::F32, {n})}), {n});
  c.give("x", {1}, {1 + 0x1p-23});
  c.give("y", {1}, {1.5});  // the product lies between 1.5 + 2^-23 and 1.5 + 2^-22
  c.give("z", {1}, {-0x1p-90});
  const double fused = std::fmaf(1.5f, 1 + 0x1p-23f, -0x1p-90f);
  const Array out = c.run(kBounded);
  EXPECT_NE(fused, out.values[0]) << "rounded by itself, the product is even";
  EXPECT_GE(out.bounds[0], std::fabs(fused - out.values[0]));
}

TEST(InterpreterBound, WhatMayBeAnythingMayBeNaNAfterEveryFunction) {
  for (Op op : {Op::Tanh, Op::Sigmoid, Op::Exp, Op::Abs, Op::Sign, Op::Sin})
    EXPECT_EQ(bounded(op, DType::F32, {0.5}, {kInf}).bounds, (Values{kInf})) << info(op).name;
  for (Op op : {Op::Add, Op::Mul, Op::Max, Op::Min})
    EXPECT_EQ(bounded(op, DType::F32, {0.5}, {kInf}, {2}, {}).bounds, (Values{kInf})) << info(op).name;
  EXPECT_EQ(bounded(Op::Lt, DType::F32, {0.5}, {kInf}, {2}, {}).bounds, (Values{1}));
}

TEST(InterpreterBound, AnInfiniteTermDecidesASumUnlessTheOthersCanOverflow) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(Op::Sum, {c.tensor("x", DType::F32, {n})}, AxisList{{n}}), {});
  c.give("x", {3}, {kInf, -1, -2});
  EXPECT_EQ(c.run(kBounded).bounds[0], 0);
  c.give("x", {3}, {kInf, -3e38, -3e38});  // infinite, or NaN where the others are added first
  EXPECT_EQ(c.run(kBounded).bounds[0], kInf);
}

TEST(InterpreterBound, AnIndexMayMoveToEveryElementThatIsAsNear) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), k = c.axis("k", Size(2)), m = c.axis("m");
  const NodeId x = c.tensor("x", DType::F32, {n}), table = c.tensor("table", DType::F32, {m});
  const NodeId best = c.b.make(Op::ArgMax, {x}, AxisList{{n}});
  c.output(best, {}, "best");
  c.output(c.b.make(Op::Gather, {table, best}, AxisList{{m}}), {}, "looked_up");
  c.output(c.b.make(Op::ArgTopK, {x}, TopKAttr{n, k, true}), {k}, "top");
  c.output(c.b.make(Op::Sort, {x}, SortAttr{n, false}), {n}, "sorted");
  c.call.inputs["x"] = Array{{5}, {1, 5, 3, 4.9, 2}, Values(5, 0.1)};
  c.give("table", {5}, {10, 20, 30, 100, 40});
  const auto out = c.try_run(kBounded);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->at(0).values, (Values{1}));
  EXPECT_EQ(out->at(0).bounds, (Values{2}));
  EXPECT_EQ(out->at(1).values, (Values{20}));
  EXPECT_EQ(out->at(1).bounds, (Values{80}));
  EXPECT_EQ(out->at(2).values, (Values{1, 3}));
  EXPECT_EQ(out->at(2).bounds, (Values{2, 2}));
  EXPECT_EQ(out->at(3).bounds, Values(5, 0.1));
  // Exact ties are no doubt: the first wins in the kernel too.
  c.give("x", {5}, {1, 5, 5, 5, 2});
  EXPECT_EQ(c.try_run(kBounded)->at(0).bounds, (Values{0}));
  EXPECT_EQ(c.try_run(kBounded)->at(2).bounds, (Values{0, 0}));
}

TEST(InterpreterBound, AnIndexInDoubtScattersAnywhere) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), t = c.axis("t"), r = c.axis("r");
  const NodeId base = c.tensor("base", DType::F32, {r, n}), value = c.tensor("value", DType::F32, {r, t});
  const NodeId index = c.b.cast(c.tensor("where", DType::F32, {r, t}), DType::I64);
  c.output(c.b.make(Op::ScatterAdd, {base, index, value}, AxisList{{n}}), {r, n});
  c.give("base", {2, 2}, Values(4, 0)).give("value", {2, 1}, {1, 1});
  c.call.inputs["where"] = Array{{2, 1}, {0.9, 0.5}, {0.2, 0.2}};
  EXPECT_EQ(c.run(kBounded).bounds, (Values{kInf, kInf, 0, 0}));
}

TEST(InterpreterBound, AProductMayBeKeptUnroundedInsideAFusedMultiplyAdd) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  const NodeId x = c.tensor("x", DType::F32, {n}), y = c.tensor("y", DType::F32, {n}),
               z = c.tensor("z", DType::F32, {n});
  c.output(c.b.make(Op::Add, {c.b.make(Op::Mul, {x, y}), z}), {n});
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> a, b, d;
  Values separate, fused;
  for (int i = 0; i < 1000; ++i) {
    a.push_back(normal(generator));
    b.push_back(normal(generator));
    d.push_back(-a.back() * b.back());  // cancellation shows the product's rounding whole
    const float product = a.back() * b.back();
    separate.push_back(product + d.back());
    fused.push_back(std::fma(a.back(), b.back(), d.back()));
  }
  c.give("x", {1000}, Values(a.begin(), a.end())).give("y", {1000}, Values(b.begin(), b.end()));
  c.give("z", {1000}, Values(d.begin(), d.end()));
  const Array out = c.run(kBounded);
  EXPECT_TRUE(compare(out, separate, DType::F32).within());
  EXPECT_TRUE(compare(out, fused, DType::F32).within());
  EXPECT_NE(separate, fused);
}

// The product of all numbers along an axis.
Array product_of(DType type, Values x) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.reduce(Op::Prod, c.tensor("x", type, {n}), {n}), {});
  const auto count = static_cast<int64_t>(x.size());
  c.give("x", {count}, std::move(x));
  return c.run(kBounded);
}

TEST(InterpreterBound, AnInfiniteProductIsAnythingWhereItsOtherFactorsMayComeToNothingFirst) {
  EXPECT_EQ(product_of(DType::F32, {kInf, 1e-20, 1e-20}).bounds, Values{0}) << "1e-40 is above zero";
  EXPECT_EQ(product_of(DType::F32, {kInf, 1e-30, 1e-30}).bounds, Values{kInf}) << "0 * inf in another order";
}

TEST(InterpreterBound, NothingIsKnownOfWholeNumbersBeyondThoseThatADoubleHolds) {
  EXPECT_EQ(product_of(DType::I64, Values(17, 9)).bounds, Values{kInf}) << "more than 2^53";
  const Array out = product_of(DType::I64, Values(16, 9));
  EXPECT_EQ(out.values, Values{1853020188851841.0});
  EXPECT_TRUE(out.bounds.empty() || out.bounds == Values{0});
}

// x * y * z of one number each.
Array product_of_three(DType type, double x, double y, double z) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  const NodeId xy = c.b.make(Op::Mul, {c.tensor("x", type, {n}), c.tensor("y", type, {n})});
  c.output(c.b.make(Op::Mul, {xy, c.tensor("z", type, {n})}), {n});
  c.give("x", {1}, {x}).give("y", {1}, {y}).give("z", {1}, {z});
  return c.run(kBounded);
}

TEST(InterpreterBound, TheFactorsOfAProductMayBeMultipliedInAnotherOrder) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  int differing = 0;
  for (int i = 0; i < 1000; ++i) {
    const float x = normal(generator), y = normal(generator), z = normal(generator);
    const float as_written = x * y * z, otherwise = x * (y * z);
    const Array out = product_of_three(DType::F32, x, y, z);
    EXPECT_EQ(out.values, Values{as_written});
    EXPECT_TRUE(compare(out, Values{otherwise}, DType::F32).within());
    EXPECT_LE(out.bounds[0], 3 * ulp(DType::F32, as_written));
    differing += as_written != otherwise;
  }
  EXPECT_GT(differing, 100);
}

TEST(InterpreterBound, AnOrderOfFactorsThatKeepsWhatTheGraphsOwnLosesIsWithinIt) {
  const float x = 1.3e-33F, y = 1.7e-10F, z = 3e20F;  // x * y is subnormal
  const float as_written = x * y * z, otherwise = x * (y * z);
  EXPECT_GT(std::fabs(as_written - otherwise), 1000 * ulp(DType::F32, otherwise));
  EXPECT_TRUE(compare(product_of_three(DType::F32, x, y, z), Values{otherwise}, DType::F32).within());
}

TEST(InterpreterBound, AnOrderOfFactorsThatLosesWhatTheGraphsOwnKeepsIsNot) {
  const float x = 3e20F, y = 1.3e-33F, z = 1.7e-10F;  // y * z is subnormal
  const float as_written = x * y * z, otherwise = x * (y * z);
  EXPECT_GT(std::fabs(as_written - otherwise), 1000 * ulp(DType::F32, as_written));
  EXPECT_FALSE(compare(product_of_three(DType::F32, x, y, z), Values{otherwise}, DType::F32).within());
  EXPECT_FALSE(compare(product_of_three(DType::F32, 1e30, 1e-30, 1e30), Values{kInf}, DType::F32).within());
}

TEST(InterpreterBound, SubnormalProductsOfDoublesLoseTheirLastPlaceToo) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> uniform(1, 2);
  int differing = 0;
  for (int i = 0; i < 1000; ++i) {
    const double x = uniform(generator) * 1e-160, y = uniform(generator) * 1e-150, z = uniform(generator);
    differing += x * y * z != x * (y * z);
    const Array out = product_of_three(DType::F64, x, y, z);
    EXPECT_TRUE(compare(out, Values{x * (y * z)}, DType::F64).within());
    EXPECT_LE(out.bounds[0], 8 * std::numeric_limits<double>::denorm_min());
  }
  EXPECT_GT(differing, 100);
}

TEST(InterpreterBound, ProductsThatAreRoundedToANarrowTypeHaveOneOrder) {
  EXPECT_EQ(product_of_three(DType::BF16, bf16(1.3), bf16(1.7), bf16(0.9)).bounds, Values{0});
}

// ---- whole ops, against kernels written by hand ----
constexpr int64_t kRows = 16, kCols = 1000;

Values random_bf16(size_t n, unsigned seed, double scale = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal(0, scale);
  Values values(n);
  for (double& v : values) v = bf16(normal(generator));
  return values;
}

enum class Casting { Llama, Gemma };

InterpreterCase rms_norm(DType type, Casting casting) {
  InterpreterCase c;
  const AxisId rows = c.axis("rows"), cols = c.axis("cols");
  const NodeId x = c.tensor("x", type, {rows, cols}), w = c.tensor("w", type, {cols});
  const NodeId x32 = c.b.cast(x, DType::F32);
  const NodeId ms = c.b.reduce(Op::Mean, c.b.make(Op::Mul, {x32, x32}), {cols});
  const NodeId rstd = c.b.make(Op::Rsqrt, {c.b.make(Op::Add, {ms, c.b.constant(1e-6)})});
  const NodeId normed = c.b.make(Op::Mul, {x32, rstd});
  const NodeId y = casting == Casting::Llama ? c.b.make(Op::Mul, {c.b.cast(normed, type), w})
                                             : c.b.cast(c.b.make(Op::Mul, {normed, c.b.cast(w, DType::F32)}), type);
  c.output(y, {rows, cols});
  c.give("x", {kRows, kCols}, random_bf16(kRows * kCols, 1)).give("w", {kCols}, random_bf16(kCols, 2));
  return c;
}

// A kernel of rms_norm in f32 arithmetic, with its summation order, its accumulator's and its statistic's rounding
// open.
struct RmsNormKernel {
  std::function<float(const std::vector<float>&)> sum;
  std::function<float(float)> statistic = [](float v) { return v; };
  Casting casting = Casting::Llama;
  std::function<double(double)> round = bf16;

  Values operator()(const Values& x, const Values& w) const {
    Values y;
    for (int64_t r = 0; r < kRows; ++r) {
      std::vector<float> squares;
      const double* row = x.data() + r * kCols;
      for (int64_t i = 0; i < kCols; ++i) squares.push_back(static_cast<float>(row[i]) * static_cast<float>(row[i]));
      const float rstd = statistic(1 / std::sqrt(sum(squares) / static_cast<float>(kCols) + 1e-6f));
      for (int64_t i = 0; i < kCols; ++i) {
        const float normed = static_cast<float>(row[i]) * rstd, weight = static_cast<float>(w[static_cast<size_t>(i)]);
        y.push_back(casting == Casting::Llama ? round(static_cast<float>(round(normed)) * weight)
                                              : round(normed * weight));
      }
    }
    return y;
  }
};

float pairwise(const float* x, size_t n) { return n == 1 ? *x : pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2); }
float tree_sum(const std::vector<float>& x) { return pairwise(x.data(), x.size()); }
float lane_sum(const std::vector<float>& x) {  // 32 lanes in steps, then a butterfly
  std::vector<float> lanes(32, 0.0f);
  for (size_t i = 0; i < x.size(); ++i) lanes[i % 32] += x[i];
  return tree_sum(lanes);
}
float backward_sum(const std::vector<float>& x) {
  std::vector<float> lanes(128, 0.0f);
  for (size_t i = x.size(); i-- > 0;) lanes[i % 128] += x[i];
  return tree_sum(lanes);
}
float bf16_accumulator(const std::vector<float>& x) {
  std::vector<float> lanes(32, 0.0f);
  for (size_t i = 0; i < x.size(); ++i) lanes[i % 32] = static_cast<float>(bf16(lanes[i % 32] + x[i]));
  for (size_t step = 16; step; step /= 2)
    for (size_t i = 0; i < step; ++i) lanes[i] = static_cast<float>(bf16(lanes[i] + lanes[i + step]));
  return lanes[0];
}

TEST(InterpreterBound, RmsNormKernelsThatSumInAnyOrderLieWithin) {
  for (Casting casting : {Casting::Llama, Casting::Gemma}) {
    InterpreterCase c = rms_norm(DType::BF16, casting);
    const Array oracle = c.run(kBounded);
    for (const auto& sum : {tree_sum, lane_sum, backward_sum}) {
      const Values y =
          RmsNormKernel{.sum = sum, .casting = casting}(c.call.inputs["x"].values, c.call.inputs["w"].values);
      const ErrorReport report = compare(oracle, y, DType::BF16);
      EXPECT_TRUE(report.within()) << describe(report);
    }
  }
}

TEST(InterpreterBound, TheBoundOfRmsNormIsSharp) {
  InterpreterCase c = rms_norm(DType::BF16, Casting::Llama);
  const Array oracle = c.run(kBounded);
  int64_t exact = 0;
  for (size_t i = 0; i < oracle.values.size(); ++i) {
    exact += oracle.bounds[i] == 0;
    EXPECT_LE(oracle.bounds[i], 2.01 * ulp(DType::BF16, oracle.values[i])) << i;
  }
  EXPECT_GT(static_cast<double>(exact), 0.99 * static_cast<double>(oracle.values.size()));
}

TEST(InterpreterBound, TheOtherCastingOrderABf16AccumulatorAndABf16StatisticLieOutside) {
  InterpreterCase c = rms_norm(DType::BF16, Casting::Llama);
  const Array oracle = c.run(kBounded);
  const Values &x = c.call.inputs["x"].values, &w = c.call.inputs["w"].values;
  auto beyond = [&](const RmsNormKernel& kernel) { return compare(oracle, kernel(x, w), DType::BF16).beyond; };
  EXPECT_GT(beyond({.sum = lane_sum, .casting = Casting::Gemma}), 1000);
  EXPECT_GT(beyond({.sum = bf16_accumulator}), 1000);
  EXPECT_GT(beyond({.sum = lane_sum, .statistic = [](float v) { return static_cast<float>(bf16(v)); }}), 1000);
}

TEST(InterpreterBound, InF32TheSameHolds) {
  InterpreterCase c = rms_norm(DType::F32, Casting::Llama);
  const Array oracle = c.run(kBounded);
  const Values &x = c.call.inputs["x"].values, &w = c.call.inputs["w"].values;
  const auto same = [](double v) { return v; };
  for (const auto& sum : {tree_sum, lane_sum, backward_sum}) {
    const ErrorReport report = compare(oracle, RmsNormKernel{.sum = sum, .round = same}(x, w), DType::F32);
    EXPECT_TRUE(report.within()) << describe(report);
  }
  EXPECT_GT(compare(oracle, RmsNormKernel{.sum = bf16_accumulator, .round = same}(x, w), DType::F32).beyond, 1000);
}

TEST(InterpreterBound, ASoftmaxWithMaskedElementsLiesWithin) {
  InterpreterCase c;
  const AxisId rows = c.axis("rows"), cols = c.axis("cols");
  const NodeId x = c.tensor("x", DType::F32, {rows, cols});
  const NodeId e = c.b.make(Op::Exp, {c.b.make(Op::Sub, {x, c.b.reduce(Op::ReduceMax, x, {cols})})});
  c.output(c.b.make(Op::Div, {e, c.b.reduce(Op::Sum, e, {cols})}), {rows, cols});
  c.output(c.b.reduce(Op::LogSumExp, x, {cols}), {rows}, "lse");
  Values values = random_bf16(kRows * kCols, 5, 4);
  for (size_t i = 0; i < values.size(); i += 3) values[i] = -kInf;
  c.give("x", {kRows, kCols}, values);
  const auto out = c.try_run(kBounded);
  ASSERT_TRUE(out);
  Values y, lse;
  for (int64_t r = 0; r < kRows; ++r) {
    std::vector<float> exps;
    float largest = -INFINITY;
    for (int64_t i = 0; i < kCols; ++i) largest = std::max(largest, static_cast<float>(values[r * kCols + i]));
    for (int64_t i = 0; i < kCols; ++i)
      exps.push_back(std::exp2((static_cast<float>(values[r * kCols + i]) - largest) * 1.44269504f));
    const float sum = lane_sum(exps), inverse = 1 / sum;
    for (float v : exps) y.push_back(v * inverse);
    lse.push_back(largest + std::log(sum));
  }
  EXPECT_TRUE(compare(out->at(0), y, DType::F32).within()) << describe(compare(out->at(0), y, DType::F32));
  EXPECT_TRUE(compare(out->at(1), lse, DType::F32).within()) << describe(compare(out->at(1), lse, DType::F32));
  for (size_t i = 0; i < values.size(); i += 3) EXPECT_EQ(out->at(0).bounds[i], 0);
  // A bound of use: a hundred ulps at most where the probability is not tiny.
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_TRUE(out->at(0).values[i] <= 1e-3 || out->at(0).bounds[i] < 150 * ulp(DType::F32, out->at(0).values[i]));
}

// A pair (m, Σ exp(x - m)) per lane, joined in a tree, as an online kernel keeps it.
float online_logsumexp(const Values& x) {
  std::vector<std::pair<float, float>> lanes(16, {-INFINITY, 0.0f});
  auto join = [](std::pair<float, float> a, std::pair<float, float> b) {
    const float m = std::max(a.first, b.first);
    if (m == -INFINITY) return a;
    return std::pair(m, a.second * std::exp(a.first - m) + b.second * std::exp(b.first - m));
  };
  for (size_t i = 0; i < x.size(); ++i) lanes[i % 16] = join(lanes[i % 16], {static_cast<float>(x[i]), 1.0f});
  for (size_t step = 8; step; step /= 2)
    for (size_t i = 0; i < step; ++i) lanes[i] = join(lanes[i], lanes[i + step]);
  return lanes[0].first + std::log(lanes[0].second);
}

TEST(InterpreterBound, AnOnlineLogSumExpLiesWithinAndABf16SumOutside) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.reduce(Op::LogSumExp, c.tensor("x", DType::F32, {n}), {n}), {});
  for (unsigned seed = 0; seed < 200; ++seed) {
    Values x = random_bf16(1000, seed, seed % 3 ? 4 : 0.1);
    if (seed % 5 == 0) std::sort(x.begin(), x.end());  // every element is a new maximum
    c.give("x", {1000}, x);
    const Array oracle = c.run(kBounded);
    const ErrorReport report = compare(oracle, Values{online_logsumexp(x)}, DType::F32);
    EXPECT_TRUE(report.within()) << seed << ": " << describe(report);
    double sum = 0;
    for (double v : x) sum = bf16(sum + std::exp(v));
    EXPECT_FALSE(compare(oracle, Values{std::log(sum)}, DType::F32).within()) << seed;
  }
}

TEST(InterpreterBound, ACubeMayBeRoundedAfterItsSquare) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(Op::Pow, {c.tensor("x", DType::BF16, {n}), c.b.integer(3)}), {n});
  const Values x = random_bf16(2000, 11);
  c.give("x", {2000}, x);
  Values at_once, in_steps;
  for (double v : x) {
    at_once.push_back(bf16(v * v * v));
    in_steps.push_back(bf16(bf16(v * v) * v));
  }
  EXPECT_NE(at_once, in_steps);
  EXPECT_TRUE(compare(c.run(kBounded), at_once, DType::BF16).within());
  EXPECT_TRUE(compare(c.run(kBounded), in_steps, DType::BF16).within());
}

TEST(InterpreterBound, ANumberAddedToATensorMayBeRoundedAsEitherBackendDoes) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(Op::Add, {c.tensor("x", DType::BF16, {n}), c.b.constant(0.1)}), {n});
  const Values x = random_bf16(2000, 9, 0.1);
  c.give("x", {2000}, x);
  const Array out = c.run(kBounded);
  Values cuda, cpu;
  for (double v : x) {
    cuda.push_back(bf16(static_cast<float>(v) + 0.1f));
    cpu.push_back(bf16(static_cast<float>(v) + static_cast<float>(bf16(0.1))));
  }
  EXPECT_EQ(out.values, cuda);
  EXPECT_NE(cuda, cpu);
  EXPECT_TRUE(compare(out, cpu, DType::BF16).within());
}

}  // namespace
}  // namespace kw::ir
