#include "ir/derivative/derivative.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "derivative_checker.h"
#include "ir/derivative/adjoint.h"
#include "partition_norms.h"

namespace kw::ir::test {
namespace {

TEST(Derivative, EveryRuleAgreesWithFiniteDifferences) {
  for (const DerivativeCase& c : all_derivative_cases()) {
    auto wrong = check_derivative(c);
    EXPECT_FALSE(wrong) << c.name << ": " << *wrong;
  }
}

TEST(Derivative, EveryOpThatHasADerivativeHasAFiniteDifferenceCase) {
  std::set<Op> covered;
  std::set<std::string> names;
  for (const DerivativeCase& c : all_derivative_cases()) {
    EXPECT_TRUE(names.insert(c.name).second) << "two cases are called " << c.name;
    auto uses = [&](const Node& node) { return node.op == c.op; };
    ASSERT_TRUE(std::any_of(c.graph.nodes.begin(), c.graph.nodes.end(), uses)) << c.name << " lacks its own op";
    covered.insert(c.op);
  }
  for (int i = 0; i < kOpCount; ++i) {
    Op op = static_cast<Op>(i);
    EXPECT_EQ(derivative_rule(op).vjp != nullptr, covered.contains(op)) << info(op).name;
    EXPECT_NE(derivative_rule(op).vjp == nullptr, derivative_rule(op).stops.empty()) << info(op).name;
  }
}

// The backward is a graph like any other: its own derivative is right too.
TEST(Derivative, TheDerivativeOfADerivativeAgreesWithFiniteDifferences) {
  int checked = 0;
  for (auto make : {pointwise_cases, reduction_cases, indexed_cases, view_cases})
    for (DerivativeCase c : make()) {
      Result<Graph> joint = differentiate(c.graph);
      ASSERT_TRUE(joint.has_value());
      for (const Output& output : c.graph.outputs) c.ranges["d_" + output.name] = {};
      joint->outputs.erase(joint->outputs.begin(), joint->outputs.begin() + static_cast<long>(c.graph.outputs.size()));
      for (Output& output : joint->outputs) output.name = "once_" + output.name;
      for (Input& input : joint->inputs) input.differentiable = true;
      c.graph = GraphBuilder(*std::move(joint)).finish();
      c.name += ", twice";
      if (!sample_point(c)) continue;  // it compares for equality: every point is a kink
      auto wrong = check_derivative(c);
      EXPECT_FALSE(wrong) << c.name << ": " << *wrong;
      ++checked;
    }
  EXPECT_GT(checked, 100);
}

TEST(Derivative, RandomGraphsAgreeWithFiniteDifferences) {
  std::mt19937 engine(7);
  int checked = 0;
  for (int i = 0; i < 100; ++i) {
    DerivativeCase c{"random " + std::to_string(i), Op::Add, random_forward(engine, 2, 3), {}, {}};
    for (const Input& input : c.graph.inputs) c.ranges[input.name] = {-0.7, 0.7};
    auto wrong = check_derivative(c);
    EXPECT_FALSE(wrong) << c.name << ": " << *wrong;
    ++checked;
  }
  EXPECT_GT(checked, 80);
}

TEST(Derivative, AScanOverTooManyCoupledPartsIsRefusedByName) {
  Sketch s("three coupled parts", Op::Scan);
  AxisId cols = s.axis("cols", 4);
  std::vector<NodeId> operands;
  for (const char* name : {"a", "b", "c"}) operands.push_back(s.x(name, {cols}));
  Body coupled = [](GraphBuilder& b, std::vector<NodeId> l, std::vector<NodeId> r) {
    NodeId sum = b.make(Op::Add, {b.make(Op::Add, {l[0], l[1]}), l[2]});
    return std::vector<NodeId>{b.make(Op::Add, {sum, r[0]}), b.make(Op::Add, {sum, r[1]}),
                               b.make(Op::Add, {sum, r[2]})};
  };
  s.out("y", s.make(Op::Scan, operands, CombineAttr{combine_of(s, coupled, {0, 0, 0}), 0, cols}));
  Result<Graph> joint = differentiate(std::move(s).done().graph);
  ASSERT_FALSE(joint.has_value());
  EXPECT_EQ(joint.error().kind, ErrorKind::BadInput);
  EXPECT_NE(joint.error().message.find("the derivative of scan cannot be taken"), std::string::npos);
}

// One wrong row each: of another op, without its sign, without its factor, without its sum.
struct Planted {
  Op op;
  const char* what;
  Status (*wrong)(Adjoint&);
};

TEST(Derivative, AWrongRuleIsCaught) {
  const Planted planted[] = {
      {Op::Tanh, "the derivative of sigmoid", vjp::sigmoid},
      {Op::Sin, "without the cosine", vjp::cast},
      {Op::Cos, "with the wrong sign",
       [](Adjoint& at) -> Status {
         at.give(0, at.mul(at.dy, at.b.make(Op::Sin, {at.x(0)})));
         return {};
       }},
      {Op::Sub, "with the sign of add", vjp::add},
      {Op::Mul, "of the first operand alone",
       [](Adjoint& at) -> Status {
         at.give(0, at.mul(at.dy, at.x(1)));
         return {};
       }},
      {Op::Div, "of a product", vjp::mul},
      {Op::Max, "of min", vjp::min},
      {Op::Select, "of the branches exchanged",
       [](Adjoint& at) -> Status {
         NodeId zero = at.b.constant(0.0);
         at.give(1, at.select(at.x(0), zero, at.dy));
         at.give(2, at.select(at.x(0), at.dy, zero));
         return {};
       }},
      {Op::Mean, "of sum", vjp::sum},
      {Op::Prod, "as if it were a sum", vjp::sum},
      {Op::LogSumExp, "without its weights", vjp::sum},
      {Op::ReduceMax, "to every element", vjp::sum},
      {Op::CumSum, "in the forward's direction",
       [](Adjoint& at) -> Status {
         const ScanAttr& scan = at.node.as<ScanAttr>();
         at.give(0, at.b.make(Op::CumSum, {at.dy_with({scan.axis})}, scan));
         return {};
       }},
      {Op::CumProd, "of cumsum", vjp::cumsum},
      {Op::CumLogSumExp, "of cumprod", vjp::cumprod},
      {Op::ScatterSet, "of scatter_add", vjp::scatter_add},
      {Op::SegmentMax, "of segment_sum", vjp::segment_sum},
      {Op::Contract, "of the second operand forgotten",
       [](Adjoint& at) -> Status {
         Axes summed = without(at.node.axes, at.axes_of(at.x(0)));
         NodeId dy = at.dy_full();
         at.give(0, summed.empty() ? at.mul(dy, at.x(1)) : at.b.make(Op::Contract, {dy, at.x(1)}, AxisList{summed}),
                 at.axes_of(at.x(0)));
         return {};
       }},
      {Op::Concat, "with every part read from the start",
       [](Adjoint& at) -> Status {
         const ConcatAttr& attr = at.node.as<ConcatAttr>();
         for (size_t i = 0; i < at.node.args.size(); ++i)
           at.give(i, at.b.make(Op::Slice, {at.dy_full()}, SliceAttr{attr.to, attr.from[i], Size(0), 1}),
                   unite(without(at.node.axes, {attr.to}), {attr.from[i]}));
         return {};
       }},
      {Op::Scan, "that forgets the elements behind",
       [](Adjoint& at) -> Status {
         at.give(0, at.b.broadcast(at.part_cotangents()[0] == kNoNode ? at.b.constant(0.0) : at.part_cotangents()[0],
                                   at.node.axes));
         return {};
       }},
  };
  for (const Planted& row : planted) {
    ASSERT_NE(derivative_rule(row.op).vjp, row.wrong);
    bool caught = false;
    for (const DerivativeCase& c : all_derivative_cases()) {
      if (c.op != row.op) continue;
      EXPECT_FALSE(check_derivative(c)) << c.name;
      caught = caught || check_derivative(c, {{row.op, DerivativeRule{row.wrong, {}}}}).has_value();
    }
    EXPECT_TRUE(caught) << info(row.op).name << " " << row.what;
  }
}

TEST(Derivative, EveryDifferentiableOpIsCaughtWhenItsCotangentStops) {
  for (const DerivativeCase& c : all_derivative_cases()) {
    bool constant = c.op == Op::Pow && (c.name.find("0.000000") != std::string::npos || c.name.ends_with("power 0"));
    if (constant) continue;
    EXPECT_TRUE(check_derivative(c, {{c.op, DerivativeRule{nullptr, "planted"}}}).has_value()) << c.name;
  }
}

}  // namespace
}  // namespace kw::ir::test
