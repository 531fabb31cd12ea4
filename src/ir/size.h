// A symbolic size: an integer polynomial over size symbols and floor quotients, kept in a normal form, so that equal
// sizes compare equal. `2*half`, `rows*cols`, `(h + 2*pad - k) // stride + 1`.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kw::ir {

using SymbolId = int32_t;

class Size {
 public:
  Size(int64_t constant = 0);  // NOLINT: integers are sizes
  static Size symbol(SymbolId id);

  friend Size operator+(const Size& a, const Size& b);
  friend Size operator-(const Size& a, const Size& b);
  friend Size operator*(const Size& a, const Size& b);
  // Floor division; exact where the divisor divides every term.
  friend Size floor_div(const Size& a, const Size& b);
  friend Size ceil_div(const Size& a, const Size& b) { return floor_div(a + b - Size(1), b); }
  friend Size modulo(const Size& a, const Size& b) { return a - b * floor_div(a, b); }
  friend std::strong_ordering operator<=>(const Size& a, const Size& b);  // structural, for ordered containers
  friend bool operator==(const Size& a, const Size& b) { return (a <=> b) == 0; }

  std::optional<int64_t> constant() const;    // set if it is one
  std::optional<SymbolId> as_symbol() const;  // set if it is a lone symbol
  std::vector<SymbolId> symbols() const;      // ascending, without repetition
  // Value once every symbol has one; nullopt where a symbol has none or a divisor is zero.
  std::optional<int64_t> evaluate(const std::function<std::optional<int64_t>(SymbolId)>& value_of) const;
  Size substitute(const std::function<std::optional<Size>(SymbolId)>& replacement) const;
  std::string text(const std::function<std::string(SymbolId)>& name_of) const;  // parseable: "2*half + 1", "(h + 1)//2"
  size_t hash() const;

 private:
  struct Quotient;
  // An atom is a symbol (quotient == nullptr) or a floor quotient of two sizes.
  struct Atom {
    SymbolId symbol = -1;
    std::shared_ptr<const Quotient> quotient;
  };
  struct Term {
    int64_t coefficient;
    std::vector<Atom> factors;  // ascending; a power is a repeated factor
  };
  static std::strong_ordering compare(const Atom& a, const Atom& b);
  static std::strong_ordering compare(const std::vector<Atom>& a, const std::vector<Atom>& b);
  static Size from_terms(std::vector<Term> terms);
  std::vector<Term> terms_;  // ascending by factors, no zero coefficient; empty is 0
};

Size floor_div(const Size& a, const Size& b);

}  // namespace kw::ir
