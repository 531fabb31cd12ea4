#include "kernel/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "kernel/expression_nodes.h"

namespace kw::kernel {

namespace {

constexpr int kDeepestNesting = 64;
constexpr std::size_t kLongestText = 4096;

}  // namespace

// Recursive descent, loosest first: or, and, not, comparison, sum, product, sign, primary.
class ExpressionParser {
 public:
  using Op = Expression::Op;
  using Kind = Expression::Kind;

  explicit ExpressionParser(std::string_view text) { expression_.text_ = text; }

  static std::vector<ExpressionNode> nodes(const Expression& expression) {
    std::vector<ExpressionNode> out;
    for (const Expression::Node& node : expression.nodes_) {
      ExpressionNode one{{}, node.name, node.inputs};
      if (node.op == Op::Whole) one.text = std::to_string(node.whole);
      if (node.op == Op::Decimal) one.text = number_text(node.decimal);
      for (const Function& function : kFunctions)
        if (function.op == node.op) one.op = function.name;
      for (const auto& [op, symbol] : kSymbols)
        if (op == node.op) one.op = symbol;
      out.push_back(std::move(one));
    }
    return out;
  }

  Result<Expression> parse(Kind kind) {
    if (expression_.text_.size() > kLongestText) return bad_input("this expression is too long");
    KW_TRY(const int whole, disjunction());
    space();
    if (at_ < text().size()) return error(fmt::format("'{}' does not belong here", rest()));
    KW_CHECK(expect(whole, kind));
    return std::move(expression_);
  }

 private:
  struct Function {
    std::string_view name;
    Op op;
    std::string_view arguments;  // n: a size, b: a buffer; as plain numbers, d: a dimension, s: a step
    Kind gives;
  };
  static constexpr std::array<Function, 15> kFunctions = {{
      {"min", Op::Min, "nn", Kind::Size},
      {"max", Op::Max, "nn", Kind::Size},
      {"ceil_div", Op::CeilDiv, "nn", Kind::Size},
      {"next_pow2", Op::NextPow2, "n", Kind::Size},
      {"blocks", Op::Blocks, "s", Kind::Size},
      {"shape", Op::Shape, "bd", Kind::Size},
      {"stride", Op::Stride, "bd", Kind::Size},
      {"bytes", Op::Bytes, "b", Kind::Size},
      {"numel", Op::Numel, "b", Kind::Size},
      {"dense", Op::Dense, "b", Kind::Condition},
      {"packed", Op::Packed, "b", Kind::Condition},
      {"unit", Op::Unit, "b", Kind::Condition},
      {"aligned", Op::Aligned, "bn", Kind::Condition},
      {"starts", Op::Starts, "bn", Kind::Condition},
      {"same_strides", Op::SameStrides, "bb", Kind::Condition},
  }};

  static constexpr std::array<std::pair<Op, std::string_view>, 15> kSymbols = {{
      {Op::Add, "+"},
      {Op::Sub, "-"},
      {Op::Mul, "*"},
      {Op::FloorDiv, "//"},
      {Op::Mod, "%"},
      {Op::Negate, "-1"},
      {Op::Eq, "=="},
      {Op::Ne, "!="},
      {Op::Lt, "<"},
      {Op::Le, "<="},
      {Op::Gt, ">"},
      {Op::Ge, ">="},
      {Op::And, "and"},
      {Op::Or, "or"},
      {Op::Not, "not"},
  }};

  std::string_view text() const { return expression_.text_; }
  int column() const { return column_at(text(), at_); }

  std::string rest() const {
    std::size_t end = at_ + 1;
    while (end < text().size() && end < at_ + 20 && is_word(text()[end])) ++end;
    return std::string(text().substr(at_, end - at_));
  }

  Failure error(std::string message, std::string hint = {}) const {
    return bad_input(fmt::format("{} in '{}'", message, text()), Place{{}, 0, column()}, std::move(hint));
  }

  static bool is_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }

  void space() {
    while (at_ < text().size() && text()[at_] == ' ') ++at_;
  }

  bool accept(std::string_view symbol) {
    space();
    if (!text().substr(at_).starts_with(symbol)) return false;
    const std::size_t end = at_ + symbol.size();
    if (is_word(symbol[0]) && end < text().size() && is_word(text()[end])) return false;  // "or" is not in "order"
    at_ = end;
    return true;
  }

  int add(Expression::Node node) {
    expression_.nodes_.push_back(std::move(node));
    return static_cast<int>(expression_.nodes_.size()) - 1;
  }

  static bool is_condition(Op op) { return op >= Op::Eq; }

  Status expect(int node, Kind kind) const {
    const Expression::Node& found = expression_.nodes_[static_cast<std::size_t>(node)];
    if (found.op == Op::Buffer) return expression_.wrong(found, fmt::format("'{}' needs parentheses", found.name));
    if (kind == Kind::Condition && !is_condition(found.op))
      return expression_.wrong(found, "a condition is expected, not a number");
    if (kind == Kind::Size && is_condition(found.op))
      return expression_.wrong(found, "a size is expected, not a condition");
    if (kind == Kind::Size && found.op == Op::Decimal) return expression_.wrong(found, "a size is a whole number");
    return {};
  }

