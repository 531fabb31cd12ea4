// Reductions over every position of axes, in both semantics.
#include <cmath>
#include <limits>
#include <random>

#include "interpreter_case.h"

namespace kw::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> reduce(Op op, DType type, std::vector<double> x, const InterpretOptions& options = {}) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(op, {c.tensor("x", type, {n})}, AxisList{{n}}), {});
  const auto count = static_cast<int64_t>(x.size());
  return c.give("x", {count}, std::move(x)).run(options).values;
}

void expect_value(double got, double expected) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(got)) << got;
  else
    EXPECT_EQ(got, expected);
}

// A kernel in f64 is judged by it: what the oracle itself loses must be less than that.
TEST(InterpreterReduction, SumsOfExponentialsAreMoreExactThanTheirType) {
  std::vector<double> x(1'000'000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 0 : -1;
  const double exact = std::log(static_cast<double>(x.size() / 2)) + std::log1p(std::exp(-1));
  EXPECT_NEAR(reduce(Op::LogSumExp, DType::F64, x)[0], exact, 4e-15);
}

TEST(InterpreterReduction, EachReductionOfOneLine) {
  for (const InterpretOptions& options : {InterpretOptions{}, kRounded}) {
    auto of = [&](Op op, DType type, std::vector<double> x) { return reduce(op, type, std::move(x), options)[0]; };
    expect_value(of(Op::Sum, DType::F32, {1, 2, 3.5}), 6.5);
    expect_value(of(Op::Mean, DType::F32, {1, 2, 3, 6}), 3);
    expect_value(of(Op::Prod, DType::F32, {2, -3, 4}), -24);
    expect_value(of(Op::ReduceMax, DType::F32, {2, -3, 4, 1}), 4);
    expect_value(of(Op::ReduceMin, DType::F32, {2, -3, 4, 1}), -3);
    expect_value(of(Op::Any, DType::Bool, {0, 1, 0}), 1);
    expect_value(of(Op::Any, DType::Bool, {0, 0}), 0);
    expect_value(of(Op::All, DType::Bool, {1, 1, 0}), 0);
    expect_value(of(Op::All, DType::Bool, {1, 1}), 1);
    expect_value(of(Op::ArgMax, DType::F32, {2, 7, 7, 1}), 1);
    expect_value(of(Op::ArgMin, DType::F32, {2, 1, 7, 1}), 1);
    expect_value(of(Op::Sum, DType::Bool, {1, 0, 1, 1}), 3);
    expect_value(of(Op::Sum, DType::I32, {2147483647, 1}), 2147483648.0);  // i64, as PyTorch
    expect_value(of(Op::LogSumExp, DType::F64, {0, 0}), std::log(2.0));
    EXPECT_NEAR(of(Op::LogSumExp, DType::F64, {1000, 1001, 999}), 1001 + std::log1p(std::exp(-1) + std::exp(-2)),
                2e-13);
  }
}

TEST(InterpreterReduction, SpecialValuesFollowPyTorch) {
  for (const InterpretOptions& options : {InterpretOptions{}, kRounded}) {
    auto of = [&](Op op, std::vector<double> x) { return reduce(op, DType::F32, std::move(x), options)[0]; };
    expect_value(of(Op::ReduceMax, {1, kNaN, 3}), kNaN);
    expect_value(of(Op::ReduceMin, {1, kNaN, 3}), kNaN);
    expect_value(of(Op::ArgMax, {1, kNaN, 3, kNaN}), 1);
    expect_value(of(Op::ArgMin, {kNaN, 0}), 0);
    expect_value(of(Op::LogSumExp, {-kInf, -kInf}), -kInf);
    expect_value(of(Op::LogSumExp, {kInf, 1}), kInf);
    expect_value(of(Op::LogSumExp, {-kInf, 2}), 2);
    expect_value(of(Op::LogSumExp, {1, kNaN}), kNaN);
    expect_value(of(Op::Sum, {kInf, -kInf}), kNaN);
    expect_value(of(Op::Sum, {kInf, 1}), kInf);
  }
}

TEST(InterpreterReduction, AnEmptyAxisGivesTheNeutralElement) {
  for (const InterpretOptions& options : {InterpretOptions{}, kRounded}) {
    auto of = [&](Op op) { return reduce(op, DType::F32, {}, options)[0]; };
    expect_value(of(Op::Sum), 0);
    expect_value(of(Op::Prod), 1);
    expect_value(of(Op::Mean), kNaN);
    expect_value(of(Op::ReduceMax), -kInf);
    expect_value(of(Op::ReduceMin), kInf);
    expect_value(of(Op::LogSumExp), -kInf);
    expect_value(of(Op::Any), 0);
    expect_value(of(Op::All), 1);
  }
}

TEST(InterpreterReduction, TheExtremeOfAnEmptyAxisHasNoIndex) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  c.output(c.b.make(Op::ArgMax, {c.tensor("x", DType::F32, {n})}, AxisList{{n}}), {});
  c.give("x", {0}, {});
  EXPECT_EQ(c.error(), "argmax: the axis n is empty");
}

