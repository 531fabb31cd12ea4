// Derivatives of scans. A scan is a recurrence s(i) = f(s(i-1), x(i)); its adjoint is a recurrence from the other end,
//
//   m(i) = Aᵀ(i) · (g(i) + m(i+1)),   A = ∂f/∂s,   g = cotangent of s(i),
//
// which is affine in m and so itself a scan: over pairs (matrix, vector) with the composition of affine maps as
// combine. No quotient appears, so zeros in a product and empty sums in a logsumexp need no care.
#include <algorithm>
#include <limits>

#include "ir/derivative/adjoint.h"
#include "ir/derivative/combine.h"

namespace kw::ir::vjp {
namespace {

// The places of a k×k matrix that may differ from zero, closed under multiplication, identity included.
struct Pattern {
  size_t k;
  std::vector<bool> set;
  explicit Pattern(size_t k) : k(k), set(k * k) {
    for (size_t i = 0; i < k; ++i) set[i * k + i] = true;
  }
  bool at(size_t row, size_t column) const { return set[row * k + column]; }
  void close() {
    for (size_t via = 0; via < k; ++via)
      for (size_t row = 0; row < k; ++row)
        for (size_t column = 0; column < k; ++column)
          if (at(row, via) && at(via, column)) set[row * k + column] = true;
  }
  std::vector<std::pair<size_t, size_t>> places() const {
    std::vector<std::pair<size_t, size_t>> out;
    for (size_t row = 0; row < k; ++row)
      for (size_t column = 0; column < k; ++column)
        if (at(row, column)) out.emplace_back(row, column);
    return out;
  }
};

// (M₁, v₁) then (M₂, v₂) is (M₂M₁, M₂v₁ + v₂). The tuple is the matrix's places in order, then the vector. Its values
// are numbers: the body takes the types of what it is applied to. A scan combines in the order of the axis, so one that
// runs from the end has the map that comes first on its right.
std::shared_ptr<const Combine> affine_combine(const Pattern& pattern, bool from_the_end) {
  std::vector<std::pair<size_t, size_t>> places = pattern.places();
  size_t k = pattern.k;
  GraphBuilder body;
  body.graph().name = "affine";
  std::vector<NodeId> matrix[2], vector[2];
  for (int side : {from_the_end ? 1 : 0, from_the_end ? 0 : 1}) {
    auto operand = [&](const std::string& name) {
      Input input;
      input.name = name + (side == 0 ? "_first" : "_then");
      input.type = Type(DType::Real);
      return body.input(std::move(input));
    };
    matrix[side].assign(k * k, kNoNode);
    for (auto [row, column] : places)
      matrix[side][row * k + column] = operand("m" + std::to_string(row) + std::to_string(column));
    for (size_t row = 0; row < k; ++row) vector[side].push_back(operand("v" + std::to_string(row)));
  }
  std::vector<double> identity;
  for (auto [row, column] : places) {
    NodeId sum = kNoNode;
    for (size_t via = 0; via < k; ++via) {
      if (!pattern.at(row, via) || !pattern.at(via, column)) continue;
      NodeId product = body.make(Op::Mul, {matrix[1][row * k + via], matrix[0][via * k + column]});
      sum = sum == kNoNode ? product : body.make(Op::Add, {sum, product});
    }
    body.output({"m" + std::to_string(row) + std::to_string(column), sum, {}, std::nullopt});
    identity.push_back(row == column ? 1.0 : 0.0);
  }
  for (size_t row = 0; row < k; ++row) {
    NodeId sum = vector[1][row];
    for (size_t column = 0; column < k; ++column)
      if (pattern.at(row, column))
        sum = body.make(Op::Add, {sum, body.make(Op::Mul, {matrix[1][row * k + column], vector[0][column]})});
    body.output({"v" + std::to_string(row), sum, {}, std::nullopt});
    identity.push_back(0.0);
  }
  return std::make_shared<const Combine>(
      Combine{std::make_shared<const Graph>(std::move(body).finish()), std::move(identity)});
}

// One recurrence to be adjoined, over the parts of the tuple that carry a gradient.
struct Recurrence {
  AxisId axis;
  bool reverse;
  bool exclusive;
  std::vector<Type> types;
  std::vector<NodeId> transposed;  // Aᵀ, k×k; kNoNode is zero
  std::vector<NodeId> cotangents;  // of the scan's own results; kNoNode is zero
};

// The cotangents of s(i): those of f's value at each element.
Result<std::vector<NodeId>> adjoin(Adjoint& at, const Recurrence& r) {
  size_t k = r.types.size();
  Pattern pattern(k);
  for (size_t i = 0; i < k * k; ++i)
    if (r.transposed[i] != kNoNode) pattern.set[i] = true;
  pattern.close();
  NodeId zero = at.b.constant(0.0);
  Axes along{r.axis};

  std::vector<NodeId> operands;
  for (auto [row, column] : pattern.places()) {
    NodeId entry = r.transposed[row * k + column];
    operands.push_back(at.b.cast(entry == kNoNode ? zero : entry, promote(r.types[row], r.types[column])));
  }
  // An exclusive scan shows s(i-1) at i, so its cotangent enters behind the step i, not in front of it.
  for (size_t row = 0; row < k; ++row) {
    NodeId enters = r.exclusive ? r.cotangents[row] : kNoNode;
    for (size_t column = 0; column < k && !r.exclusive; ++column) {
      if (r.transposed[row * k + column] == kNoNode || r.cotangents[column] == kNoNode) continue;
      NodeId product = at.mul(r.transposed[row * k + column], r.cotangents[column]);
      enters = enters == kNoNode ? product : at.add(enters, product);
    }
    operands.push_back(at.b.cast(enters == kNoNode ? zero : enters, r.types[row]));
  }
  if (operands.size() > static_cast<size_t>(info(Op::Scan).max_operands))
    return at.cannot("the adjoint of a combine of " + std::to_string(k) + " coupled parts is a scan over " +
                     std::to_string(operands.size()) + " values, and a scan takes at most " +
                     std::to_string(info(Op::Scan).max_operands));
  operands[0] = at.b.broadcast(operands[0], along);

  std::shared_ptr<const Combine> combine = affine_combine(pattern, !r.reverse);
  size_t matrix_places = operands.size() - k;
  std::vector<NodeId> out;
  for (size_t row = 0; row < k; ++row) {
    int part = static_cast<int>(matrix_places + row);
    NodeId later = at.b.make(Op::Scan, operands, CombineAttr{combine, part, r.axis, !r.reverse, true});
    bool enters_here = !r.exclusive && r.cotangents[row] != kNoNode;
    out.push_back(enters_here ? at.add(r.cotangents[row], later) : later);
  }
  return out;
}

Result<NodeId> adjoin_scalar(Adjoint& at, const ScanAttr& scan, NodeId slope) {
  Recurrence r{scan.axis, scan.reverse, scan.exclusive, {at.node.type}, {slope}, {at.dy}};
  KW_TRY(std::vector<NodeId> out, adjoin(at, r));
  return out[0];
}

// Those that have a cotangent, or that the step carries one to.
std::vector<size_t> reached_parts(const std::vector<NodeId>& cotangents, const std::vector<NodeId>& transposed) {
  size_t k = cotangents.size();
  std::vector<bool> reached(k);
  for (size_t i = 0; i < k; ++i) reached[i] = cotangents[i] != kNoNode;
  for (size_t round = 0; round < k; ++round)
    for (size_t row = 0; row < k; ++row)
      for (size_t column = 0; column < k; ++column)
        if (reached[column] && transposed[row * k + column] != kNoNode) reached[row] = true;
  std::vector<size_t> out;
  for (size_t i = 0; i < k; ++i)
    if (reached[i]) out.push_back(i);
  return out;
}

NodeId make_scan(Adjoint& at, NodeId x, const ScanAttr& like, bool exclusive) {
  return at.b.make(at.node.op, {x}, ScanAttr{like.axis, like.reverse, exclusive});
}

}  // namespace

Status cumsum(Adjoint& at) {
  const ScanAttr& scan = at.node.as<ScanAttr>();
  at.give(0, at.b.make(Op::CumSum, {at.dy_with({scan.axis})}, ScanAttr{scan.axis, !scan.reverse, scan.exclusive}));
  return {};
}

// s(i) = s(i-1)·x(i)
Status cumprod(Adjoint& at) {
  const ScanAttr& scan = at.node.as<ScanAttr>();
  NodeId before = make_scan(at, at.x(0), scan, true);
  KW_TRY(NodeId cotangent, adjoin_scalar(at, scan, at.x(0)));
  at.give(0, at.mul(cotangent, before));
  return {};
}

// s(i) = logaddexp(s(i-1), x(i)): both slopes are quotients of exponentials, at most 1.
Status cumlogsumexp(Adjoint& at) {
  const ScanAttr& scan = at.node.as<ScanAttr>();
  NodeId before = make_scan(at, at.x(0), scan, true), upto = make_scan(at, at.x(0), scan, false);
  NodeId nothing = at.b.make(Op::Eq, {upto, at.b.constant(-std::numeric_limits<double>::infinity())});
  NodeId scale = at.select(nothing, at.b.constant(0.0), upto);  // a run of -inf so far: both slopes are 0, not NaN
  KW_TRY(NodeId cotangent, adjoin_scalar(at, scan, at.b.make(Op::Exp, {at.sub(before, scale)})));
  at.give(0, at.mul(cotangent, at.b.make(Op::Exp, {at.sub(at.x(0), scale)})));
  return {};
}

// The cotangent goes to the element that holds the running extremum, the latest of equal ones, as in PyTorch. Its
// position is itself a running extremum: of the positions at which the value equals the extremum so far.
Status cumextremum(Adjoint& at) {
  const ScanAttr& scan = at.node.as<ScanAttr>();
  NodeId x = at.x(0), running = make_scan(at, x, scan, false), position = at.iota(scan.axis);
  NodeId start = scan.reverse ? at.b.size_of(at.size(scan.axis) - Size(1)) : at.b.integer(0);
  NodeId records = at.select(at.b.make(Op::Eq, {x, running}), position, start);
  NodeId holder =
      at.b.make(scan.reverse ? Op::CumMin : Op::CumMax, {records}, ScanAttr{scan.axis, scan.reverse, false});
  NodeId dy = at.dy_full();
  NodeId zeros = at.zeros_like(x);
  if (!scan.exclusive) {
    at.give(0, at.b.make(Op::ScatterAdd, {zeros, holder, dy}, AxisList{{scan.axis}}));
    return {};
  }
  // The result at i is the extremum before i; the one at the start is a constant.
  Size fewer = at.size(scan.axis) - Size(1);
  AxisId shorter = at.b.axis_like(scan.axis, "all but one", fewer);
  auto part = [&](NodeId n, int start) { return at.b.make(Op::Slice, {n}, SliceAttr{scan.axis, shorter, start, 1}); };
  NodeId held = part(holder, scan.reverse ? 1 : 0), shown = part(dy, scan.reverse ? 0 : 1);
  at.give(0, at.b.make(Op::ScatterAdd, {zeros, held, shown}, AxisList{{scan.axis}}));
  return {};
}

Status scan(Adjoint& at) {
  const CombineAttr& attr = at.node.as<CombineAttr>();
  const Combine& combine = *attr.combine;
  size_t k = static_cast<size_t>(combine.arity());
  std::vector<NodeId> x = at.node.args, before;
  for (size_t part = 0; part < k; ++part)
    before.push_back(
        at.b.make(Op::Scan, x, CombineAttr{attr.combine, static_cast<int>(part), attr.axis, attr.reverse, true}));

  // The step is the body at (s(i-1), x(i)), or at (x(i), s(i+1)) from the end: which half of its operands is which.
  std::span<const NodeId> left = attr.reverse ? x : before, right = attr.reverse ? before : x;
  size_t from_state = attr.reverse ? k : 0, from_x = attr.reverse ? 0 : k;
  // Row by row the transposed Jacobian of the step in s(i-1); then the parts that a cotangent reaches.
  std::vector<NodeId> transposed(k * k, kNoNode);
  for (size_t column = 0; column < k; ++column) {
    if (!at.type_of(x[column]).floating()) continue;
    std::vector<NodeId> unit(k, kNoNode);
    unit[column] = at.b.constant(1.0);
    KW_TRY(std::vector<NodeId> slopes, body_vjp(at, combine, left, right, unit));
    for (size_t row = 0; row < k; ++row) transposed[row * k + column] = slopes[from_state + row];
  }
  std::vector<size_t> parts = reached_parts(at.part_cotangents(), transposed);
  Recurrence r{attr.axis, attr.reverse, attr.exclusive, {}, {}, {}};
  for (size_t row : parts) {
    Type type = at.type_of(x[row]);
    r.types.push_back(type.weak() ? at.node.type : type);  // a number takes the type it is combined with
    r.cotangents.push_back(at.part_cotangents()[row]);
    for (size_t column : parts) r.transposed.push_back(transposed[row * k + column]);
  }
  KW_TRY(std::vector<NodeId> adjoined, adjoin(at, r));

  std::vector<NodeId> cotangents(k, kNoNode);
  for (size_t i = 0; i < parts.size(); ++i) cotangents[parts[i]] = adjoined[i];
  KW_TRY(std::vector<NodeId> slopes, body_vjp(at, combine, left, right, cotangents));
  // The first element meets the neutral tuple, where the body need not be differentiable: s is x itself there.
  NodeId start = attr.reverse ? at.b.size_of(at.size(attr.axis) - Size(1)) : at.b.integer(0);
  NodeId first = at.b.make(Op::Eq, {at.iota(attr.axis), start});
  for (size_t part = 0; part < k; ++part) {
    if (slopes[from_x + part] == kNoNode && cotangents[part] == kNoNode) continue;
    NodeId inner = slopes[from_x + part] == kNoNode ? at.b.constant(0.0) : slopes[from_x + part];
    NodeId at_first = cotangents[part] == kNoNode ? at.b.constant(0.0) : cotangents[part];
    at.give(part, at.select(first, at_first, inner));
  }
  return {};
}

}  // namespace kw::ir::vjp
