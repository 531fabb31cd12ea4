#include <limits>

#include "derivative_case.h"

namespace kw::ir::test {
namespace {

// Over the first, a middle, the last and several of three axes.
void each_position(std::vector<DerivativeCase>& out, Op op, Range range = {}) {
  for (std::vector<int> reduced : {std::vector<int>{0}, {1}, {2}, {0, 2}, {0, 1, 2}}) {
    std::string label;
    for (int i : reduced) label += std::to_string(i);
    Sketch s(std::string(info(op).name) + " over the axes " + label, op);
    std::vector<AxisId> axes{s.axis("a", 2), s.axis("b", 3), s.axis("c", 4)}, over;
    for (int i : reduced) over.push_back(axes[static_cast<size_t>(i)]);
    NodeId x = s.x("x", axes, range);
    s.out("y", s.b.reduce(op, x, over));
    out.push_back(std::move(s).done());
  }
}

// A reduction whose result is used again along the reduced axis, as a norm does.
DerivativeCase used_again(Op op, Range range = {}) {
  Sketch s(std::string(info(op).name) + " used along its own axis", op);
  AxisId rows = s.axis("rows", 3), cols = s.axis("cols", 4);
  NodeId x = s.x("x", {rows, cols}, range);
  NodeId r = s.b.reduce(op, s.make(Op::Mul, {x, x}), {cols});
  s.out("y", s.make(Op::Mul, {s.make(Op::Sin, {x}), r}));
  return std::move(s).done();
}

DerivativeCase broadcast_then_summed() {
  Sketch s("a sum over an axis along which the cotangent is constant", Op::Sum);
  AxisId rows = s.axis("rows", 3), cols = s.axis("cols", 4);
  NodeId x = s.x("x", {rows, cols}), w = s.x("w", {cols});
  NodeId product = s.make(Op::Mul, {x, w});
  s.out("y", s.b.reduce(Op::Sum, s.make(Op::Add, {product, w}), {rows, cols}));
  return std::move(s).done();
}

DerivativeCase prod_with_zeros(std::vector<double> values, const std::string& label) {
  Sketch s("prod with " + label, Op::Prod);
  AxisId rows = s.axis("rows", 2), cols = s.axis("cols", 3);
  NodeId x = s.fixed("x", {rows, cols}, std::move(values));
  s.out("y", s.b.reduce(Op::Prod, x, {cols})).out("all", s.b.reduce(Op::Prod, x, {rows, cols}));
  return std::move(s).done();
}

std::vector<NodeId> product_body(GraphBuilder& b, std::vector<NodeId> l, std::vector<NodeId> r) {
  return {b.make(Op::Mul, {l[0], r[0]})};
}
// x ↦ a·x + c, composed left to right: associative, not commutative.
std::vector<NodeId> affine_body(GraphBuilder& b, std::vector<NodeId> l, std::vector<NodeId> r) {
  return {b.make(Op::Mul, {l[0], r[0]}), b.make(Op::Add, {b.make(Op::Mul, {l[1], r[0]}), r[1]})};
}
// log(e^l + e^r), whose neutral element -inf has no derivative.
std::vector<NodeId> logaddexp_body(GraphBuilder& b, std::vector<NodeId> l, std::vector<NodeId> r) {
  NodeId high = b.make(Op::StopGradient, {b.make(Op::Max, {l[0], r[0]})});
  NodeId left = b.make(Op::Exp, {b.make(Op::Sub, {l[0], high})}),
         right = b.make(Op::Exp, {b.make(Op::Sub, {r[0], high})});
  return {b.make(Op::Add, {high, b.make(Op::Log, {b.make(Op::Add, {left, right})})})};
}

DerivativeCase general(const std::string& label, Body body, std::vector<double> identity, std::vector<int> parts,
                       bool first_lacks_rows = false, bool of_numbers = false) {
  Sketch s("reduce by " + label, Op::Reduce);
  AxisId rows = s.axis("rows", 2), cols = s.axis("cols", 5);
  std::vector<NodeId> operands;
  for (size_t i = 0; i < identity.size(); ++i)
    operands.push_back(s.x("x" + std::to_string(i),
                           first_lacks_rows && i == 0 ? std::vector<AxisId>{cols} : std::vector<AxisId>{rows, cols},
                           {0.5, 1.5}));
  auto combine = combine_of(s, body, identity, of_numbers ? Type(DType::Real) : s.type());
  for (int part : parts)
    s.out("y" + std::to_string(part), s.make(Op::Reduce, operands, CombineAttr{combine, part, cols}));
  return std::move(s).done();
}

DerivativeCase contraction(const std::string& label, std::vector<int> a_axes, std::vector<int> b_axes,
                           std::vector<int> over) {
  Sketch s("contract " + label, Op::Contract);
  std::vector<AxisId> axes{s.axis("batch", 2), s.axis("m", 3), s.axis("k", 4), s.axis("n", 2)};
  auto pick = [&](const std::vector<int>& which) {
    std::vector<AxisId> out;
    for (int i : which) out.push_back(axes[static_cast<size_t>(i)]);
    return out;
  };
  NodeId a = s.x("a", pick(a_axes)), b = s.x("b", pick(b_axes));
  s.out("y", s.make(Op::Contract, {a, b}, AxisList{pick(over)}));
  return std::move(s).done();
}

}  // namespace

std::vector<DerivativeCase> reduction_cases() {
  std::vector<DerivativeCase> out;
  for (Op op : {Op::Sum, Op::Mean, Op::Prod, Op::ReduceMax, Op::ReduceMin, Op::LogSumExp}) {
    each_position(out, op, op == Op::Prod ? Range{0.5, 1.5} : Range{});
    out.push_back(used_again(op));
  }
  out.push_back(broadcast_then_summed());
  out.push_back(prod_with_zeros({0, 2, 3, 4, 5, 6}, "one zero"));
  out.push_back(prod_with_zeros({0, 0, 3, 4, 0, 6}, "several zeros"));

  double infinity = std::numeric_limits<double>::infinity();
  out.push_back(general("a product", product_body, {1}, {0}));
  out.push_back(general("affine maps", affine_body, {1, 0}, {1}));
  out.push_back(general("affine maps, both parts", affine_body, {1, 0}, {0, 1}));
  out.push_back(general("affine maps with a broadcast part", affine_body, {1, 0}, {0, 1}, true));
  out.push_back(general("affine maps of numbers", affine_body, {1, 0}, {0, 1}, false, true));
  out.push_back(general("logaddexp", logaddexp_body, {-infinity}, {0}));

  out.push_back(contraction("of matrices", {1, 2}, {2, 3}, {2}));
  out.push_back(contraction("of batched matrices", {0, 1, 2}, {0, 2, 3}, {2}));
  out.push_back(contraction("with a shared weight", {0, 1, 2}, {2, 3}, {2}));
  out.push_back(contraction("over two axes", {0, 1, 2}, {1, 2, 3}, {1, 2}));
  out.push_back(contraction("of vectors", {2}, {2}, {2}));
  out.push_back(contraction("over an axis of one side alone", {1, 2}, {3}, {2}));
  return out;
}

}  // namespace kw::ir::test
