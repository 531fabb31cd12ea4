#include "ir/size.h"

#include <algorithm>
#include <numeric>

#include "base/result.h"

namespace kw::ir {

struct Size::Quotient {
  Size numerator;
  Size denominator;
};

Size::Size(int64_t constant) {
  if (constant != 0) terms_.push_back({constant, {}});
}

Size Size::symbol(SymbolId id) {
  Size s;
  s.terms_.push_back({1, {Atom{id, nullptr}}});
  return s;
}

std::strong_ordering Size::compare(const Atom& a, const Atom& b) {
  if (bool(a.quotient) != bool(b.quotient)) return bool(a.quotient) <=> bool(b.quotient);
  if (!a.quotient) return a.symbol <=> b.symbol;
  if (auto c = a.quotient->numerator <=> b.quotient->numerator; c != 0) return c;
  return a.quotient->denominator <=> b.quotient->denominator;
}

// Longer products first, so that a constant stands last: "2*half + 1".
std::strong_ordering Size::compare(const std::vector<Atom>& a, const std::vector<Atom>& b) {
  if (a.size() != b.size()) return b.size() <=> a.size();
  for (size_t i = 0; i < a.size(); ++i)
    if (auto c = compare(a[i], b[i]); c != 0) return c;
  return std::strong_ordering::equal;
}

std::strong_ordering operator<=>(const Size& a, const Size& b) {
  if (a.terms_.size() != b.terms_.size()) return a.terms_.size() <=> b.terms_.size();
  for (size_t i = 0; i < a.terms_.size(); ++i) {
    if (auto c = Size::compare(a.terms_[i].factors, b.terms_[i].factors); c != 0) return c;
    if (auto c = a.terms_[i].coefficient <=> b.terms_[i].coefficient; c != 0) return c;
  }
  return std::strong_ordering::equal;
}

Size Size::from_terms(std::vector<Term> terms) {
  std::stable_sort(terms.begin(), terms.end(),
                   [](const Term& x, const Term& y) { return compare(x.factors, y.factors) < 0; });
  Size result;
  for (Term& term : terms) {
    if (!result.terms_.empty() && compare(result.terms_.back().factors, term.factors) == 0)
      result.terms_.back().coefficient += term.coefficient;
    else
      result.terms_.push_back(std::move(term));
    if (result.terms_.back().coefficient == 0) result.terms_.pop_back();
  }
  return result;
}

Size operator+(const Size& a, const Size& b) {
  std::vector<Size::Term> terms = a.terms_;
  terms.insert(terms.end(), b.terms_.begin(), b.terms_.end());
  return Size::from_terms(std::move(terms));
}

Size operator-(const Size& a, const Size& b) { return a + b * Size(-1); }

Size operator*(const Size& a, const Size& b) {
  std::vector<Size::Term> terms;
  for (const Size::Term& x : a.terms_)
    for (const Size::Term& y : b.terms_) {
      Size::Term product{x.coefficient * y.coefficient, x.factors};
      product.factors.insert(product.factors.end(), y.factors.begin(), y.factors.end());
      std::sort(product.factors.begin(), product.factors.end(),
                [](const Size::Atom& p, const Size::Atom& q) { return Size::compare(p, q) < 0; });
      terms.push_back(std::move(product));
    }
  return Size::from_terms(std::move(terms));
}

Size floor_div(const Size& a, const Size& b) {
  KW_ASSERT(!(b == Size(0)), "a size is never divided by zero: callers check");
  if (b == Size(1)) return a;
  if (a == Size(0)) return a;
  if (a == b) return Size(1);
  if (auto ca = a.constant(), cb = b.constant(); ca && cb) {
    int64_t q = *ca / *cb;
    return Size(q - ((*ca % *cb != 0) && ((*ca < 0) != (*cb < 0)) ? 1 : 0));
  }
  // Terms that the divisor (a single product) divides leave the quotient exactly; the rest stays under the floor.
  std::vector<Size::Term> exact, rest;
  if (b.terms_.size() == 1) {
    const Size::Term& divisor = b.terms_[0];
    for (const Size::Term& term : a.terms_) {
      std::vector<Size::Atom> left = term.factors;
      bool divides = term.coefficient % divisor.coefficient == 0;
      for (const Size::Atom& factor : divisor.factors) {
        auto at =
            std::find_if(left.begin(), left.end(), [&](const Size::Atom& x) { return Size::compare(x, factor) == 0; });
        if (at == left.end()) {
          divides = false;
          break;
        }
        left.erase(at);
      }
      if (divides)
        exact.push_back({term.coefficient / divisor.coefficient, std::move(left)});
      else
        rest.push_back(term);
    }
  } else {
    rest = a.terms_;
  }
  Size whole = Size::from_terms(std::move(exact));
  if (rest.empty()) return whole;
  Size remainder = Size::from_terms(std::move(rest));
  if (auto ca = remainder.constant(), cb = b.constant(); ca && cb) return whole + floor_div(remainder, b);
  // (p // q) // r is p // (q*r) for positive q and r.
  if (remainder.terms_.size() == 1 && remainder.terms_[0].coefficient == 1 && remainder.terms_[0].factors.size() == 1 &&
      remainder.terms_[0].factors[0].quotient) {
    const Size::Quotient& inner = *remainder.terms_[0].factors[0].quotient;
    return whole + floor_div(inner.numerator, inner.denominator * b);
  }
  Size quotient;
  quotient.terms_.push_back({1, {Size::Atom{-1, std::make_shared<Size::Quotient>(Size::Quotient{remainder, b})}}});
  return whole + quotient;
}

std::optional<int64_t> Size::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_[0].factors.empty()) return terms_[0].coefficient;
  return std::nullopt;
}

