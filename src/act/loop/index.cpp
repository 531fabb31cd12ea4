#include "act/loop/index.h"

#include <algorithm>

namespace kw::act {
namespace {

bool is_size(const Index& a) { return a.kind == Index::Kind::Size; }
bool is_zero(const Index& a) { return is_size(a) && a.size == ir::Size(0); }

Index node(Index::Kind kind, Index a, Index b) {
  Index out{kind, -1, {}, kNoValue, {}};
  out.operands.push_back(std::move(a));
  out.operands.push_back(std::move(b));
  return out;
}

void collect(const Index& index, std::vector<LoopAxisId>& axes) {
  if (index.kind == Index::Kind::Axis) axes.push_back(index.axis);
  for (const Index& operand : index.operands) collect(operand, axes);
}

}  // namespace

Index axis_index(LoopAxisId axis) { return {Index::Kind::Axis, axis, {}, kNoValue, {}}; }
Index size_index(ir::Size size) { return {Index::Kind::Size, -1, std::move(size), kNoValue, {}}; }
Index value_index(ValueId value) { return {Index::Kind::Value, -1, {}, value, {}}; }

Index IndexArithmetic::add(Index a, Index b) const {
  if (is_size(a) && is_size(b)) return size_index(a.size + b.size);
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  if (is_size(a)) std::swap(a, b);
  // (x + p) + q and (x - p) + q: sizes gather on the right.
  if (is_size(b) && (a.kind == Index::Kind::Add || a.kind == Index::Kind::Sub) && is_size(a.operands[1])) {
    ir::Size sum = a.kind == Index::Kind::Add ? a.operands[1].size + b.size : b.size - a.operands[1].size;
    return add(a.operands[0], size_index(sum));
  }
  return node(Index::Kind::Add, std::move(a), std::move(b));
}

Index IndexArithmetic::sub(Index a, Index b) const {
  if (is_zero(b)) return a;
  if (a == b) return size_index(0);
  if (is_size(b)) return add(std::move(a), size_index(ir::Size(0) - b.size));
  return node(Index::Kind::Sub, std::move(a), std::move(b));
}

Index IndexArithmetic::mul(Index a, Index b) const {
  if (is_size(a) && is_size(b)) return size_index(a.size * b.size);
  if (is_zero(a) || is_zero(b)) return size_index(0);
  if (is_size(a)) std::swap(a, b);
  if (is_size(b) && b.size == ir::Size(1)) return a;
  return node(Index::Kind::Mul, std::move(a), std::move(b));
}

bool IndexArithmetic::below(const Index& a, const ir::Size& n) const {
  if (a.kind == Index::Kind::Axis) return axes_[static_cast<size_t>(a.axis)].size == n;
  if (a.kind == Index::Kind::Mod) return is_size(a.operands[1]) && a.operands[1].size == n;
  if (is_size(a) && a.size.constant() && n.constant())
    return *a.size.constant() >= 0 && *a.size.constant() < *n.constant();
  // outer*m + inner < outer_size*m
  if (a.kind == Index::Kind::Add && a.operands[0].kind == Index::Kind::Mul &&
      a.operands[0].operands[0].kind == Index::Kind::Axis && is_size(a.operands[0].operands[1])) {
    const ir::Size& m = a.operands[0].operands[1].size;
    return below(a.operands[1], m) && axes_[static_cast<size_t>(a.operands[0].operands[0].axis)].size * m == n;
  }
  return false;
}

std::optional<std::pair<Index, Index>> IndexArithmetic::split(const Index& a, const ir::Size& n) const {
  if (a.kind == Index::Kind::Mul && is_size(a.operands[1]) && a.operands[1].size == n)
    return std::pair(a.operands[0], size_index(0));
  if (a.kind == Index::Kind::Add && a.operands[0].kind == Index::Kind::Mul && is_size(a.operands[0].operands[1]) &&
      a.operands[0].operands[1].size == n && below(a.operands[1], n))
    return std::pair(a.operands[0].operands[0], a.operands[1]);
  return std::nullopt;
}

Index IndexArithmetic::floor_div(Index a, const ir::Size& n) const {
  if (n == ir::Size(1) || is_zero(a)) return a;
  if (below(a, n)) return size_index(0);
  if (auto parts = split(a, n)) return parts->first;
  if (is_size(a)) return size_index(ir::floor_div(a.size, n));
  return node(Index::Kind::FloorDiv, std::move(a), size_index(n));
}

Index IndexArithmetic::mod(Index a, const ir::Size& n) const {
  if (n == ir::Size(1)) return size_index(0);
  if (is_zero(a) || below(a, n)) return a;
  if (auto parts = split(a, n)) return parts->second;
  return node(Index::Kind::Mod, std::move(a), size_index(n));
}

std::vector<LoopAxisId> axes_of(const Index& index) {
  std::vector<LoopAxisId> axes;
  collect(index, axes);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

}  // namespace kw::act