  Result<int> binary(Op op, int column, int a, int b, Kind takes) {
    KW_CHECK(expect(a, takes));
    KW_CHECK(expect(b, takes));
    return add({op, 0, 0, {}, {a, b}, column});
  }

  Result<int> disjunction() {
    KW_TRY(int left, conjunction());
    while (true) {
      const int at = column();
      if (!accept("or")) return left;
      KW_TRY(const int right, conjunction());
      KW_TRY(left, binary(Op::Or, at, left, right, Kind::Condition));
    }
  }

  Result<int> conjunction() {
    KW_TRY(int left, negation());
    while (true) {
      const int at = column();
      if (!accept("and")) return left;
      KW_TRY(const int right, negation());
      KW_TRY(left, binary(Op::And, at, left, right, Kind::Condition));
    }
  }

  Result<int> negation() {
    const int at = column();
    if (!accept("not")) return comparison();
    if (++depth_ > kDeepestNesting) return error("this is nested too deep");
    KW_TRY(const int inside, negation());
    --depth_;
    KW_CHECK(expect(inside, Kind::Condition));
    return add({Op::Not, 0, 0, {}, {inside}, at});
  }

  Result<int> comparison() {
    static constexpr std::array<std::pair<std::string_view, Op>, 6> kComparisons = {
        {{"==", Op::Eq}, {"!=", Op::Ne}, {"<=", Op::Le}, {">=", Op::Ge}, {"<", Op::Lt}, {">", Op::Gt}}};
    KW_TRY(const int left, sum());
    const int at = column();
    for (const auto& [symbol, op] : kComparisons) {
      if (!accept(symbol)) continue;
      KW_TRY(const int right, sum());
      for (const int side : {left, right}) {
        const Expression::Node& node = expression_.nodes_[static_cast<std::size_t>(side)];
        if (node.op == Op::Decimal) continue;  // a scalar may be compared with any number
        KW_CHECK(expect(side, Kind::Size));
      }
      return add({op, 0, 0, {}, {left, right}, at});
    }
    return left;
  }

  Result<int> sum() {
    KW_TRY(int left, product());
    while (true) {
      space();
      const int at = column();
      const bool plus = accept("+");
      if (!plus && !accept("-")) return left;
      KW_TRY(const int right, product());
      KW_TRY(left, binary(plus ? Op::Add : Op::Sub, at, left, right, Kind::Size));
    }
  }

  Result<int> product() {
    KW_TRY(int left, sign());
    while (true) {
      space();
      const int at = column();
      Op op = Op::Mul;
      if (accept("//")) {
        op = Op::FloorDiv;
      } else if (accept("%")) {
        op = Op::Mod;
      } else if (accept("/")) {
        return error("sizes are whole numbers", "floor division is written //");
      } else if (!accept("*")) {
        return left;
      }
      KW_TRY(const int right, sign());
      KW_TRY(left, binary(op, at, left, right, Kind::Size));
    }
  }

  Result<int> sign() {
    const int at = column();
    if (!accept("-")) return primary();
    if (++depth_ > kDeepestNesting) return error("this is nested too deep");
    KW_TRY(const int inside, sign());
    --depth_;
    Expression::Node& node = expression_.nodes_[static_cast<std::size_t>(inside)];
    if (node.op == Op::Decimal) {
      node.decimal = -node.decimal;
      return inside;
    }
    KW_CHECK(expect(inside, Kind::Size));
    return add({Op::Negate, 0, 0, {}, {inside}, at});
  }

  Result<int> primary() {
    space();
    if (at_ >= text().size()) return error("something is missing");
    const char c = text()[at_];
    if (accept("(")) {
      if (++depth_ > kDeepestNesting) return error("this is nested too deep");
      KW_TRY(const int inside, disjunction());
      if (!accept(")")) return error("a ')' is missing");
      --depth_;
      return inside;
    }
    if (c >= '0' && c <= '9') return number();
    if (!is_word(c)) return error(fmt::format("'{}' does not belong here", rest()));
    return word();
  }

  Result<int> number() {
    const int at = column();
    std::size_t end = at_;
    while (end < text().size() &&
           (is_word(text()[end]) || text()[end] == '.' ||
            ((text()[end] == '-' || text()[end] == '+') && (text()[end - 1] == 'e' || text()[end - 1] == 'E'))))
      ++end;
    const std::string_view digits = text().substr(at_, end - at_);
    if (const auto whole = parse_integer(digits)) {
      at_ = end;
      return add({Op::Whole, *whole, 0, {}, {}, at});
    }
    const auto decimal = parse_number(digits);
    if (!decimal) return error(fmt::format("'{}' is not a number", digits));
    at_ = end;
    return add({Op::Decimal, 0, *decimal, {}, {}, at});
  }

  std::string_view take_word() {
    space();
    const std::size_t start = at_;
    while (at_ < text().size() && is_word(text()[at_])) ++at_;
    return text().substr(start, at_ - start);
  }