std::optional<SymbolId> Size::as_symbol() const {
  if (terms_.size() == 1 && terms_[0].coefficient == 1 && terms_[0].factors.size() == 1 &&
      !terms_[0].factors[0].quotient)
    return terms_[0].factors[0].symbol;
  return std::nullopt;
}

std::vector<SymbolId> Size::symbols() const {
  std::vector<SymbolId> found;
  for (const Term& term : terms_)
    for (const Atom& atom : term.factors) {
      if (!atom.quotient) {
        found.push_back(atom.symbol);
        continue;
      }
      for (SymbolId s : atom.quotient->numerator.symbols()) found.push_back(s);
      for (SymbolId s : atom.quotient->denominator.symbols()) found.push_back(s);
    }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::optional<int64_t> Size::evaluate(const std::function<std::optional<int64_t>(SymbolId)>& value_of) const {
  int64_t total = 0;
  for (const Term& term : terms_) {
    int64_t product = term.coefficient;
    for (const Atom& atom : term.factors) {
      std::optional<int64_t> value;
      if (atom.quotient) {
        auto n = atom.quotient->numerator.evaluate(value_of);
        auto d = atom.quotient->denominator.evaluate(value_of);
        if (!n || !d || *d == 0) return std::nullopt;
        value = *n / *d - ((*n % *d != 0) && ((*n < 0) != (*d < 0)) ? 1 : 0);
      } else {
        value = value_of(atom.symbol);
      }
      if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(total, product, &total)) return std::nullopt;
  }
  return total;
}

Size Size::substitute(const std::function<std::optional<Size>(SymbolId)>& replacement) const {
  Size total;
  for (const Term& term : terms_) {
    Size product(term.coefficient);
    for (const Atom& atom : term.factors) {
      if (atom.quotient) {
        Size denominator = atom.quotient->denominator.substitute(replacement);
        product = product * floor_div(atom.quotient->numerator.substitute(replacement),
                                      denominator == Size(0) ? Size(1) : denominator);
      } else if (auto other = replacement(atom.symbol)) {
        product = product * *other;
      } else {
        product = product * symbol(atom.symbol);
      }
    }
    total = total + product;
  }
  return total;
}

std::string Size::text(const std::function<std::string(SymbolId)>& name_of) const {
  if (terms_.empty()) return "0";
  std::string out;
  // A term that is subtracted reads best after one that is added.
  std::vector<const Term*> ordered;
  for (const Term& term : terms_)
    if (term.coefficient > 0) ordered.push_back(&term);
  for (const Term& term : terms_)
    if (term.coefficient < 0) ordered.push_back(&term);
  for (const Term* term : ordered) {
    bool negative = term->coefficient < 0;
    out += out.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    int64_t magnitude = negative ? -term->coefficient : term->coefficient;
    std::string product;
    if (magnitude != 1 || term->factors.empty()) product = std::to_string(magnitude);
    for (const Atom& atom : term->factors) {
      if (!product.empty()) product += "*";
      if (!atom.quotient) {
        product += name_of(atom.symbol);
        continue;
      }
      auto wrapped = [&](const Size& s) {
        std::string inner = s.text(name_of);
        return s.as_symbol() || (s.constant() && *s.constant() >= 0) ? inner : "(" + inner + ")";
      };
      std::string quotient = wrapped(atom.quotient->numerator) + "//" + wrapped(atom.quotient->denominator);
      product += term->factors.size() > 1 || magnitude != 1 ? "(" + quotient + ")" : quotient;
    }
    out += product;
  }
  return out;
}

size_t Size::hash() const {
  size_t h = 1469598103934665603ull;
  auto mix = [&h](size_t v) { h = (h ^ v) * 1099511628211ull; };
  for (const Term& term : terms_) {
    mix(static_cast<size_t>(term.coefficient));
    for (const Atom& atom : term.factors) {
      mix(static_cast<size_t>(atom.symbol) + 7);
      if (atom.quotient) {
        mix(atom.quotient->numerator.hash());
        mix(atom.quotient->denominator.hash());
      }
    }
    mix(31);
  }
  return h;
}

}  // namespace kw::ir
