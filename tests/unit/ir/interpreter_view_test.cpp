// Views: slices, pads, joins, splits, merges, renames and windows, against naive loops.
#include <numeric>
#include <random>

#include "interpreter_case.h"

namespace kw::ir {
namespace {

using Values = std::vector<double>;

Values counted(int64_t n) {
  Values values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

TEST(InterpreterView, ASliceStepsForwardsAndBackwards) {
  struct {
    int64_t start, step, count;
    Values expected;
  } cases[] = {
      {1, 1, 3, {1, 2, 3}}, {0, 2, 3, {0, 2, 4}}, {5, -1, 6, {5, 4, 3, 2, 1, 0}}, {4, -2, 3, {4, 2, 0}}, {2, 1, 0, {}}};
  for (const auto& slice : cases) {
    InterpreterCase c;
    const AxisId n = c.axis("n"), to = c.axis("to", Size(slice.count));
    c.output(c.b.make(Op::Slice, {c.tensor("x", DType::F32, {n})}, SliceAttr{n, to, Size(slice.start), slice.step}),
             {to});
    c.give("x", {6}, counted(6));
    EXPECT_EQ(c.run().values, slice.expected);
    EXPECT_EQ(c.run(kBounded).values, slice.expected);
  }
}

TEST(InterpreterView, ASliceOfAMiddleAxisFeedsArithmetic) {
  InterpreterCase c;
  const AxisId a = c.axis("a"), b = c.axis("b"), d = c.axis("d"), to = c.axis("to", Size(2));
  const NodeId x = c.tensor("x", DType::F32, {a, b, d});
  c.output(c.b.make(Op::Neg, {c.b.make(Op::Slice, {x}, SliceAttr{b, to, Size(2), -1})}), {a, to, d});
  c.give("x", {2, 3, 2}, counted(12));
  EXPECT_EQ(c.run().values, (Values{-4, -5, -2, -3, -10, -11, -8, -9}));
}

TEST(InterpreterView, ASliceThatLeavesItsAxisIsAnError) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), to = c.axis("to", Size(3));
  c.output(c.b.make(Op::Slice, {c.tensor("x", DType::F32, {n})}, SliceAttr{n, to, Size(4), 1}), {to});
  c.give("x", {6}, counted(6));
  EXPECT_NE(c.error().find("indices 4 to 6 do not lie within n of size 6"), std::string::npos) << c.error();
}

TEST(InterpreterView, APadPlacesTheOperandAndFillsTheRest) {
  InterpreterCase c;
  const AxisId r = c.axis("r"), n = c.axis("n"), to = c.axis("to", Size(8));
  const NodeId x = c.tensor("x", DType::F32, {r, n});
  c.output(c.b.make(Op::Pad, {x, c.b.constant(-1)}, SliceAttr{n, to, Size(2), 2}), {r, to});
  c.give("x", {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(c.run().values, (Values{-1, -1, 1, -1, 2, -1, 3, -1, -1, -1, 4, -1, 5, -1, 6, -1}));
  EXPECT_EQ(c.run(kBounded).values, c.run().values);
}

TEST(InterpreterView, AFillIsRoundedToTheTensorsType) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), to = c.axis("to", Size(2));
  c.output(c.b.make(Op::Pad, {c.tensor("x", DType::BF16, {n}), c.b.constant(0.1)}, SliceAttr{n, to, Size(1), 1}), {to});
  c.give("x", {1}, {1});
  EXPECT_EQ(c.run(kRounded).values, (Values{round_to(DType::BF16, 0.1), 1}));
}

TEST(InterpreterView, ConcatJoinsAsManyPartsAsAnOpMayHave) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), to = c.axis("to", c.size(n) * Size(64));
  const NodeId x = c.tensor("x", DType::BF16, {n});
  c.output(c.b.make(Op::Concat, std::vector<NodeId>(64, x), ConcatAttr{std::vector<AxisId>(64, n), to}), {to});
  c.give("x", {2}, {1, 2});
  Values expected;
  for (int i = 0; i < 64; ++i) expected.insert(expected.end(), {1, 2});
  EXPECT_EQ(c.run(kBounded).values, expected);
}