  Result<int> word() {
    const int at = column();
    const std::string_view name = take_word();
    if (!accept("(")) return add({Op::Name, 0, 0, std::string(name), {}, at});
    const auto* function =
        std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == name; });
    if (function == kFunctions.end()) {
      std::vector<std::string> known;
      for (const Function& f : kFunctions) known.emplace_back(f.name);
      const std::string hint = did_you_mean(name, known);
      return error(fmt::format("there is no function '{}'", name), hint.empty() ? "known: " + join(known, ", ") : hint);
    }
    Expression::Node call{function->op, 0, 0, {}, {}, at};
    if (++depth_ > kDeepestNesting) return error("this is nested too deep");
    for (std::size_t i = 0; i < function->arguments.size(); ++i) {
      if (i > 0 && !accept(",")) return error(fmt::format("{} takes {} arguments", name, function->arguments.size()));
      KW_TRY(const int argument, this->argument(function->arguments[i]));
      call.inputs.push_back(argument);
    }
    --depth_;
    if (!accept(")")) return error(fmt::format("a ')' is missing after the arguments of {}", name));
    return add(std::move(call));
  }

  Result<int> argument(char kind) {
    space();
    const int at = column();
    if (kind == 'b') {
      const std::string_view name = take_word();
      if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return error("the name of a buffer is expected");
      return add({Op::Buffer, 0, 0, std::string(name), {}, at});
    }
    if (kind == 'd' || kind == 's') {
      const bool negative = kind == 'd' && accept("-");
      const std::optional<std::int64_t> value = parse_integer(take_word());
      if (!value || *value > 64)
        return error(kind == 's' ? "a step is a small number: 0 is the first"
                                 : "a dimension is a small number: 0 is the first, -1 the last");
      return add({Op::Whole, negative ? -*value : *value, 0, {}, {}, at});
    }
    KW_TRY(const int value, sum());
    KW_CHECK(expect(value, Kind::Size));
    return value;
  }

  Expression expression_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Failure Expression::wrong(const Node& node, std::string message, std::string hint) const {
  return bad_input(fmt::format("{} in '{}'", message, text_), Place{{}, 0, node.column}, std::move(hint));
}

std::vector<ExpressionNode> nodes_of(const Expression& expression) { return ExpressionParser::nodes(expression); }

Result<Expression> Expression::parse(std::string_view text, Kind kind) { return ExpressionParser(text).parse(kind); }

Status Expression::check(const Scope& scope) const {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<bool> compared(nodes_.size(), false);
  for (const Node& node : nodes_)
    if (node.op >= Op::Eq && node.op <= Op::Ge)
      for (const int side : node.inputs) compared[static_cast<std::size_t>(side)] = true;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (node.op == Op::Name) {
      if (has(scope.sizes, node.name) || node.name == "threads" || node.name == "multiprocessors") continue;
      if (has(scope.scalars, node.name)) {
        if (compared[i]) continue;
        return wrong(node, fmt::format("'{}' is a scalar: it can only be compared", node.name));
      }
      if (scope.buffers.contains(node.name))
        return wrong(node, fmt::format("'{}' is a buffer, not a size", node.name),
                     "stride(x, 0) or numel(x) are sizes");
      std::vector<std::string> known = scope.sizes;
      known.insert(known.end(), scope.scalars.begin(), scope.scalars.end());
      return wrong(node, fmt::format("there is no size '{}'", node.name), did_you_mean(node.name, known));
    }
    if (node.op == Op::Buffer && !scope.buffers.contains(node.name)) {
      std::vector<std::string> known;
      for (const auto& [name, rank] : scope.buffers) known.push_back(name);
      return wrong(node, fmt::format("there is no buffer '{}'", node.name), did_you_mean(node.name, known));
    }
    if (node.op == Op::Blocks) {
      const std::int64_t step = nodes_[static_cast<std::size_t>(node.inputs[0])].whole;
      if (step >= std::ssize(scope.launches))
        return wrong(node, fmt::format("there is no step {} before this one", step));
      if (!scope.launches[static_cast<std::size_t>(step)])
        return wrong(node, fmt::format("step {} launches no blocks", step));
    }
    if (node.op == Op::Shape || node.op == Op::Stride) {
      const Node& buffer = nodes_[static_cast<std::size_t>(node.inputs[0])];
      const std::int64_t dimension = nodes_[static_cast<std::size_t>(node.inputs[1])].whole;
      const int rank = scope.buffers.at(buffer.name);
      if (dimension >= rank || dimension < -rank)
        return wrong(node, fmt::format("'{}' has {} dimensions, so {} is none of them", buffer.name, rank, dimension));
    }
  }
  return {};
}

std::vector<std::string> Expression::size_names() const {
  std::vector<std::string> names;
  for (const Node& node : nodes_)
    if (node.op == Op::Name && std::find(names.begin(), names.end(), node.name) == names.end())
      names.push_back(node.name);
  return names;
}

}  // namespace kw::kernel
