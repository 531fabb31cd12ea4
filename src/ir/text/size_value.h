// A size and how large it can become, so that no text makes the arithmetic of sizes overflow or explode.
#pragma once

#include <algorithm>
#include <cmath>

#include "ir/size.h"

namespace kw::ir::text {

struct SizeValue {
  Size size;
  double magnitude = 0;  // bounds every coefficient and every product of divisors
  double cost = 1;       // bounds the number of atoms

  static SizeValue constant(int64_t value) { return {Size(value), std::abs(static_cast<double>(value)), 1}; }
  static SizeValue symbol(SymbolId id) { return {Size::symbol(id), 1, 1}; }
};

inline SizeValue operator+(const SizeValue& a, const SizeValue& b) {
  return {a.size + b.size, a.magnitude + b.magnitude, a.cost + b.cost};
}
inline SizeValue operator-(const SizeValue& a, const SizeValue& b) {
  return {a.size - b.size, a.magnitude + b.magnitude, a.cost + b.cost};
}
inline SizeValue operator*(const SizeValue& a, const SizeValue& b) {
  return {a.size * b.size, a.magnitude * b.magnitude, a.cost * b.cost};
}
inline SizeValue floor_div(const SizeValue& a, const SizeValue& b) {
  return {floor_div(a.size, b.size), std::max(a.magnitude, 1.0) * std::max(b.magnitude, 1.0), a.cost * (b.cost + 1)};
}
inline SizeValue modulo(const SizeValue& a, const SizeValue& b) { return a - b * floor_div(a, b); }

}  // namespace kw::ir::text
