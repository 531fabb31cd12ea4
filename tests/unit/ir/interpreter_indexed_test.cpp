// Gather, scatter and segments, and what they say about indices and offsets that cannot be.
#include <limits>

#include "interpreter_case.h"

namespace kw::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
using Values = std::vector<double>;

struct GatherCase : InterpreterCase {
  AxisId vocabulary = axis("vocabulary"), width = axis("width"), tokens = axis("tokens");
  NodeId table = tensor("table", DType::F32, {vocabulary, width}), ids = tensor("ids", DType::I64, {tokens});
  GatherCase() {
    output(b.make(Op::Gather, {table, ids}, AxisList{{vocabulary}}), {tokens, width});
    give("table", {3, 2}, {1, 2, 3, 4, 5, 6});
  }
};

TEST(InterpreterGather, RowsAreLookedUpByIndex) {
  GatherCase c;
  c.give("ids", {4}, {2, 0, 0, 1});
  EXPECT_EQ(c.run().values, (Values{5, 6, 1, 2, 1, 2, 3, 4}));
  EXPECT_EQ(c.run(kBounded).values, (Values{5, 6, 1, 2, 1, 2, 3, 4}));
}

TEST(InterpreterGather, AnIndexOutOfRangeNamesAxisIndexAndSize) {
  GatherCase c;
  c.give("ids", {2}, {0, 3});
  EXPECT_EQ(c.error(), "gather: index 3 is out of range for vocabulary of size 3");
  c.give("ids", {2}, {-1, 0});
  EXPECT_EQ(c.error(), "gather: index -1 is out of range for vocabulary of size 3");
  EXPECT_NE(c.error(kBounded), "");
}

TEST(InterpreterGather, TheErrorPointsAtTheSource) {
  InterpreterCase c;
  const AxisId n = c.axis("n"), t = c.axis("t");
  c.b.graph().source_files = {"model.py"};
  const NodeId x = c.tensor("x", DType::F32, {n}), ids = c.tensor("ids", DType::I64, {t});
  c.b.set_origin({0, 12, 5});
  c.output(c.b.make(Op::Gather, {x, ids}, AxisList{{n}}), {t});
  c.give("x", {1}, {0}).give("ids", {1}, {9});
  const auto result = c.try_run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().place, (Place{"model.py", 12, 5, 0}));
}

TEST(InterpreterGather, SharedAxesAreABatch) {
  InterpreterCase c;
  const AxisId rows = c.axis("rows"), cols = c.axis("cols");
  const NodeId x = c.tensor("x", DType::F32, {rows, cols}), target = c.tensor("target", DType::I64, {rows});
  c.output(c.b.make(Op::Gather, {x, target}, AxisList{{cols}}), {rows});
  c.give("x", {2, 3}, {1, 2, 3, 4, 5, 6}).give("target", {2}, {2, 0});
  EXPECT_EQ(c.run().values, (Values{3, 4}));
}

TEST(InterpreterGather, TheIndexMayRunAlongTheIndexedAxisItself) {
  InterpreterCase c;
  const AxisId rows = c.axis("rows"), n = c.axis("n");
  const NodeId x = c.tensor("x", DType::F32, {rows, n}), order = c.tensor("order", DType::I64, {n});
  c.output(c.b.make(Op::Gather, {x, order}, AxisList{{n}}), {rows, n});
  c.give("x", {2, 3}, {1, 2, 3, 4, 5, 6}).give("order", {3}, {2, 0, 1});
  EXPECT_EQ(c.run().values, (Values{3, 1, 2, 6, 4, 5}));
}

struct ScatterCase : InterpreterCase {
  AxisId n = axis("n"), m = axis("m"), t = axis("t");
  NodeId base = tensor("base", DType::F32, {n, m}), index = tensor("index", DType::I64, {t}),
         value = tensor("value", DType::F32, {t, m});
  explicit ScatterCase(Op op) {
    output(b.make(op, {base, index, value}, AxisList{{n}}), {n, m});
    give("base", {3, 2}, {1, 1, 1, 1, 1, 1}).give("index", {4}, {2, 0, 2, 2});
    give("value", {4, 2}, {10, 20, 30, 40, 50, 60, 70, 80});
  }
};

TEST(InterpreterScatter, AddsEveryValueToTheBase) {
  ScatterCase c(Op::ScatterAdd);
  EXPECT_EQ(c.run().values, (Values{31, 41, 1, 1, 131, 161}));
  EXPECT_EQ(c.run(kBounded).values, (Values{31, 41, 1, 1, 131, 161}));
}

