#include "act/emit/cpp/expressions.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "act/emit/cpp/compared_products.h"
#include "act/loop/uses.h"
#include "base/text.h"

namespace kw::act::cpp {
namespace {

using ir::DType;
using ir::Op;

bool is_comparison(Op op) { return op == Op::Lt || op == Op::Le || op == Op::Eq || op == Op::Ne; }
bool is_integer_type(const std::string& cpp_type) { return cpp_type.find("int") != std::string::npos; }
bool is_narrow_integer(ir::Type type) {
  return type == ir::Type(DType::U8) || type == ir::Type(DType::I8) || type == ir::Type(DType::I16);
}

// kw::round_to<T>(x), round_own or round_ties_down, all of it: T and x.
struct Rounded {
  std::string type, text;
};
std::optional<Rounded> as_rounded(const std::string& text) {
  constexpr std::string_view kRoundings[] = {"kw::round_to<", "kw::round_own<", "kw::round_ties_down<"};
  if (std::none_of(std::begin(kRoundings), std::end(kRoundings), [&](auto name) { return text.starts_with(name); }))
    return {};
  const size_t open = text.find('<') + 1, close = text.find('>', open);
  if (text.substr(close, 2) != ">(" || text.find('<', open) < close) return {};
  int depth = 0;
  for (size_t i = close + 1; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && i + 1 < text.size()) return {};
  }
  return Rounded{text.substr(open, close - open), text.substr(close + 2, text.size() - close - 3)};
}

std::string with_point(std::string text) { return text.find_first_of(".en") == std::string::npos ? text + ".0" : text; }

}  // namespace

std::string Expressions::literal(const ir::Literal& literal, const std::string& cpp_type) const {
  const double value = literal.number();
  if (cpp_type == "bool") return value != 0 ? "true" : "false";
  if (is_integer_type(cpp_type)) {
    const int64_t* whole = std::get_if<int64_t>(&literal.value);
    const int64_t n = whole ? *whole : static_cast<int64_t>(value);
    return n == INT64_MIN ? "(-9223372036854775807 - 1)" : std::to_string(n);
  }
  const std::string open = cpp_type == "double" ? "" : cpp_type + "(", close = cpp_type == "double" ? "" : ")";
  if (std::isnan(value)) return cpp_type + "(NAN)";
  if (std::isinf(value)) return cpp_type + (value < 0 ? "(-INFINITY)" : "(INFINITY)");
  if (cpp_type == "float") {
    char digits[32];
    auto [last, error] = std::to_chars(digits, digits + sizeof digits, static_cast<float>(value));
    if (std::isinf(static_cast<float>(value))) return value < 0 ? "float(-INFINITY)" : "float(INFINITY)";
    return with_point(std::string(digits, last)) + "f";
  }
  return open + with_point(number_text(value)) + close;
}

std::string Expressions::inside(const Expression& expression, Binding outer, bool right) const {
  const bool binds = right ? expression.binding < outer : expression.binding <= outer;
  return binds ? expression.text : "(" + expression.text + ")";
}

Expression Expressions::convert(Expression expression, const std::string& cpp_type) const {
  if (expression.type == cpp_type) return expression;
  if (cpp_type == "bool") return {inside(expression, Binding::Equality) + " != 0", Binding::Equality, "bool"};
  const std::string call = by_lanes ? "kw::to<" + cpp_type + ">(" : cpp_type + "(";
  return {call + expression.text + ")", Binding::Primary, cpp_type, expression.text, expression.type};
}

Expression Expressions::round(const Expression& expression, ir::Type type, bool own) const {
  const std::string& text = expression.type == types_.computed(type) ? expression.text_in_context() : expression.text;
  if (std::optional<Rounded> inner = as_rounded(text))
    return {"kw::round_via<" + inner->type + ", " + types_.stored(type) + ">(" + inner->text + ")", Binding::Primary,
            types_.computed(type)};
  const char* function = merges_roundings && (own || only_type_ == type) ? "kw::round_own<" : "kw::round_to<";
  return {function + types_.stored(type) + ">(" + text + ")", Binding::Primary, types_.computed(type)};
}