TEST(InterpreterReduction, AnySetOfAxesOfAnyLayoutMatchesANaiveLoop) {
  const std::vector<int64_t> shape{3, 4, 5, 6};
  std::vector<double> x(3 * 4 * 5 * 6);
  std::mt19937 generator(3);
  for (double& v : x) v = static_cast<double>(generator() % 19) - 9;
  for (int mask = 1; mask < 16; ++mask)
    for (Op op : {Op::Sum, Op::ReduceMax}) {
      InterpreterCase c;
      std::vector<AxisId> axes;
      for (const char* name : {"a", "b", "d", "e"}) axes.push_back(c.axis(name));
      std::vector<AxisId> reduced, kept;
      for (size_t d = 0; d < 4; ++d) (mask >> d & 1 ? reduced : kept).push_back(axes[d]);
      const NodeId doubled = c.b.make(Op::Mul, {c.tensor("x", DType::F64, axes), c.b.constant(2)});
      c.output(c.b.make(op, {doubled}, AxisList{reduced}), kept);
      c.give("x", shape, x);
      std::map<std::vector<int64_t>, double> expected;
      for (size_t i = 0; i < x.size(); ++i) {
        std::vector<int64_t> index(4), key;
        auto rest = static_cast<int64_t>(i);
        for (size_t d = 4; d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
        for (size_t d = 0; d < 4; ++d)
          if (!(mask >> d & 1)) key.push_back(index[d]);
        auto [at, is_new] = expected.try_emplace(key, 2 * x[i]);
        if (!is_new) at->second = op == Op::Sum ? at->second + 2 * x[i] : std::max(at->second, 2 * x[i]);
      }
      std::vector<double> flat;
      for (const auto& [key, value] : expected) flat.push_back(value);
      EXPECT_EQ(c.run().values, flat) << mask;
      EXPECT_EQ(c.run(kBounded).values, flat) << mask;
    }
}

TEST(InterpreterReduction, ASumOfABroadcastCountsEveryCopy) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), m = c.axis("m");
  const NodeId x = c.tensor("x", DType::F32, {n}), y = c.tensor("y", DType::F32, {m});
  c.output(c.b.make(Op::Sum, {c.b.make(Op::Broadcast, {x}, AxisList{{m}})}, AxisList{{m}}), {n});
  c.output(y, {m}, "y_again");
  c.give("x", {2}, {1, 2}).give("y", {3}, {0, 0, 0});
  EXPECT_EQ(c.run().values, (std::vector<double>{3, 6}));
}

TEST(InterpreterReduction, ASumIsRoundedOnceAfterExactAccumulation) {
  // Term by term in f32 the ones would be lost; a bf16 sum of them stops at 256.
  std::vector<double> x(1000, 1.0);
  x.insert(x.begin(), 16777216);
  EXPECT_EQ(reduce(Op::Sum, DType::F32, x, kRounded)[0], 16777216 + 1000);
  EXPECT_EQ(reduce(Op::Sum, DType::BF16, std::vector<double>(1000, 1.0), kRounded)[0], 1000);
  EXPECT_EQ(reduce(Op::Sum, DType::BF16, std::vector<double>(1001, 1.0), kRounded)[0], 1000);  // bf16(1001)
  // In f64 the oracle is more exact than a running sum.
  EXPECT_EQ(reduce(Op::Sum, DType::F64, {1e16, 1, 1, -1e16}, kRounded)[0], 2);
}