TEST(InterpreterScatter, SetsAndTheLastOfEqualIndicesWins) {
  ScatterCase c(Op::ScatterSet);
  EXPECT_EQ(c.run().values, (Values{30, 40, 1, 1, 70, 80}));
}

TEST(InterpreterScatter, AnIndexOutOfRangeNamesAxisIndexAndSize) {
  ScatterCase c(Op::ScatterAdd);
  c.give("index", {4}, {0, 1, 2, 3});
  EXPECT_EQ(c.error(), "scatter_add: index 3 is out of range for n of size 3");
}

TEST(InterpreterScatter, ValuesBroadcastOverTheBasesOwnAxesAndBatchesStayApart) {
  InterpreterCase c;
  const AxisId rows = c.axis("rows"), n = c.axis("n"), k = c.axis("k"), copies = c.axis("copies");
  const NodeId base = c.tensor("base", DType::F32, {copies, rows, n}), index = c.tensor("index", DType::I64, {rows, k});
  c.output(c.b.make(Op::ScatterAdd, {base, index, c.b.constant(1)}, AxisList{{n}}), {copies, rows, n});
  c.give("base", {2, 2, 3}, Values(12, 0)).give("index", {2, 2}, {0, 0, 1, 2});
  EXPECT_EQ(c.run().values, (Values{2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 1}));
}

struct SegmentCase : InterpreterCase {
  Size count = Size::symbol(b.symbol("runs"));
  AxisId rows = axis("rows"), cols = axis("cols"), segments = axis("segments", count),
         offsets = axis("offsets", count + Size(1));
  NodeId x = tensor("x", DType::F32, {rows, cols}), starts = tensor("offsets", DType::I64, {offsets});
  SegmentAttr attr{rows, segments, offsets};
  explicit SegmentCase(Op op) {
    if (op == Op::SegmentIndex)
      output(b.make(op, {starts}, attr), {rows});
    else
      output(b.make(op, {x, starts}, attr), {segments, cols});
    give("x", {5, 2}, {1, -1, 2, -2, 3, -3, 4, -4, 5, -5}).give("offsets", {5}, {0, 0, 2, 2, 5});
  }
};

TEST(InterpreterSegment, RunsAreReducedAndEmptyRunsAreNeutral) {
  EXPECT_EQ(SegmentCase(Op::SegmentSum).run().values, (Values{0, 0, 3, -3, 0, 0, 12, -12}));
  EXPECT_EQ(SegmentCase(Op::SegmentMax).run().values, (Values{-kInf, -kInf, 2, -1, -kInf, -kInf, 5, -3}));
  EXPECT_EQ(SegmentCase(Op::SegmentMin).run().values, (Values{kInf, kInf, 1, -2, kInf, kInf, 3, -5}));
  EXPECT_EQ(SegmentCase(Op::SegmentIndex).run().values, (Values{1, 1, 3, 3, 3}));
  EXPECT_EQ(SegmentCase(Op::SegmentSum).run(kBounded).values, (Values{0, 0, 3, -3, 0, 0, 12, -12}));
}

TEST(InterpreterSegment, OffsetsThatCannotBeAreRefused) {
  for (Op op : {Op::SegmentSum, Op::SegmentMax, Op::SegmentIndex}) {
    const std::string name(info(op).name);
    SegmentCase c(op);
    c.give("offsets", {5}, {0, 3, 2, 4, 5});
    EXPECT_EQ(c.error(), name + ": offset 2 along offsets is 2, less than the one before it, 3");
    c.give("offsets", {5}, {0, 1, 2, 3, 4});
    EXPECT_EQ(c.error(), name + ": offset 4 along offsets is 4, but the runs end at row 5");
    c.give("offsets", {5}, {1, 1, 2, 3, 5});
    EXPECT_EQ(c.error(), name + ": offset 0 along offsets is 1, but runs start at 0");
    c.give("offsets", {5}, {0, 1, 2, 3, 6});
    EXPECT_NE(c.error(), "");
  }
}

TEST(InterpreterSegment, NoRowsAndNoRuns) {
  SegmentCase c(Op::SegmentSum);
  c.give("x", {0, 2}, {}).give("offsets", {1}, {0});
  EXPECT_EQ(c.run().shape, (std::vector<int64_t>{0, 2}));
}

}  // namespace
}  // namespace kw::ir
