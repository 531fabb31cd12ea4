#include "act/loop/index.h"

#include <algorithm>
#include <compare>

namespace kw::act {
namespace {

using Kind = Index::Kind;

struct Term {
  Index atom;  // anything but a sum, a difference or a product with a size
  ir::Size coefficient;
};

struct Sum {
  std::vector<Term> terms;  // ascending by atom, no zero coefficient
  ir::Size constant;
};

std::strong_ordering compare(const Index& a, const Index& b) {
  if (auto order = a.kind <=> b.kind; order != 0) return order;
  if (auto order = a.axis <=> b.axis; order != 0) return order;
  if (auto order = a.value <=> b.value; order != 0) return order;
  if (auto order = a.size <=> b.size; order != 0) return order;
  for (size_t i = 0; i < a.operands.size(); ++i)
    if (auto order = compare(a.operands[i], b.operands[i]); order != 0) return order;
  return std::strong_ordering::equal;
}

Index node(Kind kind, Index a, Index b) {
  Index out{kind, -1, {}, kNoValue, {}};
  out.operands.push_back(std::move(a));
  out.operands.push_back(std::move(b));
  return out;
}

bool is_zero(const ir::Size& size) { return size == ir::Size(0); }

void add_term(Sum& sum, const Index& atom, const ir::Size& coefficient) {
  auto where = std::lower_bound(sum.terms.begin(), sum.terms.end(), atom,
                                [](const Term& term, const Index& a) { return compare(term.atom, a) < 0; });
  if (where == sum.terms.end() || compare(where->atom, atom) != 0) where = sum.terms.insert(where, {atom, ir::Size(0)});
  where->coefficient = where->coefficient + coefficient;
  if (is_zero(where->coefficient)) sum.terms.erase(where);
}

void add_scaled(Sum& sum, const Index& index, const ir::Size& scale) {
  const std::vector<Index>& operands = index.operands;
  switch (index.kind) {
    case Kind::Size:
      sum.constant = sum.constant + index.size * scale;
      return;
    case Kind::Add:
      add_scaled(sum, operands[0], scale);
      add_scaled(sum, operands[1], scale);
      return;
    case Kind::Sub:
      add_scaled(sum, operands[0], scale);
      add_scaled(sum, operands[1], ir::Size(0) - scale);
      return;
    case Kind::Mul:
      if (operands[1].kind == Kind::Size) return add_scaled(sum, operands[0], scale * operands[1].size);
      if (operands[0].kind == Kind::Size) return add_scaled(sum, operands[1], scale * operands[0].size);
      break;
    default:
      break;
  }
  if (!is_zero(scale)) add_term(sum, index, scale);
}

Sum sum_of(const Index& index) {
  Sum sum;
  add_scaled(sum, index, ir::Size(1));
  return sum;
}

bool is_negative_number(const ir::Size& size) { return size.constant() && *size.constant() < 0; }

// What is taken away stands behind what it is taken from: cols - 2*half - 1.
Index index_of(const Sum& sum) {
  std::optional<Index> out;
  auto append = [&](Index part, bool negative) {
    if (!out)
      out = negative ? node(Kind::Mul, std::move(part), size_index(-1)) : std::move(part);
    else
      out = node(negative ? Kind::Sub : Kind::Add, *std::move(out), std::move(part));
  };
  auto scaled = [](const Index& atom, const ir::Size& by) {
    return by == ir::Size(1) ? atom : node(Kind::Mul, atom, size_index(by));
  };
  for (const Term& term : sum.terms)
    if (!is_negative_number(term.coefficient)) append(scaled(term.atom, term.coefficient), false);
  if (!is_zero(sum.constant) && !is_negative_number(sum.constant)) append(size_index(sum.constant), false);
  for (const Term& term : sum.terms)
    if (is_negative_number(term.coefficient)) append(scaled(term.atom, ir::Size(0) - term.coefficient), true);
  if (is_negative_number(sum.constant)) {
    if (!out) return size_index(sum.constant);
    append(size_index(ir::Size(0) - sum.constant), true);
  }
  return out ? *std::move(out) : size_index(0);
}

std::optional<ir::Size> exact_quotient(const ir::Size& a, const ir::Size& n) {
  if (is_zero(n)) return std::nullopt;
  ir::Size quotient = ir::floor_div(a, n);
  if (quotient * n == a) return quotient;
  return std::nullopt;
}

// How far an atom runs from 0, exclusive, if that is known.
std::optional<ir::Size> extent(const Index& atom, const std::vector<LoopAxis>& axes) {
  if (atom.kind == Kind::Axis) return axes[static_cast<size_t>(atom.axis)].size;
  if (atom.kind == Kind::Mod) return atom.operands[1].size;
  return std::nullopt;
}

// The product of the extents of a sum of digits (each term's coefficient is the product of the extents below it):
// such a sum takes every number from 0 to that product, exclusive, once.
std::optional<ir::Size> range_of_digits(std::vector<Term> terms, const std::vector<LoopAxis>& axes) {
  ir::Size range(1);
  while (!terms.empty()) {
    auto next = terms.end();
    std::optional<ir::Size> size;
    for (auto term = terms.begin(); term != terms.end(); ++term) {
      if (term->coefficient != range) continue;
      std::optional<ir::Size> own = extent(term->atom, axes);
      if (!own) return std::nullopt;
      if (next != terms.end() && *own != ir::Size(1)) continue;  // axes of size one share a neighbour's coefficient
      next = term;
      size = own;
    }
    if (next == terms.end()) return std::nullopt;
    range = range * *size;
    terms.erase(next);
  }
  return range;
}

// sum = quotient*n + rest, with every term that n divides in the quotient.
struct Division {
  Sum quotient, rest;
};

Division divide(const Sum& sum, const ir::Size& n) {
  Division out;
  for (const Term& term : sum.terms) {
    std::optional<ir::Size> q = exact_quotient(term.coefficient, n);
    (q ? out.quotient : out.rest).terms.push_back({term.atom, q ? *q : term.coefficient});
  }
  if (std::optional<ir::Size> q = exact_quotient(sum.constant, n)) {
    out.quotient.constant = *q;
  } else if (sum.constant.constant() && n.constant()) {
    out.quotient.constant = ir::floor_div(sum.constant, n);
    out.rest.constant = sum.constant - out.quotient.constant * n;
  } else {
    out.rest.constant = sum.constant;
  }
  return out;
}

// Certainly 0 <= rest < n.
bool below(const Sum& rest, const ir::Size& n, const std::vector<LoopAxis>& axes) {
  if (rest.terms.empty() && rest.constant.constant() && n.constant())
    return *rest.constant.constant() >= 0 && *rest.constant.constant() < *n.constant();
  if (!is_zero(rest.constant)) return false;
  std::optional<ir::Size> range = range_of_digits(rest.terms, axes);
  if (!range) return false;
  if (range->constant() && n.constant()) return *range->constant() <= *n.constant();
  return exact_quotient(n, *range).has_value();  // sizes are not negative, so a multiple is not smaller
}

void collect_axes(const Index& index, std::vector<LoopAxisId>& axes) {
  if (index.kind == Kind::Axis) axes.push_back(index.axis);
  for (const Index& operand : index.operands) collect_axes(operand, axes);
}

void collect_values(const Index& index, std::vector<ValueId>& values) {
  if (index.kind == Kind::Value) values.push_back(index.value);
  for (const Index& operand : index.operands) collect_values(operand, values);
}

}  // namespace

Index axis_index(LoopAxisId axis) { return {Kind::Axis, axis, {}, kNoValue, {}}; }
Index size_index(ir::Size size) { return {Kind::Size, -1, std::move(size), kNoValue, {}}; }
Index value_index(ValueId value) { return {Kind::Value, -1, {}, value, {}}; }

Index IndexArithmetic::add(const Index& a, const Index& b) const {
  Sum sum = sum_of(a);
  add_scaled(sum, b, ir::Size(1));
  return index_of(sum);
}

Index IndexArithmetic::sub(const Index& a, const Index& b) const {
  Sum sum = sum_of(a);
  add_scaled(sum, b, ir::Size(-1));
  return index_of(sum);
}

Index IndexArithmetic::mul(const Index& a, const Index& b) const {
  const Sum left = sum_of(a), right = sum_of(b);
  if (!left.terms.empty() && !right.terms.empty()) return node(Kind::Mul, a, b);
  Sum product;
  if (right.terms.empty())
    add_scaled(product, a, right.constant);
  else
    add_scaled(product, b, left.constant);
  return index_of(product);
}

Index IndexArithmetic::floor_div(const Index& a, const ir::Size& n) const {
  if (n == ir::Size(1) || is_zero(n)) return a;  // nothing is computed along an axis of size 0
  Division parts = divide(sum_of(a), n);
  if (below(parts.rest, n, axes_)) return index_of(parts.quotient);
  Index rest = index_of(parts.rest);
  if (rest.kind == Kind::Size)
    rest = size_index(ir::floor_div(rest.size, n));
  else if (rest.kind == Kind::FloorDiv)
    rest = node(Kind::FloorDiv, rest.operands[0], size_index(rest.operands[1].size * n));
  else
    rest = node(Kind::FloorDiv, std::move(rest), size_index(n));
  return add(index_of(parts.quotient), rest);
}

Index IndexArithmetic::mod(const Index& a, const ir::Size& n) const {
  if (n == ir::Size(1) || is_zero(n)) return size_index(0);
  Division parts = divide(sum_of(a), n);
  Index rest = index_of(parts.rest);
  if (below(parts.rest, n, axes_)) return rest;
  if (rest.kind == Kind::Size) return size_index(modulo(rest.size, n));
  return node(Kind::Mod, std::move(rest), size_index(n));
}

Index IndexArithmetic::rebuild(const Index& index, const std::function<Index(const Index&)>& leaf) const {
  if (index.operands.empty()) return leaf(index);
  Index a = rebuild(index.operands[0], leaf), b = rebuild(index.operands[1], leaf);
  switch (index.kind) {
    case Kind::Add:
      return add(a, b);
    case Kind::Sub:
      return sub(a, b);
    case Kind::Mul:
      return mul(a, b);
    case Kind::FloorDiv:
      return floor_div(a, b.size);
    default:
      return mod(a, b.size);
  }
}

std::optional<ir::Size> IndexArithmetic::enumerated(const Index& index) const {
  Sum sum = sum_of(index);
  const bool axes_alone =
      std::all_of(sum.terms.begin(), sum.terms.end(), [](const Term& t) { return t.atom.kind == Kind::Axis; });
  if (!axes_alone || !is_zero(sum.constant)) return std::nullopt;
  return range_of_digits(sum.terms, axes_);
}

std::optional<Index> IndexArithmetic::fuse(const Index& index, LoopAxisId outer, LoopAxisId inner,
                                           const ir::Size& inner_size) const {
  const Sum sum = sum_of(index);
  Sum fused;
  fused.constant = sum.constant;
  ir::Size outer_coefficient, inner_coefficient;
  for (const Term& term : sum.terms) {
    if (term.atom.kind == Kind::Axis && (term.atom.axis == outer || term.atom.axis == inner)) {
      (term.atom.axis == outer ? outer_coefficient : inner_coefficient) = term.coefficient;
      continue;
    }
    Index atom = term.atom;
    for (Index& operand : atom.operands) {
      std::optional<Index> part = fuse(operand, outer, inner, inner_size);
      if (!part) return std::nullopt;
      operand = *std::move(part);
    }
    // Built again, because with the larger axis // and % may go.
    if (atom.kind == Kind::FloorDiv) atom = floor_div(atom.operands[0], atom.operands[1].size);
    if (atom.kind == Kind::Mod) atom = mod(atom.operands[0], atom.operands[1].size);
    add_scaled(fused, atom, term.coefficient);
  }
  if (outer_coefficient != inner_coefficient * inner_size) return std::nullopt;
  if (!is_zero(inner_coefficient)) add_term(fused, axis_index(outer), inner_coefficient);
  return index_of(fused);
}

Axes axes_of(const Index& index) {
  Axes axes;
  collect_axes(index, axes);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

bool has(const Axes& axes, LoopAxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

std::vector<ValueId> values_of(const Index& index) {
  std::vector<ValueId> values;
  collect_values(index, values);
  return values;
}

bool is_natural(const Index& index) {
  switch (index.kind) {
    case Index::Kind::Axis:
    case Index::Kind::Mod:
      return true;
    case Index::Kind::Size:
      return index.size.constant() ? *index.size.constant() >= 0 : index.size.as_symbol().has_value();
    case Index::Kind::Add:
    case Index::Kind::Mul:
      return is_natural(index.operands[0]) && is_natural(index.operands[1]);
    case Index::Kind::FloorDiv:
      return is_natural(index.operands[0]);
    case Index::Kind::Sub:
    case Index::Kind::Value:
      return false;
  }
  return false;
}

}  // namespace kw::act