Expression Expressions::of(ValueId value) { return build(value, true); }

std::string Expressions::as(ValueId value, const std::string& cpp_type) {
  if (const Number* number = std::get_if<Number>(&kernel_[value].what)) return literal(number->literal, cpp_type);
  return convert(of(value), cpp_type).text;
}

std::string Expressions::factor(ValueId value, const std::string& cpp_type) {
  if (std::holds_alternative<Number>(kernel_[value].what)) return as(value, cpp_type);
  return inside(convert(of(value), cpp_type), Binding::Product, true);
}

std::string Expressions::stored(ValueId value, ir::Type type) {
  const std::string cpp_type = types_.stored(type);
  if (const Number* number = std::get_if<Number>(&kernel_[value].what)) {
    const std::string wide = types_.computed(type);
    return wide == cpp_type ? literal(number->literal, wide) : cpp_type + "(" + literal(number->literal, wide) + ")";
  }
  // A cast, or a value whose rounding the store itself does.
  const bool rounds_here = kernel_[value].type == type && types_.rounds(type);
  const Expression expression = build(value, !rounds_here);
  if (expression.type == cpp_type) return expression.text;
  // bf16(x) of a float x rounds once; a double becomes a float first, as in PyTorch.
  if (expression.type == types_.computed(type) && expression.bare_type == "float")
    return cpp_type + "(" + expression.bare + ")";
  if (expression.type == types_.computed(type) || types_.computed(type) == cpp_type)
    return convert(expression, cpp_type).text;
  return convert(convert(expression, types_.computed(type)), cpp_type).text;
}

std::string Expressions::computed(ValueId value, ir::Type type) {
  const std::string wide = types_.computed(type);
  if (const Number* number = std::get_if<Number>(&kernel_[value].what)) return literal(number->literal, wide);
  const bool rounds_here = kernel_[value].type == type && types_.rounds(type);
  const Expression expression = build(value, !rounds_here);
  const std::string& text = expression.type == wide ? expression.text_in_context() : expression.text;
  if (const std::optional<Rounded> before = as_rounded(text))
    return "kw::round_before<" + before->type + ", " + types_.stored(type) + ">(" + before->text + ")";
  return expression.type == wide ? text : convert(expression, wide).text;
}

Expression Expressions::build(ValueId id, bool rounded) {
  if (auto known = environment.find(id); known != environment.end()) return known->second;
  if (auto held = held_.same.find(id); held != held_.same.end()) return of(held->second);
  const Value& value = kernel_[id];
  if (const Load* load = std::get_if<Load>(&value.what)) {
    const std::string type = types_.stored(value.type);
    if (load->guard == kNoValue) return {element(*load), Binding::Primary, type};
    const std::string wide = types_.computed(value.type);
    return {inside(of(load->guard), Binding::Choice, true) + " ? " +
                convert({element(*load), Binding::Primary, type}, wide).text + " : " + as(load->otherwise, wide),
            Binding::Choice, wide};
  }
  if (const Number* number = std::get_if<Number>(&value.what)) {
    const std::string type = types_.computed(value.type);
    return {literal(number->literal, type), Binding::Primary, type};
  }
  if (const Scalar* scalar = std::get_if<Scalar>(&value.what)) {
    return {scalar->name, Binding::Primary, scalar_type(scalar->name)};
  }
  if (const IndexValue* index = std::get_if<IndexValue>(&value.what)) {
    std::string text = names_.text(index->index);
    const bool simple = index->index.kind == Index::Kind::Axis || text.find(' ') == std::string::npos;
    return {text, simple ? Binding::Primary : Binding::Sum, "int64_t"};
  }
  const Map* map = std::get_if<Map>(&value.what);
  KW_ASSERT(map, "a reduction is a variable before it is used");
  if (auto held = held_.sums.find(id); held != held_.sums.end()) {
    const Expression sum = this->map(value, *map, false);
    return {"kw::round_between<" + types_.stored(value.type) + ">(" + sum.text + ", " +
                literal({held->second.least}, sum.type) + ", " + literal({held->second.most}, sum.type) + ")",
            Binding::Primary, sum.type};
  }
  if (const std::optional<Kept> kept = this->kept(id)) return keep(*kept);
  Expression result = this->map(value, *map, rounded);
  if (unfused_.contains(id)) return {"kw::unfused(" + result.text + ")", Binding::Primary, result.type};
  return result;
}

