// At kinks and ties there is no derivative to compare with: there the gradients are PyTorch's choice, given here as
// values that its autograd returns.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "derivative_case.h"
#include "ir/derivative/derivative.h"

namespace kw::ir::test {
namespace {

// The gradients of the sum of all outputs, at the case's fixed values.
std::vector<std::vector<double>> gradients(DerivativeCase c) {
  Result<Graph> joint = differentiate(c.graph);
  EXPECT_TRUE(joint.has_value());
  Environment point;
  auto array = [&](const std::vector<AxisId>& dims, std::vector<double> values) {
    Array out;
    size_t count = 1;
    for (AxisId dim : dims) {
      out.shape.push_back(*c.graph.hinted(c.graph.axis(dim).size));
      count *= static_cast<size_t>(out.shape.back());
    }
    out.values = values.empty() ? std::vector<double>(count, 1.0) : std::move(values);
    return out;
  };
  for (const Input& input : c.graph.inputs) point.inputs[input.name] = array(input.dims, c.fixed.at(input.name));
  for (const Output& output : c.graph.outputs) point.inputs["d_" + output.name] = array(output.dims, {});
  Result<std::vector<Array>> values = interpret(*joint, point);
  EXPECT_TRUE(values.has_value()) << (values ? "" : values.error().message);
  std::vector<std::vector<double>> out;
  for (size_t i = c.graph.outputs.size(); i < values->size(); ++i) out.push_back((*values)[i].values);
  return out;
}

using Gradients = std::vector<std::vector<double>>;
const double kInfinity = std::numeric_limits<double>::infinity();

Gradients of_pair(Op op, std::vector<double> a, std::vector<double> b) {
  Sketch s("ties", op);
  AxisId n = s.axis("n", static_cast<int64_t>(a.size()));
  NodeId x = s.fixed("a", {n}, std::move(a)), y = s.fixed("b", {n}, std::move(b));
  s.out("y", s.make(op, {x, y}));
  return gradients(std::move(s).done());
}

Gradients with_number(Op op, std::vector<double> a, double number) {
  Sketch s("ties", op);
  AxisId n = s.axis("n", static_cast<int64_t>(a.size()));
  NodeId x = s.fixed("a", {n}, std::move(a));
  s.out("y", s.make(op, {x, s.b.constant(number)}));
  return gradients(std::move(s).done());
}

Gradients along(Op op, std::vector<double> a, bool reverse = false) {
  Sketch s("ties", op);
  AxisId n = s.axis("n", static_cast<int64_t>(a.size()));
  NodeId x = s.fixed("a", {n}, std::move(a));
  Attr attr = info(op).kind == OpKind::Scan ? Attr(ScanAttr{n, reverse, false}) : Attr(AxisList{{n}});
  s.out("y", s.make(op, {x}, attr));
  return gradients(std::move(s).done());
}

TEST(DerivativeTies, EqualOperandsOfMaxAndMinGetHalfEach) {
  EXPECT_EQ(of_pair(Op::Max, {1, 0}, {0, 0}), (Gradients{{1, 0.5}, {0, 0.5}}));
  EXPECT_EQ(of_pair(Op::Min, {1, 0}, {0, 0}), (Gradients{{0, 0.5}, {1, 0.5}}));
}

TEST(DerivativeTies, AnElementAtAClampsLimitGetsAllOfIt) {
  EXPECT_EQ(with_number(Op::Max, {1, 0, -1}, 0), (Gradients{{1, 1, 0}}));
  EXPECT_EQ(with_number(Op::Min, {1, 0, -1}, 0), (Gradients{{0, 1, 1}}));
}

TEST(DerivativeTies, EqualMaximaShareEvenly) {
  EXPECT_EQ(along(Op::ReduceMax, {1, 2, 2, 1}), (Gradients{{0, 0.5, 0.5, 0}}));
  EXPECT_EQ(along(Op::ReduceMin, {1, 2, 2, 1}), (Gradients{{0.5, 0, 0, 0.5}}));
}

TEST(DerivativeTies, TheLatestOfEqualRunningMaximaHoldsTheCotangent) {
  EXPECT_EQ(along(Op::CumMax, {1, 2, 2, 1}), (Gradients{{1, 1, 2, 0}}));
  EXPECT_EQ(along(Op::CumMin, {1, 2, 1, 1}), (Gradients{{2, 0, 1, 1}}));
  EXPECT_EQ(along(Op::CumMax, {1, 2, 2, 1}, true), (Gradients{{0, 2, 1, 1}}));
}

TEST(DerivativeTies, EqualMaximaOfARunShareEvenly) {
  Sketch s("ties", Op::SegmentMax);
  AxisId rows = s.axis("rows", 4), segments = s.axis("segments", 2),
         edges = s.sized("edges", s.size(segments) + Size(1));
  NodeId x = s.fixed("x", {rows}, {1, 2, 2, 5}), offsets = s.integers("offsets", {edges}, {0, 3, 4});
  s.out("y", s.make(Op::SegmentMax, {x, offsets}, SegmentAttr{rows, segments, edges}));
  EXPECT_EQ(gradients(std::move(s).done()), (Gradients{{0, 0.5, 0.5, 1}}));
}

TEST(DerivativeTies, TheSlopeOfAbsAtZeroIsZero) {
  Sketch s("abs", Op::Abs);
  AxisId n = s.axis("n", 3);
  s.out("y", s.make(Op::Abs, {s.fixed("x", {n}, {-1, 0, 2})}));
  EXPECT_EQ(gradients(std::move(s).done()), (Gradients{{-1, 0, 1}}));
}

TEST(DerivativeTies, APowerOfZeroHasPyTorchsSlopes) {
  EXPECT_EQ(of_pair(Op::Pow, {0, 0, 0}, {2, 0, 1}), (Gradients{{0, 0, 1}, {0, 0, 0}}));
  EXPECT_EQ(with_number(Op::Pow, {0, 3}, 2), (Gradients{{0, 6}}));
  EXPECT_EQ(with_number(Op::Pow, {0, 1}, 0.5), (Gradients{{kInfinity, 0.5}}));
  EXPECT_EQ(with_number(Op::Pow, {0, 3}, 0), (Gradients{{0, 0}}));
}

TEST(DerivativeTies, RoundingOpsHaveNoSlope) {
  for (Op op : {Op::Floor, Op::Ceil, Op::Round, Op::Trunc, Op::Sign}) {
    Sketch s("flat", op);
    AxisId n = s.axis("n", 2);
    s.out("y", s.make(op, {s.fixed("x", {n}, {0.3, 1.0})}));
    EXPECT_EQ(gradients(std::move(s).done()), (Gradients{{0, 0}})) << info(op).name;
  }
}

TEST(DerivativeTies, LeadingInfinitiesOfACumlogsumexpHaveNoSlope) {
  Gradients g = along(Op::CumLogSumExp, {-kInfinity, -kInfinity, 1});
  EXPECT_EQ(g, (Gradients{{0, 0, 1}}));
}

}  // namespace
}  // namespace kw::ir::test