// ---- any associative combine ----
std::shared_ptr<const Combine> combine_of(
    std::vector<double> identity, std::vector<DType> types,
    const std::function<std::vector<NodeId>(GraphBuilder&, std::vector<NodeId>)>& f) {
  GraphBuilder b;
  std::vector<NodeId> in;
  for (int side = 0; side < 2; ++side)
    for (size_t i = 0; i < types.size(); ++i) {
      Input input;
      input.name = (side ? "r" : "l") + std::to_string(i);
      input.type = types[i];
      in.push_back(b.input(input));
    }
  for (NodeId node : f(b, in)) b.output({"o" + std::to_string(b.graph().outputs.size()), node, {}, {}});
  return std::make_shared<Combine>(Combine{std::make_shared<Graph>(std::move(b).finish()), std::move(identity)});
}

TEST(InterpreterReduction, APairCombineGivesWelfordsVariance) {
  // (count, mean, m2) of two sets joined.
  auto welford =
      combine_of({0, 0, 0}, {DType::F64, DType::F64, DType::F64}, [](GraphBuilder& b, std::vector<NodeId> v) {
        const NodeId n = b.make(Op::Add, {v[0], v[3]}), delta = b.make(Op::Sub, {v[4], v[1]});
        const NodeId share = b.make(Op::Div, {v[3], n});
        const NodeId mean = b.make(Op::Add, {v[1], b.make(Op::Mul, {delta, share})});
        const NodeId cross = b.make(Op::Mul, {b.make(Op::Mul, {delta, delta}), b.make(Op::Mul, {v[0], share})});
        return std::vector<NodeId>{n, mean, b.make(Op::Add, {b.make(Op::Add, {v[2], v[5]}), cross})};
      });
  InterpreterCase c;
  const AxisId r = c.axis("r"), n = c.axis("n");
  const NodeId x = c.tensor("x", DType::F64, {r, n});
  const NodeId one = c.b.cast(c.b.make(Op::Eq, {x, x}), DType::F64), zero = c.b.make(Op::Sub, {x, x});
  c.output(c.b.make(Op::Reduce, {one, x, zero}, CombineAttr{welford, 2, n}), {r});
  c.output(c.b.make(Op::Reduce, {one, x, zero}, CombineAttr{welford, 1, n}), {r}, "mean");
  c.give("x", {2, 5}, {1, 2, 3, 4, 5, 2, 2, 2, 2, 7});
  const auto out = c.try_run();
  ASSERT_TRUE(out);
  EXPECT_NEAR(out->at(0).values[0], 10, 1e-12);
  EXPECT_NEAR(out->at(0).values[1], 20, 1e-12);
  EXPECT_NEAR(out->at(1).values[0], 3, 1e-12);
  EXPECT_NEAR(out->at(1).values[1], 3, 1e-12);
}

TEST(InterpreterReduction, ACombineThatDoesNotCommuteKeepsItsOrder) {
  // x ∘ y = y where y is not zero: the last that is not zero wins.
  auto last = combine_of({0}, {DType::F32}, [](GraphBuilder& b, std::vector<NodeId> v) {
    return std::vector<NodeId>{b.make(Op::Select, {b.make(Op::Ne, {v[1], b.constant(0)}), v[1], v[0]})};
  });
  for (const std::vector<double>& x : {std::vector<double>{}, {0, 5, 0, 7, 0}, {3}, {0, 0}, {1, 2, 3, 4, 5, 6, 7}}) {
    InterpreterCase c;
    const AxisId n = c.axis("n");
    c.output(c.b.make(Op::Reduce, {c.tensor("x", DType::F32, {n})}, CombineAttr{last, 0, n}), {});
    c.give("x", {static_cast<int64_t>(x.size())}, x);
    double expected = 0;
    for (double v : x)
      if (v != 0) expected = v;
    EXPECT_EQ(c.run().values[0], expected);
    EXPECT_EQ(c.run(kBounded).values[0], expected);
  }
}

}  // namespace
}  // namespace kw::ir