std::vector<ValueId> Expressions::operands(ValueId id) const {
  if (auto held = held_.same.find(id); held != held_.same.end()) return {held->second};
  const std::optional<Kept> kept = this->kept(id);
  if (!kept) return operands_of(kernel_[id]);
  std::vector<ValueId> all;
  for (ValueId comparison : kept->comparisons)
    for (ValueId operand : operands_of(kernel_[comparison])) all.push_back(operand);
  all.push_back(kept->rest);
  return all;
}

std::optional<Expressions::Kept> Expressions::kept(ValueId id) const {
  if (!by_lanes || !kernel_[id].type.floating()) return {};
  Kept found{{}, kNoValue, id};
  for (const Map* map = std::get_if<Map>(&kernel_[id].what); map && map->op == Op::Select;
       map = std::get_if<Map>(&kernel_[found.rest].what)) {
    const Map* comparison = std::get_if<Map>(&kernel_[map->args[0]].what);
    const Number* number = std::get_if<Number>(&kernel_[map->args[1]].what);
    if (!comparison || (comparison->op != Op::Le && comparison->op != Op::Lt) || !number) break;
    if (number->literal.number() != 0 || std::signbit(number->literal.number())) break;
    // What lies further out is a variable there.
    if (kernel_[map->args[0]].axes != kernel_[id].axes) break;
    if (!found.comparisons.empty() && uses_[static_cast<size_t>(found.rest)] != 1) break;
    if (!(kernel_[found.rest].type == kernel_[id].type) || held_.same.contains(found.rest)) break;
    found.comparisons.push_back(map->args[0]);
    found.select = found.rest;
    found.rest = map->args[2];
  }
  if (found.comparisons.size() < 2) return {};  // one is as good as a choice
  return found;
}

Expression Expressions::keep(const Kept& kept) {
  std::string which;
  for (ValueId id : kept.comparisons) {
    const Value& comparison = kernel_[id];
    const Map& map = std::get<Map>(comparison.what);
    which += (which.empty() ? "kw::" : " & kw::") + std::string(map.op == Op::Le ? "exceeds(" : "reaches(") +
             operand(comparison, map, 0).text + ", " + operand(comparison, map, 1).text + ")";
  }
  const Value& select = kernel_[kept.select];
  const Expression rest = operand(select, std::get<Map>(select.what), 2);
  const std::optional<Rounded> rounded = as_rounded(rest.text);
  if (rounded && rest.text.starts_with("kw::round_own<"))
    return {"kw::keep_own<" + rounded->type + ">(" + which + ", " + rounded->text + ")", Binding::Primary, rest.type};
  return {"kw::keep(" + which + ", " + rest.text + ")", Binding::Primary, rest.type};
}

ir::Type Expressions::common_type(const Value& reader, const Map& map) const {
  if (!is_comparison(map.op)) return reader.type;
  return ir::promote(kernel_[map.args[0]].type, kernel_[map.args[1]].type);
}

