// Sizes: integer arithmetic over size symbols. `-` before a product negates the whole product: -h//2 is -(h//2).
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ir/text/block_parser.h"

namespace kw::ir::text {
namespace {

// Two such sizes still multiply without overflow. No tensor comes near either bound.
constexpr double kLargestMagnitude = 2147483648.0;
constexpr double kLargestCost = 256;

}  // namespace

Result<SizeValue> BlockParser::checked(SizeValue value, const Token& at) {
  if (value.magnitude <= kLargestMagnitude && value.cost <= kLargestCost) return value;
  return error(at, "this size is too large an expression", "a fixed size is at most 2^31; give a large one a name");
}

Result<SizeValue> BlockParser::size_expression() {
  const bool negative = accept("-");
  KW_TRY(SizeValue total, size_product());
  if (negative) total = SizeValue::constant(0) - total;
  while (peek().is("+") || peek().is("-")) {
    const Token sign = take();
    KW_TRY(const SizeValue term, size_product());
    KW_TRY(total, checked(sign.is("+") ? total + term : total - term, sign));
  }
  return total;
}

Result<SizeValue> BlockParser::size_product(std::optional<Modulo>* last_modulo) {
  KW_TRY(SizeValue product, size_primary());
  while (peek().is("*") || peek().is("//") || peek().is("%")) {
    const Token sign = take();
    const Token at = peek();
    KW_TRY(const SizeValue factor, size_primary());
    // Before the arithmetic: a product of many sums grows fast.
    KW_CHECK(checked(
        {Size(), std::max(product.magnitude, 1.0) * std::max(factor.magnitude, 1.0), product.cost * factor.cost},
        sign));
    if (last_modulo) *last_modulo = std::nullopt;
    if (sign.is("*")) {
      product = product * factor;
      continue;
    }
    if (factor.size == Size(0)) return error(at, "a size is divided by zero");
    if (last_modulo && sign.is("%")) *last_modulo = Modulo{product.size, factor.size};
    KW_TRY(product, checked(sign.is("//") ? floor_div(product, factor) : modulo(product, factor), sign));
  }
  if (peek().is("/")) return error(peek(), "sizes are whole numbers", "floor division is written //");
  return product;
}

Result<SizeValue> BlockParser::size_primary() {
  const Token token = peek();
  if (token.is("(")) {
    if (++cursor_.depth > 64) return error(token, "this size is nested too deep");
    take();
    KW_TRY(SizeValue inside, size_expression());
    KW_CHECK(close(token));
    --cursor_.depth;
    return inside;
  }
  if (token.kind == TokenKind::Number) {
    const std::optional<int64_t> value = parse_integer(token.text);
    if (!value) return error(token, "a size is a whole number, not " + describe(token));
    take();
    return checked(SizeValue::constant(*value), token);
  }
  KW_TRY(const Token name, expect_name("a size"));
  if (auto symbol = symbols_.find(name.text); symbol != symbols_.end()) return SizeValue::symbol(symbol->second);
  if (auto axis = axes_.find(name.text); axis != axes_.end()) return size_of(axis->second);
  std::vector<std::string> known = names_in(symbols_);
  for (std::string& axis : names_in(axes_)) known.push_back(std::move(axis));
  return error(name, "there is no size '" + std::string(name.text) + "'",
               advice(name, known,
                      "a size is an axis of an input, or is listed in a line below the first: sizes " +
                          std::string(name.text) + " = 8"));
}

// `a == b`, or `a % b == 0`, which says that b divides a.
Result<SizeConstraint> BlockParser::size_constraint() {
  const size_t start = cursor_.next;
  std::optional<Modulo> modulo;
  if (!peek().is("-")) KW_CHECK(size_product(&modulo));
  const bool is_zero = peek().is("==") && peek(1).kind == TokenKind::Number && peek(1).text == "0";
  if (modulo && is_zero && (peek(2).is(",") || peek(2).kind != TokenKind::Symbol)) {
    take();
    take();
    return SizeConstraint{SizeConstraint::Kind::Divisible, modulo->dividend, modulo->divisor};
  }
  cursor_.next = start;
  KW_TRY(const SizeValue left, size_expression());
  if (!peek().is("==")) {
    return error(peek(), "a fact about sizes is 'a == b' or 'a % b == 0', not one with " + describe(peek()));
  }
  take();
  KW_TRY(const SizeValue right, size_expression());
  return SizeConstraint{SizeConstraint::Kind::Equal, left.size, right.size};
}

// A whole number that stands for itself: a stride, a part.
Result<int64_t> BlockParser::small_integer(std::string_view what) {
  const bool negative = accept("-");
  const Token token = peek();
  const std::optional<int64_t> value = token.kind == TokenKind::Number ? parse_integer(token.text) : std::nullopt;
  if (!value || *value > static_cast<int64_t>(kLargestMagnitude)) {
    return error(token, std::string(what) + " is a whole number of at most 2^31, not " + describe(token));
  }
  take();
  return negative ? -*value : *value;
}

}  // namespace kw::ir::text