TEST(InterpreterView, ConcatJoinsAnyNumberOfOperandsAndPromotesThem) {
  InterpreterCase c;
  const AxisId r = c.axis("r"), a = c.axis("a"), b = c.axis("b"), to = c.axis("to", c.size(a) + c.size(b) + c.size(a));
  const NodeId x = c.tensor("x", DType::F32, {r, a}), y = c.tensor("y", DType::BF16, {b});
  c.output(c.b.make(Op::Concat, {x, y, x}, ConcatAttr{{a, b, a}, to}), {r, to});
  c.give("x", {2, 1}, {1, 2}).give("y", {2}, {7, 8});
  EXPECT_EQ(c.run().values, (Values{1, 7, 8, 1, 2, 7, 8, 2}));
  EXPECT_EQ(c.run(kBounded).values, (Values{1, 7, 8, 1, 2, 7, 8, 2}));
}

TEST(InterpreterView, SplitAndMergeAreInverse) {
  InterpreterCase c;
  const AxisId r = c.axis("r"), whole = c.axis("whole", Size(6)), outer = c.axis("outer", Size(2)),
               inner = c.axis("inner", Size(3)), again = c.axis("again", Size(6));
  const NodeId x = c.tensor("x", DType::F32, {r, whole});
  const NodeId split = c.b.make(Op::Split, {x}, SplitAttr{whole, outer, inner});
  c.output(split, {outer, r, inner}, "split");
  c.output(c.b.make(Op::Merge, {split}, SplitAttr{again, outer, inner}), {again, r}, "merged");
  c.output(c.b.make(Op::Merge, {split}, SplitAttr{again, inner, outer}), {r, again}, "turned");
  c.give("x", {2, 6}, counted(12));
  const auto out = c.try_run();
  ASSERT_TRUE(out);
  EXPECT_EQ(out->at(0).values, (Values{0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}));
  EXPECT_EQ(out->at(1).values, (Values{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
  EXPECT_EQ(out->at(2).values, (Values{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
}

TEST(InterpreterView, MergingABroadcastAxisWritesItOut) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), copies = c.axis("copies", Size(3)), whole = c.axis("whole", c.size(n) * Size(3)),
               turned = c.axis("turned", c.size(n) * Size(3));
  const NodeId x = c.tensor("x", DType::F32, {n});
  const NodeId wide = c.b.make(Op::Broadcast, {x}, AxisList{{copies}});
  c.output(c.b.make(Op::Merge, {wide}, SplitAttr{whole, n, copies}), {whole}, "repeated");
  c.output(c.b.make(Op::Merge, {wide}, SplitAttr{turned, copies, n}), {turned}, "tiled");
  c.give("x", {2}, {5, 6});
  const auto out = c.try_run();
  ASSERT_TRUE(out);
  EXPECT_EQ(out->at(0).values, (Values{5, 5, 5, 6, 6, 6}));
  EXPECT_EQ(out->at(1).values, (Values{5, 6, 5, 6, 5, 6}));
}

TEST(InterpreterView, AProductOfATensorWithItselfRenames) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), m = c.axis("m", c.size(n));
  const NodeId x = c.tensor("x", DType::F32, {n});
  c.output(c.b.make(Op::Mul, {x, c.b.rename(x, {{n, m}})}), {n, m});
  c.give("x", {2}, {2, 3});
  EXPECT_EQ(c.run().values, (Values{4, 6, 6, 9}));
}

TEST(InterpreterView, ARenameMaySwapTwoAxes) {
  InterpreterCase c;
  const AxisId n = c.axis("n", Size(2)), m = c.axis("m", Size(2));
  const NodeId x = c.tensor("x", DType::F32, {n, m});
  c.output(c.b.make(Op::Sub, {x, c.b.rename(x, {{n, m}, {m, n}})}), {n, m});
  c.give("x", {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(c.run().values, (Values{0, -1, 1, 0}));
}

TEST(InterpreterView, UnitDimensionsComeAndGoAtTheInterface) {
  InterpreterCase c;
  const AxisId n = c.axis("n");
  const NodeId x = c.tensor("x", DType::F32, {kUnit, n, kUnit});
  c.output(c.b.make(Op::Neg, {x}), {n, kUnit});
  c.give("x", {1, 2, 1}, {1, 2});
  const Array out = c.run();
  EXPECT_EQ(out.shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(out.values, (Values{-1, -2}));
  c.give("x", {2, 1, 1}, {1, 2});
  EXPECT_EQ(c.error(), "dimension 0 of x is 2, but it must be 1");
}

// ---- windows ----
struct Geometry {
  int64_t size, taps, stride, dilation, pad_before, pad_after, input_dilation;
  int64_t outs() const {
    const int64_t spread = (size - 1) * input_dilation + 1 + pad_before + pad_after;
    return (spread - ((taps - 1) * dilation + 1)) / stride + 1;
  }
};

const Geometry kGeometries[] = {{7, 3, 1, 1, 0, 0, 1}, {7, 3, 2, 1, 1, 1, 1}, {8, 2, 2, 3, 2, 0, 1},
                                {5, 3, 1, 2, 2, 2, 2}, {4, 4, 3, 1, 3, 2, 3}, {1, 1, 1, 1, 0, 0, 1}};

// The element a tap reads, by walking the padded and dilated line itself.
double naive_tap(const Values& line, const Geometry& g, int64_t out, int64_t tap, double fill) {
  std::vector<const double*> spread(static_cast<size_t>(g.pad_before), nullptr);
  for (size_t i = 0; i < line.size(); ++i) {
    if (i) spread.insert(spread.end(), static_cast<size_t>(g.input_dilation - 1), nullptr);
    spread.push_back(&line[i]);
  }
  spread.insert(spread.end(), static_cast<size_t>(g.pad_after), nullptr);
  const double* at = spread.at(static_cast<size_t>(out * g.stride + tap * g.dilation));
  return at ? *at : fill;
}

TEST(InterpreterWindow, TapsOfOneDimensionMatchAWalkOfThePaddedLine) {
  for (const Geometry& g : kGeometries) {
    InterpreterCase c;
    const AxisId n = c.axis("n"), out = c.axis("out", Size(g.outs())), tap = c.axis("tap", Size(g.taps));
    const WindowAttr attr{n, out, tap, g.stride, g.dilation, Size(g.pad_before), g.input_dilation};
    c.output(c.b.make(Op::Window, {c.tensor("x", DType::F32, {n}), c.b.constant(-1)}, attr), {out, tap});
    const Values x = counted(g.size);
    c.give("x", {g.size}, x);
    Values expected;
    for (int64_t o = 0; o < g.outs(); ++o)
      for (int64_t t = 0; t < g.taps; ++t) expected.push_back(naive_tap(x, g, o, t, -1));
    EXPECT_EQ(c.run().values, expected);
    EXPECT_EQ(c.run(kBounded).values, expected);
  }
}

TEST(InterpreterWindow, FoldIsTheTransposeOfWindow) {
  for (const Geometry& g : kGeometries) {
    InterpreterCase c;
    const AxisId n = c.axis("n", Size(g.size)), out = c.axis("out", Size(g.outs())), tap = c.axis("tap", Size(g.taps));
    const WindowAttr attr{n, out, tap, g.stride, g.dilation, Size(g.pad_before), g.input_dilation};
    const NodeId x = c.tensor("x", DType::F64, {n}), y = c.tensor("y", DType::F64, {out, tap});
    const NodeId spread = c.b.make(Op::Window, {x, c.b.constant(0)}, attr);
    c.output(c.b.make(Op::Contract, {spread, y}, AxisList{{out, tap}}), {}, "window");
    c.output(c.b.make(Op::Contract, {x, c.b.make(Op::Fold, {y}, attr)}, AxisList{{n}}), {}, "fold");
    std::mt19937 generator(5);
    Values xs(static_cast<size_t>(g.size)), ys(static_cast<size_t>(g.outs() * g.taps));
    for (Values* v : {&xs, &ys})
      for (double& value : *v) value = static_cast<double>(generator() % 100);
    c.give("x", {g.size}, xs).give("y", {g.outs(), g.taps}, ys);
    const auto result = c.try_run();
    ASSERT_TRUE(result);
    EXPECT_EQ(result->at(0).values, result->at(1).values);
    EXPECT_NE(result->at(0).values[0], 0);
  }
}

// Convolution in one, two and three dimensions by nested windows, against loops over output and tap indices.
void expect_convolution(size_t dimensions) {
  const Geometry geometry[] = {{5, 3, 2, 1, 1, 1, 1}, {6, 2, 1, 2, 0, 1, 1}, {3, 2, 1, 1, 1, 0, 2}};
  InterpreterCase c;
  std::vector<AxisId> in, outs, taps;
  std::vector<int64_t> shape, tap_shape, out_shape;
  for (size_t d = 0; d < dimensions; ++d) {
    const Geometry& g = geometry[d];
    const std::string name(1, static_cast<char>('i' + d));
    in.push_back(c.axis(name, Size(g.size)));
    outs.push_back(c.axis("out_" + name, Size(g.outs())));
    taps.push_back(c.axis("tap_" + name, Size(g.taps)));
    shape.push_back(g.size);
    tap_shape.push_back(g.taps);
    out_shape.push_back(g.outs());
  }
  const NodeId x = c.tensor("x", DType::F64, in), w = c.tensor("w", DType::F64, taps);
  NodeId spread = x;
  for (size_t d = 0; d < dimensions; ++d) {
    const Geometry& g = geometry[d];
    const WindowAttr attr{in[d], outs[d], taps[d], g.stride, g.dilation, Size(g.pad_before), g.input_dilation};
    spread = c.b.make(Op::Window, {spread, c.b.constant(0)}, attr);
  }
  std::vector<AxisId> reduced = taps;
  std::sort(reduced.begin(), reduced.end());
  c.output(c.b.make(Op::Contract, {spread, w}, AxisList{reduced}), outs);
  auto product = [](const std::vector<int64_t>& s) {
    return std::accumulate(s.begin(), s.end(), int64_t{1}, std::multiplies<>());
  };
  const Values xs = counted(product(shape)), ws = counted(product(tap_shape));
  c.give("x", shape, xs).give("w", tap_shape, ws);
  Values expected;
  for (int64_t o = 0; o < product(out_shape); ++o) {
    double sum = 0;
    for (int64_t t = 0; t < product(tap_shape); ++t) {
      int64_t rest_o = o, rest_t = t, at = 0, stride = 1;
      bool inside = true;
      for (size_t d = dimensions; d-- > 0;) {
        const Geometry& g = geometry[d];
        const int64_t p = (rest_o % out_shape[d]) * g.stride + (rest_t % tap_shape[d]) * g.dilation - g.pad_before;
        rest_o /= out_shape[d];
        rest_t /= tap_shape[d];
        inside &= p >= 0 && p % g.input_dilation == 0 && p / g.input_dilation < g.size;
        at += p / g.input_dilation * stride;
        stride *= g.size;
      }
      if (inside) sum += xs[static_cast<size_t>(at)] * ws[static_cast<size_t>(t)];
    }
    expected.push_back(sum);
  }
  EXPECT_EQ(c.run().values, expected);
  EXPECT_EQ(c.run(kBounded).values, expected);
}

TEST(InterpreterWindow, ConvolutionInOneDimensionMatchesLoops) { expect_convolution(1); }
TEST(InterpreterWindow, ConvolutionInTwoDimensionsMatchesLoops) { expect_convolution(2); }
TEST(InterpreterWindow, ConvolutionInThreeDimensionsMatchesLoops) { expect_convolution(3); }

}  // namespace
}  // namespace kw::ir