Expression Expressions::operand(const Value& reader, const Map& map, size_t i) {
  const ValueId arg = map.args[i];
  const Value& value = kernel_[arg];
  if (map.op == Op::Select && i == 0) return convert(of(arg), "bool");
  const ir::Type common = common_type(reader, map);
  const std::string type = types_.computed(common);
  Expression converted;
  if (const Number* number = std::get_if<Number>(&value.what))
    converted = {literal(number->literal, type), Binding::Primary, type};
  else
    converted = convert(of(arg), type);
  if (!types_.rounds(common) || !common.floating()) return converted;
  // Whole numbers become the common type before anything is computed; plain numbers only where nothing is computed.
  bool rounds = value.type.integer() && !value.type.weak();
  if (value.type.weak() && spelling_of(map.op).exact) {
    const Number* number = std::get_if<Number>(&value.what);
    rounds = !number || !is_exact_everywhere(number->literal.number());
  }
  return rounds ? round(converted, common) : converted;
}

// Functions are templates of one type; a plain whole number is an int to the compiler.
std::string Expressions::argument(const Value& reader, const Map& map, size_t i) {
  const Expression own = operand(reader, map, i);
  const bool plain = std::holds_alternative<Number>(kernel_[map.args[i]].what) && is_integer_type(own.type);
  return plain ? own.type + "(" + own.text + ")" : own.text;
}

Expression Expressions::map(const Value& value, const Map& map, bool rounded) {
  const Spelling& spelling = spelling_of(map.op);
  const std::string type = value.type.boolean() ? "bool" : types_.computed(value.type);
  Expression result{"", spelling.binding, type};
  switch (spelling.form) {
    case Spelling::Form::None:
      KW_ASSERT(false, "only pointwise primitives are values of a kernel");
      break;
    case Spelling::Form::Special:
      result = special(value, map, rounded);
      if (map.op == Op::Cast) return result;
      break;
    case Spelling::Form::Prefix: {
      const std::string text = inside(operand(value, map, 0), Binding::Unary);
      result.text = spelling.text + (text.starts_with("-") ? "(" + text + ")" : text);
      break;
    }
    case Spelling::Form::Infix: {
      const Expression left = operand(value, map, 0), right = operand(value, map, 1);
      if (map.op == Op::Div && !division.empty() && value.type.floating()) {
        result = {division + "(" + left.text + ", " + right.text + ")", Binding::Primary, type};
        break;
      }
      if (map.op == Op::Div && value.type.floating())
        if (std::optional<Expression> quotient = fast_quotient(value, map, left)) {
          result = *quotient;
          break;
        }
      // GCC asks for parentheses around a comparison beside & and |.
      const bool logical = spelling.binding >= Binding::And;
      auto side = [&](const Expression& e, bool is_right) {
        const bool bare = logical && e.binding != Binding::Primary && e.binding != Binding::Unary;
        return bare ? "(" + e.text + ")" : inside(e, spelling.binding, is_right);
      };
      result.text = side(left, false) + spelling.text + side(right, true);
      break;
    }
    case Spelling::Form::Call: {
      result.text = std::string(spelling.text) + "(";
      for (size_t i = 0; i < map.args.size(); ++i) result.text += (i ? ", " : "") + argument(value, map, i);
      result.text += ")";
      break;
    }
  }
  if (is_narrow_integer(value.type)) return {type + "(" + result.text + ")", Binding::Primary, type};
  if (rounded && !spelling.exact && value.type.floating() && types_.rounds(value.type)) {
    if (merges_roundings && is_multiple(value, map))
      return {"kw::round_multiple<" + types_.stored(value.type) + ">(" + result.text + ")", Binding::Primary, type};
    if (merges_roundings && by_lanes && is_square_or_root(value, map))
      return {"kw::round_ties_down<" + types_.stored(value.type) + ">(" + result.text + ")", Binding::Primary, type};
    return round(result, value.type, is_own(map, value.type));
  }
  return result;
}

