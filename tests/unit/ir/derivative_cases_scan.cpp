#include <limits>

#include "derivative_case.h"

namespace kw::ir::test {
namespace {

std::string direction(bool reverse, bool exclusive) {
  return std::string(reverse ? " from the end" : "") + (exclusive ? ", exclusive" : "");
}

void each_direction(std::vector<DerivativeCase>& out, Op op, Range range = {}) {
  for (bool reverse : {false, true})
    for (bool exclusive : {false, true}) {
      Sketch s(std::string(info(op).name) + direction(reverse, exclusive), op);
      AxisId rows = s.axis("rows", 2), cols = s.axis("cols", 5), last = s.axis("last", 2);
      NodeId x = s.x("x", {rows, cols, last}, range);
      NodeId y = s.make(op, {x}, ScanAttr{cols, reverse, exclusive});
      // The neutral element of max is infinite: it must not reach the loss.
      NodeId bounded = s.make(Op::Max, {s.make(Op::Min, {y, s.b.constant(50.0)}), s.b.constant(-50.0)});
      s.out("y", exclusive ? bounded : y);
      out.push_back(std::move(s).done());
    }
}

DerivativeCase cumprod_with_zeros(const std::string& where, std::vector<double> values, bool reverse) {
  Sketch s("cumprod with zeros " + where + direction(reverse, false), Op::CumProd);
  AxisId cols = s.axis("cols", static_cast<int64_t>(values.size()));
  NodeId x = s.fixed("x", {cols}, std::move(values));
  s.out("y", s.make(Op::CumProd, {x}, ScanAttr{cols, reverse, false}));
  return std::move(s).done();
}

std::vector<NodeId> product_body(GraphBuilder& b, std::vector<NodeId> l, std::vector<NodeId> r) {
  return {b.make(Op::Mul, {l[0], r[0]})};
}
std::vector<NodeId> affine_body(GraphBuilder& b, std::vector<NodeId> l, std::vector<NodeId> r) {
  return {b.make(Op::Mul, {l[0], r[0]}), b.make(Op::Add, {b.make(Op::Mul, {l[1], r[0]}), r[1]})};
}
std::vector<NodeId> max_body(GraphBuilder& b, std::vector<NodeId> l, std::vector<NodeId> r) {
  return {b.make(Op::Max, {l[0], r[0]})};
}
// The running maximum and the sum of exponentials relative to it: both parts depend on both.
std::vector<NodeId> online_softmax_body(GraphBuilder& b, std::vector<NodeId> l, std::vector<NodeId> r) {
  NodeId high = b.make(Op::Max, {l[0], r[0]});
  NodeId left = b.make(Op::Mul, {l[1], b.make(Op::Exp, {b.make(Op::Sub, {l[0], high})})});
  NodeId right = b.make(Op::Mul, {r[1], b.make(Op::Exp, {b.make(Op::Sub, {r[0], high})})});
  return {high, b.make(Op::Add, {left, right})};
}

void general(std::vector<DerivativeCase>& out, const std::string& label, Body body, std::vector<double> identity,
             std::vector<int> parts, bool of_numbers = false) {
  for (bool reverse : {false, true})
    for (bool exclusive : {false, true}) {
      Sketch s("scan by " + label + (of_numbers ? " of numbers" : "") + direction(reverse, exclusive), Op::Scan);
      AxisId rows = s.axis("rows", 2), cols = s.axis("cols", 5);
      std::vector<NodeId> operands;
      for (size_t i = 0; i < identity.size(); ++i)
        operands.push_back(s.x("x" + std::to_string(i),
                               i == 0 ? std::vector<AxisId>{rows, cols} : std::vector<AxisId>{cols}, {0.5, 1.5}));
      auto combine = combine_of(s, body, identity, of_numbers ? Type(DType::Real) : s.type());
      for (int part : parts) {
        NodeId y = s.make(Op::Scan, operands, CombineAttr{combine, part, cols, reverse, exclusive});
        if (exclusive) y = s.make(Op::Max, {y, s.b.constant(-50.0)});
        s.out("y" + std::to_string(part), y);
      }
      out.push_back(std::move(s).done());
    }
}

}  // namespace

std::vector<DerivativeCase> scan_cases() {
  std::vector<DerivativeCase> out;
  for (Op op : {Op::CumSum, Op::CumProd, Op::CumMax, Op::CumMin, Op::CumLogSumExp}) each_direction(out, op);
  for (bool reverse : {false, true}) {
    out.push_back(cumprod_with_zeros("inside", {2, 0, 3, 4}, reverse));
    out.push_back(cumprod_with_zeros("twice", {2, 0, 3, 0, 4}, reverse));
    out.push_back(cumprod_with_zeros("at an end", {0, 3, 4}, reverse));
  }
  double infinity = std::numeric_limits<double>::infinity();
  general(out, "a product", product_body, {1}, {0});
  general(out, "a maximum", max_body, {-infinity}, {0});
  general(out, "affine maps", affine_body, {1, 0}, {1});
  general(out, "affine maps, both parts", affine_body, {1, 0}, {0, 1});
  general(out, "affine maps", affine_body, {1, 0}, {0, 1}, true);
  general(out, "online softmax", online_softmax_body, {-infinity, 0}, {0, 1});
  return out;
}

}  // namespace kw::ir::test
