// Expressions with operators, by precedence climbing.
#include <cmath>
#include <limits>

#include "base/text.h"
#include "ir/text/block_parser.h"

namespace kw::ir::text {
namespace {

constexpr int kDeepestNesting = 200;

struct Infix {
  Op op;
  Precedence precedence;
  bool swapped = false;  // a > b is b < a
};

std::optional<Infix> infix_at(const Token& token) {
  if (token.kind != TokenKind::Symbol) return std::nullopt;
  if (token.text == ">") return Infix{Op::Lt, Precedence::Compare, true};
  if (token.text == ">=") return Infix{Op::Le, Precedence::Compare, true};
  const InfixOp* found = infix_op(token.text);
  if (!found) return std::nullopt;
  return Infix{found->op, found->precedence};
}

Precedence tighter(Precedence p) { return static_cast<Precedence>(static_cast<int>(p) + 1); }

}  // namespace

Result<NodeId> BlockParser::expression(Precedence weakest) {
  KW_TRY(NodeId left, unary());
  while (const std::optional<Infix> infix = infix_at(peek())) {
    if (infix->precedence < weakest) break;
    const Token at = take();
    KW_TRY(const NodeId right, expression(tighter(infix->precedence)));
    KW_TRY(left, infix->swapped ? make(at, infix->op, {right, left}) : make(at, infix->op, {left, right}));
    if (infix->precedence != Precedence::Compare) continue;
    if (const std::optional<Infix> next = infix_at(peek()); next && next->precedence == Precedence::Compare) {
      return error(peek(), "comparisons do not chain", "join two of them: (a < b) & (b < c)");
    }
  }
  return left;
}

Result<NodeId> BlockParser::unary() {
  const Token sign = peek();
  if (!sign.is("-") && !sign.is("~")) return power();
  if (++cursor_.depth > kDeepestNesting) return error(sign, "this expression is nested too deep", "name a part of it");
  take();
  const Token& next = peek();
  const bool is_number = next.kind == TokenKind::Number || next.is_word("inf") || next.is_word("nan");
  Result<NodeId> result = kNoNode;
  if (sign.is("-") && is_number && !peek(1).is("^")) {
    const Token digits = take();
    KW_TRY(const Literal value, number(digits, true));
    result = make(digits, Op::Const, {}, value);
  } else {
    KW_TRY(const NodeId operand, unary());
    result = make(sign, sign.is("-") ? Op::Neg : Op::Not, {operand});
  }
  --cursor_.depth;
  return result;
}

Result<NodeId> BlockParser::power() {
  KW_TRY(const NodeId base, primary());
  if (!peek().is("^")) return base;
  const Token at = take();
  if (peek().kind == TokenKind::Number && peek().text == "2" && !peek(1).is("^")) {
    take();
    return make(at, Op::Mul, {base, base});
  }
  // The exponent may be a power itself, so the depth grows with each ^.
  if (++cursor_.depth > kDeepestNesting) return error(at, "this expression is nested too deep", "name a part of it");
  KW_TRY(const NodeId exponent, unary());
  --cursor_.depth;
  return make(at, Op::Pow, {base, exponent});
}

Result<NodeId> BlockParser::primary() {
  const Token token = peek();
  if (token.kind == TokenKind::Number || token.is_word("inf") || token.is_word("nan")) {
    take();
    KW_TRY(const Literal value, number(token, false));
    return make(token, Op::Const, {}, value);
  }
  if (token.is_word("true") || token.is_word("false")) {
    take();
    return make(token, Op::Const, {}, Literal{token.text == "true"});
  }
  if (!token.is("(") && token.kind != TokenKind::Name) {
    return error(token, "a value is expected here, not " + describe(token),
                 token.is("+") ? "a number has no sign +" : "");
  }
  if (++cursor_.depth > kDeepestNesting) return error(token, "this expression is nested too deep", "name a part of it");
  Result<NodeId> result = kNoNode;
  if (token.is("(")) {
    take();
    KW_TRY(result, expression());
    if (peek().is(",")) return error(peek(), "brackets group one value", "a call has its name directly before the '('");
    KW_CHECK(close(token));
  } else if (peek(1).is("(") && (token.quoted || !is_reserved(token.text))) {
    take();
    result = call(token);
  } else {
    KW_TRY(const Token name, expect_name("a value"));
    result = value(name);
  }
  --cursor_.depth;
  return result;
}

Result<NodeId> BlockParser::value(const Token& name) {
  if (auto known = values_.find(name.text); known != values_.end()) return known->second;
  const std::string text(name.text);
  std::string hint = advice(name, names_in(values_), "the values so far are " + join(names_in(values_), ", "));
  if (values_.size() > 8 && hint.starts_with("the values")) hint.clear();
  if (axes_.contains(text) || symbols_.contains(text)) {
    hint = "'" + text + "' is an axis or a size: write size(" + text + ") for its length, iota(" + text +
           ") for the index along it";
  } else if (op_from_name(text) || types_.contains(text) || dtype_from_name(text)) {
    hint = "'" + text + "' is called with brackets: " + text + "(x)";
  }
  return error(name, "there is no value '" + text + "'", std::move(hint));
}

Result<Literal> BlockParser::number(const Token& token, bool negative) {
  const double sign = negative ? -1.0 : 1.0;
  if (token.text == "inf") return Literal{sign * std::numeric_limits<double>::infinity()};
  if (token.text == "nan") return Literal{std::copysign(std::numeric_limits<double>::quiet_NaN(), sign)};
  const std::string text = (negative ? "-" : "") + std::string(token.text);
  if (token.text.find_first_of(".eE") == std::string_view::npos) {
    const std::optional<int64_t> value = parse_integer(text);
    if (!value) return error(token, text + " does not fit into 64 bits", "write it as a real number: " + text + ".0");
    return Literal{*value};
  }
  const std::optional<double> value = parse_number(text);
  if (!value) return error(token, text + " is beyond the range of f64");
  return Literal{*value};
}

}  // namespace kw::ir::text