bool Expressions::is_own(const Map& map, ir::Type type) const {
  std::set<ValueId> seen;
  auto visit = [&](auto&& self, ValueId id) -> bool {
    const Value& value = kernel_[id];
    if (!value.type.floating() || std::holds_alternative<Number>(value.what) || !seen.insert(id).second) return true;
    // What several types join to is one of 16 bits only where each of them is that one.
    if (!value.type.weak() && ir::promote(value.type, type) == type) return true;
    const Map* inner = std::get_if<Map>(&value.what);
    return inner && std::all_of(inner->args.begin(), inner->args.end(), [&](ValueId arg) { return self(self, arg); });
  };
  return std::all_of(map.args.begin(), map.args.end(), [&](ValueId arg) { return visit(visit, arg); });
}

bool Expressions::is_multiple(const Value& value, const Map& map) const {
  if (map.op != Op::Mul) return false;
  for (size_t i : {0, 1}) {
    const Number* number = std::get_if<Number>(&kernel_[map.args[i]].what);
    if (!number || !(kernel_[map.args[1 - i]].type == value.type)) continue;
    const double factor = number->literal.number();
    return factor == 2 || factor == 4 || factor == 8;
  }
  return false;
}

bool Expressions::is_square_or_root(const Value& value, const Map& map) const {
  const bool square = map.op == Op::Mul && map.args[0] == map.args[1];
  if (!square && map.op != Op::Sqrt && map.op != Op::Rsqrt) return false;
  const Value& arg = kernel_[map.args[0]];
  if (!(arg.type == value.type) || value.type.weak()) return false;
  // What stands for an element beyond an edge, and a scalar, may have more bits than the type.
  const Load* load = std::get_if<Load>(&arg.what);
  return std::holds_alternative<Map>(arg.what) || (load && load->guard == kNoValue);
}

std::optional<Expression> Expressions::fast_quotient(const Value& value, const Map& map, const Expression& left) const {
  const std::string type = types_.computed(value.type);
  if (const Number* number = std::get_if<Number>(&kernel_[map.args[1]].what)) {
    // The oracle grants a quotient what a product with the rounded reciprocal loses, unless this leaves the type.
    const double divisor = number->literal.number(), magnitude = std::fabs(divisor);
    if (std::holds_alternative<Number>(kernel_[map.args[0]].what) || !(magnitude > 1e-4 && magnitude < 1e4)) return {};
    const std::string one_over = "1.0 / " + with_point(number_text(divisor));
    return Expression{inside(left, Binding::Product) + " * " + type + "(" + one_over + ")", Binding::Product, type};
  }
  const auto known = environment.find(map.args[1]);
  if (known == environment.end() || known->second.divisor.empty()) return {};
  return Expression{inside(left, Binding::Product) + " / " + known->second.divisor, Binding::Product, type};
}

Expression Expressions::special(const Value& value, const Map& map, bool rounded) {
  const std::string type = value.type.boolean() ? "bool" : types_.computed(value.type);
  switch (map.op) {
    case Op::Cast: {
      const Value& arg = kernel_[map.args[0]];
      if (arg.type == value.type) return build(map.args[0], true);
      if (std::holds_alternative<Number>(arg.what)) {
        const std::string text = literal(std::get<Number>(arg.what).literal, type);
        if (!rounded || !types_.rounds(value.type)) return {text, Binding::Primary, type};
        return round({text, Binding::Primary, type}, value.type);
      }
      const Expression inner = of(map.args[0]);
      const bool narrows = arg.type.floating() && value.type.integer() && !(value.type == ir::Type(DType::I64));
      const Expression wide = convert(narrows ? convert(inner, "int64_t") : inner, type);
      if (!rounded || !value.type.floating() || !types_.rounds(value.type)) return wide;
      return round(wide, value.type, is_own(map, value.type));
    }
    case Op::StopGradient:
      return convert(of(map.args[0]), type);
    case Op::Not:
      return {(value.type.boolean() ? "!" : "~") + inside(of(map.args[0]), Binding::Unary), Binding::Unary, type};
    case Op::Select: {
      const Expression condition = operand(value, map, 0);
      const Expression then = operand(value, map, 1), otherwise = operand(value, map, 2);
      if (by_lanes)
        return {"kw::choose(" + condition.text + ", " + then.text + ", " + otherwise.text + ")", Binding::Primary,
                type};
      return {inside(condition, Binding::Choice, true) + " ? " + inside(then, Binding::Choice, true) + " : " +
                  inside(otherwise, Binding::Choice),
              Binding::Choice, type};
    }
    case Op::Pow:
      return power(value, map);
    case Op::Random: {
      std::string text = "kw::random(";
      for (size_t i = 0; i < map.args.size(); ++i) text += (i ? ", " : "") + as(map.args[i], "int64_t");
      return {text + ")", Binding::Primary, type};
    }
    default:
      break;
  }
  KW_ASSERT(false, "every special spelling is written out here");
  return {};
}

Expression Expressions::power(const Value& value, const Map& map) {
  const Expression base = operand(value, map, 0);
  const Number* number = std::get_if<Number>(&kernel_[map.args[1]].what);
  auto call = [&](const char* name) -> Expression {
    return {std::string(name) + "(" + base.text + ")", Binding::Primary, base.type};
  };
  if (number && value.type.floating()) {
    const double exponent = number->literal.number();
    if (exponent == 1) return base;
    if (exponent == 2) return call("kw::square");
    if (exponent == 3) return call("kw::cube");
    if (exponent == 0.5) return call("kw::sqrt");
    if (exponent == -0.5) return call("kw::rsqrt");
    if (exponent == -1) return {"1 / " + inside(base, Binding::Product, true), Binding::Product, base.type};
  }
  return {"kw::pow(" + argument(value, map, 0) + ", " + argument(value, map, 1) + ")", Binding::Primary, base.type};
}

std::string Expressions::wanted_type(const Value& reader, const Map& map, size_t i) {
  if (map.op == Op::Select && i == 0) return "bool";
  if (map.op == Op::Random) return "int64_t";
  if (map.op == Op::StopGradient || map.op == Op::Cast) return types_.computed(reader.type);
  return types_.computed(common_type(reader, map));
}

void Expressions::find_only_type() {
  only_type_.reset();
  for (const Value& value : kernel_.values) {
    if (std::holds_alternative<Scalar>(value.what) && value.type.floating()) return only_type_.reset();
    if (!std::holds_alternative<Load>(value.what) || !value.type.floating()) continue;
    if (only_type_ && !(*only_type_ == value.type)) return only_type_.reset();
    only_type_ = value.type;
  }
}

void Expressions::count_uses() { uses_ = use_counts(kernel_); }

void Expressions::hold_sums() {
  held_ = find_held_sums(kernel_, [&](ir::Type type) { return types_.rounds(type); });
}

void Expressions::unfuse_compared_products() { unfused_ = find_compared_products(kernel_); }

void Expressions::find_scalar_types() {
  std::map<std::string, std::set<std::string>> wanted;
  for (const Value& value : kernel_.values)
    if (const Map* map = std::get_if<Map>(&value.what))
      for (size_t i = 0; i < map->args.size(); ++i)
        if (const Scalar* scalar = std::get_if<Scalar>(&kernel_[map->args[i]].what))
          wanted[scalar->name].insert(wanted_type(value, *map, i));
  for (const auto& [name, type] : program_.scalars) {
    const std::set<std::string>& types = wanted[name];
    const std::string own = types_.computed(type);
    // A whole number or a truth that is only ever a factor is passed as the factor.
    const bool one = types.size() == 1 && (own != "bool" || *types.begin() == "bool") &&
                     !(own == "double" && is_integer_type(*types.begin()));
    scalar_types_[name] = one ? *types.begin() : own;
  }
}

std::string Expressions::scalar_type(const std::string& name) const { return scalar_types_.at(name); }

}  // namespace kw::act::cpp
