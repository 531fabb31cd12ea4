#include "understand/python/ast_json.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace kw::understand::python {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 420;  // a little more than the parser lets through

// Thrown while decoding and caught at the door: the JSON is not what read_ast.py writes.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A node's kind, place and fields, with its depth.
class NodeJson {
 public:
  NodeJson(const Json& json, int depth) : json_(json), depth_(depth) {
    if (!json.is_array() || json.size() < 5 || !json[0].is_string())
      throw Malformed("a node is not a list with a kind");
    if (depth > kDeepest) throw Malformed("nested too deeply");
  }
  const std::string& kind() const { return json_[0].get_ref<const std::string&>(); }
  Span span() const { return {number(1), number(2), number(3), number(4)}; }
  const Json& field(size_t i) const {
    if (json_.size() <= i + 5) throw Malformed(kind() + " lacks a field");
    return json_[i + 5];
  }
  std::string text(size_t i) const {
    if (!field(i).is_string()) throw Malformed(kind() + ": a name is not a string");
    return field(i).get<std::string>();
  }
  std::optional<std::string> maybe_text(size_t i) const {
    if (field(i).is_null()) return std::nullopt;
    return text(i);
  }
  int64_t integer(size_t i) const {
    if (!field(i).is_number_integer()) throw Malformed(kind() + ": a field is not an integer");
    return field(i).get<int64_t>();
  }
  const Json& list(size_t i) const {
    if (!field(i).is_array()) throw Malformed(kind() + ": a field is not a list");
    return field(i);
  }
  int depth() const { return depth_; }

 private:
  int number(size_t i) const {
    if (!json_[i].is_number_integer()) throw Malformed("a place is not a number");
    const int64_t value = json_[i].get<int64_t>();
    if (value < 0 || value > std::numeric_limits<int>::max()) throw Malformed("a place is out of range");
    return static_cast<int>(value);
  }
  const Json& json_;
  int depth_;
};

template <class Enum, size_t N>
Enum operator_of(const Json& json, const std::array<std::pair<const char*, Enum>, N>& table) {
  if (json.is_string()) {
    for (const auto& [name, value] : table) {
      if (json.get_ref<const std::string&>() == name) return value;
    }
  }
  throw Malformed("unknown operator");
}

BinaryOperator binary_operator(const Json& json) {
  using enum BinaryOperator;
  static constexpr std::array<std::pair<const char*, BinaryOperator>, 13> kTable{{{"Add", Add},
                                                                                  {"Sub", Sub},
                                                                                  {"Mult", Mul},
                                                                                  {"MatMult", MatMul},
                                                                                  {"Div", Div},
                                                                                  {"Mod", Mod},
                                                                                  {"Pow", Pow},
                                                                                  {"LShift", LeftShift},
                                                                                  {"RShift", RightShift},
                                                                                  {"BitOr", BitOr},
                                                                                  {"BitXor", BitXor},
                                                                                  {"BitAnd", BitAnd},
                                                                                  {"FloorDiv", FloorDiv}}};
  return operator_of(json, kTable);
}

UnaryOperator unary_operator(const Json& json) {
  using enum UnaryOperator;
  static constexpr std::array<std::pair<const char*, UnaryOperator>, 4> kTable{
      {{"Invert", Invert}, {"Not", Not}, {"UAdd", Plus}, {"USub", Minus}}};
  return operator_of(json, kTable);
}

Comparison comparison(const Json& json) {
  using enum Comparison;
  static constexpr std::array<std::pair<const char*, Comparison>, 10> kTable{{{"Eq", Equal},
                                                                              {"NotEq", NotEqual},
                                                                              {"Lt", Less},
                                                                              {"LtE", LessEqual},
                                                                              {"Gt", Greater},
                                                                              {"GtE", GreaterEqual},
                                                                              {"Is", Is},
                                                                              {"IsNot", IsNot},
                                                                              {"In", In},
                                                                              {"NotIn", NotIn}}};
  return operator_of(json, kTable);
}

Expr read_expr(const Json& json, int depth);
Stmt read_stmt(const Json& json, int depth);

ExprPtr expr(const NodeJson& node, size_t field) {
  return std::make_unique<Expr>(read_expr(node.field(field), node.depth() + 1));
}
ExprPtr maybe_expr(const Json& json, int depth) {
  return json.is_null() ? nullptr : std::make_unique<Expr>(read_expr(json, depth));
}
ExprPtr maybe_expr(const NodeJson& node, size_t field) { return maybe_expr(node.field(field), node.depth() + 1); }
std::vector<ExprPtr> exprs(const NodeJson& node, size_t field, bool holes = false) {
  std::vector<ExprPtr> result;
  for (const Json& item : node.list(field)) {
    if (item.is_null() && !holes) throw Malformed(node.kind() + ": an expression is missing");
    result.push_back(maybe_expr(item, node.depth() + 1));
  }
  return result;
}
Block block(const NodeJson& node, size_t field) {
  Block result;
  for (const Json& item : node.list(field)) result.push_back(read_stmt(item, node.depth() + 1));
  return result;
}
std::vector<std::string> names(const NodeJson& node, size_t field) {
  std::vector<std::string> result;
  for (const Json& item : node.list(field)) {
    if (!item.is_string()) throw Malformed(node.kind() + ": a name is not a string");
    result.push_back(item.get<std::string>());
  }
  return result;
}

NodeJson child(const Json& json, int depth, const char* kind) {
  NodeJson node(json, depth);
  if (node.kind() != kind) throw Malformed(std::string("expected a node of kind ") + kind);
  return node;
}

Parameter parameter(const Json& json, int depth) {
  const NodeJson node = child(json, depth, "arg");
  return {node.span(), node.text(0), maybe_expr(node, 1)};
}

std::optional<Parameter> maybe_parameter(const Json& json, int depth) {
  if (json.is_null()) return std::nullopt;
  return parameter(json, depth);
}

Parameters parameters(const Json& json, int depth) {
  const NodeJson node = child(json, depth, "arguments");
  Parameters result;
  for (const Json& item : node.list(0)) result.positional.push_back(parameter(item, depth + 1));
  result.positional_only = result.positional.size();
  for (const Json& item : node.list(1)) result.positional.push_back(parameter(item, depth + 1));
  result.star = maybe_parameter(node.field(2), depth + 1);
  for (const Json& item : node.list(3)) result.keyword_only.push_back(parameter(item, depth + 1));
  result.keyword_defaults = exprs(node, 4, true);
  result.double_star = maybe_parameter(node.field(5), depth + 1);
  result.defaults = exprs(node, 6);
  if (result.keyword_defaults.size() != result.keyword_only.size() ||
      result.defaults.size() > result.positional.size()) {
    throw Malformed("defaults do not fit the parameters");
  }
  return result;
}

std::vector<Keyword> keywords(const NodeJson& node, size_t field) {
  std::vector<Keyword> result;
  for (const Json& item : node.list(field)) {
    const NodeJson keyword = child(item, node.depth() + 1, "keyword");
    result.push_back({keyword.maybe_text(0), expr(keyword, 1)});
  }
  return result;
}

std::vector<Comprehension> generators(const NodeJson& node, size_t field) {
  std::vector<Comprehension> result;
  for (const Json& item : node.list(field)) {
    const NodeJson generator = child(item, node.depth() + 1, "comprehension");
    if (generator.integer(3) != 0) throw Malformed("an asynchronous comprehension");
    result.push_back({expr(generator, 0), expr(generator, 1), exprs(generator, 2)});
  }
  if (result.empty()) throw Malformed("a comprehension without a loop");
  return result;
}

std::vector<Alias> aliases(const NodeJson& node, size_t field) {
  std::vector<Alias> result;
  for (const Json& item : node.list(field)) {
    const NodeJson alias = child(item, node.depth() + 1, "alias");
    result.push_back({alias.text(0), alias.maybe_text(1)});
  }
  return result;
}

decltype(Expr::node) constant(const Json& value) {
  if (value.is_null()) return Constant{nullptr};
  if (value.is_boolean()) return Constant{value.get<bool>()};
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Unsupported{"an integer of more than 64 bits"};
  }
  if (value.is_number_integer()) return Constant{value.get<int64_t>()};
  if (value.is_number_float()) return Constant{value.get<double>()};
  if (value.is_string()) return Constant{value.get<std::string>()};
  if (value.is_object() && value.contains("ellipsis")) return Constant{Ellipsis{}};
  if (value.is_object() && value.contains("float")) return Constant{std::numeric_limits<double>::infinity()};
  if (value.is_object() && value.contains("other") && value["other"].is_string()) {
    return Unsupported{value["other"].get<std::string>()};
  }
  throw Malformed("unknown constant");
}

Logical logical(const NodeJson& n) {
  if (n.text(0) != "And" && n.text(0) != "Or") throw Malformed("unknown operator");
  return {n.text(0) == "And", exprs(n, 1)};
}

Compare compare(const NodeJson& n) {
  Compare result{expr(n, 0), {}, exprs(n, 2)};
  for (const Json& op : n.list(1)) result.ops.push_back(comparison(op));
  if (result.ops.empty() || result.ops.size() != result.right.size()) throw Malformed("a comparison that does not fit");
  return result;
}

DictDisplay dict_display(const NodeJson& n) {
  DictDisplay result{exprs(n, 0, true), exprs(n, 1)};
  if (result.keys.size() != result.values.size()) throw Malformed("keys and values do not fit");
  return result;
}

using ExprReader = decltype(Expr::node) (*)(const NodeJson&);
using StmtReader = decltype(Stmt::node) (*)(const NodeJson&);

const std::map<std::string, ExprReader, std::less<>>& expr_readers() {
  using N = const NodeJson&;
  using R = decltype(Expr::node);
  using D = Display::Kind;
  using C = Comprehended::Kind;
  static const std::map<std::string, ExprReader, std::less<>> kTable{
      {"Unsupported", [](N n) -> R { return Unsupported{n.text(0)}; }},
      {"Constant", [](N n) -> R { return constant(n.field(0)); }},
      {"Name", [](N n) -> R { return Name{n.text(0)}; }},
      {"Attribute",
       [](N n) -> R {
         return Attribute{expr(n, 0), n.text(1)};
       }},
      {"Subscript",
       [](N n) -> R {
         return Subscript{expr(n, 0), expr(n, 1)};
       }},
      {"Slice",
       [](N n) -> R {
         return Slice{maybe_expr(n, 0), maybe_expr(n, 1), maybe_expr(n, 2)};
       }},
      {"Starred", [](N n) -> R { return Starred{expr(n, 0)}; }},
      {"Call",
       [](N n) -> R {
         return Call{expr(n, 0), exprs(n, 1), keywords(n, 2)};
       }},
      {"UnaryOp",
       [](N n) -> R {
         return Unary{unary_operator(n.field(0)), expr(n, 1)};
       }},
      {"BinOp",
       [](N n) -> R {
         return Binary{expr(n, 0), binary_operator(n.field(1)), expr(n, 2)};
       }},
      {"BoolOp", [](N n) -> R { return logical(n); }},
      {"Compare", [](N n) -> R { return compare(n); }},
      {"IfExp",
       [](N n) -> R {
         return Conditional{expr(n, 0), expr(n, 1), expr(n, 2)};
       }},
      {"NamedExpr",
       [](N n) -> R {
         return Walrus{expr(n, 0), expr(n, 1)};
       }},
      {"Lambda",
       [](N n) -> R {
         return Lambda{parameters(n.field(0), n.depth() + 1), expr(n, 1)};
       }},
      {"Tuple",
       [](N n) -> R {
         return Display{D::Tuple, exprs(n, 0)};
       }},
      {"List",
       [](N n) -> R {
         return Display{D::List, exprs(n, 0)};
       }},
      {"Set",
       [](N n) -> R {
         return Display{D::Set, exprs(n, 0)};
       }},
      {"Dict", [](N n) -> R { return dict_display(n); }},
      {"ListComp",
       [](N n) -> R {
         return Comprehended{C::List, nullptr, expr(n, 0), generators(n, 1)};
       }},
      {"SetComp",
       [](N n) -> R {
         return Comprehended{C::Set, nullptr, expr(n, 0), generators(n, 1)};
       }},
      {"GeneratorExp",
       [](N n) -> R {
         return Comprehended{C::Generator, nullptr, expr(n, 0), generators(n, 1)};
       }},
      {"DictComp",
       [](N n) -> R {
         return Comprehended{C::Dict, expr(n, 0), expr(n, 1), generators(n, 2)};
       }},
      {"JoinedStr", [](N n) -> R { return FormattedString{exprs(n, 0)}; }},
      {"FormattedValue",
       [](N n) -> R {
         return Formatted{expr(n, 0), n.integer(1), maybe_expr(n, 2)};
       }},
  };
  return kTable;
}

Expr read_expr(const Json& json, int depth) {
  const NodeJson node(json, depth);
  const auto found = expr_readers().find(node.kind());
  if (found == expr_readers().end()) throw Malformed("unknown expression " + node.kind());
  return {node.span(), found->second(node)};
}

With with(const NodeJson& n) {
  With result{{}, block(n, 1)};
  for (const Json& item : n.list(0)) {
    const NodeJson with_item = child(item, n.depth() + 1, "withitem");
    result.items.push_back({expr(with_item, 0), maybe_expr(with_item, 1)});
  }
  return result;
}

Try try_statement(const NodeJson& n) {
  Try result{block(n, 0), {}, block(n, 2), block(n, 3)};
  for (const Json& item : n.list(1)) {
    const NodeJson handler = child(item, n.depth() + 1, "ExceptHandler");
    result.handlers.push_back({maybe_expr(handler, 0), handler.maybe_text(1), block(handler, 2)});
  }
  return result;
}

Stub stub(const NodeJson& n) {
  if (n.text(0) != "class" && n.text(0) != "function") throw Malformed("a stub of an unknown kind");
  return {n.text(0) == "class", n.text(1), n.integer(2), exprs(n, 3)};
}

FunctionDef function(const NodeJson& n) {
  return {n.text(0), parameters(n.field(1), n.depth() + 1), block(n, 2), exprs(n, 3), maybe_expr(n, 4)};
}

const std::map<std::string, StmtReader, std::less<>>& stmt_readers() {
  using N = const NodeJson&;
  using R = decltype(Stmt::node);
  static const std::map<std::string, StmtReader, std::less<>> kTable{
      {"Unsupported", [](N n) -> R { return Unsupported{n.text(0)}; }},
      {"FunctionDef", [](N n) -> R { return function(n); }},
      {"ClassDef",
       [](N n) -> R {
         return ClassDef{n.text(0), exprs(n, 1), keywords(n, 2), block(n, 3), exprs(n, 4)};
       }},
      {"Stub", [](N n) -> R { return stub(n); }},
      {"Return", [](N n) -> R { return Return{maybe_expr(n, 0)}; }},
      {"Delete", [](N n) -> R { return Delete{exprs(n, 0)}; }},
      {"Assign",
       [](N n) -> R {
         return Assign{exprs(n, 0), expr(n, 1)};
       }},
      {"AugAssign",
       [](N n) -> R {
         return AugmentedAssign{expr(n, 0), binary_operator(n.field(1)), expr(n, 2)};
       }},
      {"AnnAssign",
       [](N n) -> R {
         return AnnotatedAssign{expr(n, 0), expr(n, 1), maybe_expr(n, 2)};
       }},
      {"For",
       [](N n) -> R {
         return For{expr(n, 0), expr(n, 1), block(n, 2), block(n, 3)};
       }},
      {"While",
       [](N n) -> R {
         return While{expr(n, 0), block(n, 1), block(n, 2)};
       }},
      {"If",
       [](N n) -> R {
         return If{expr(n, 0), block(n, 1), block(n, 2)};
       }},
      {"With", [](N n) -> R { return with(n); }},
      {"Raise", [](N n) -> R { return Raise{maybe_expr(n, 0)}; }},
      {"Try", [](N n) -> R { return try_statement(n); }},
      {"Assert",
       [](N n) -> R {
         return Assert{expr(n, 0), maybe_expr(n, 1)};
       }},
      {"Import", [](N n) -> R { return Import{aliases(n, 0)}; }},
      {"ImportFrom",
       [](N n) -> R {
         return ImportFrom{n.maybe_text(0).value_or(""), aliases(n, 1), n.integer(2)};
       }},
      {"Global",
       [](N n) -> R {
         return Outer{true, names(n, 0)};
       }},
      {"Nonlocal",
       [](N n) -> R {
         return Outer{false, names(n, 0)};
       }},
      {"Expr", [](N n) -> R { return ExpressionStatement{expr(n, 0)}; }},
      {"Pass", [](N) -> R { return Pass{}; }},
      {"Break", [](N) -> R { return Break{}; }},
      {"Continue", [](N) -> R { return Continue{}; }},
  };
  return kTable;
}

Stmt read_stmt(const Json& json, int depth) {
  const NodeJson node(json, depth);
  const auto found = stmt_readers().find(node.kind());
  if (found == stmt_readers().end()) throw Malformed("unknown statement " + node.kind());
  return {node.span(), found->second(node)};
}

// The value under "ok", or the error that the parser found.
Result<Json> answer(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_object() && json.contains("ok")) return std::move(json["ok"]);
  if (json.is_object() && json.contains("error") && json["error"].is_array() && json["error"].size() == 4) {
    const Json& error = json["error"];
    if (error[1].is_string() && error[2].is_number_integer() && error[3].is_number_integer()) {
      Place place;
      place.line = static_cast<int>(std::clamp<int64_t>(error[2].get<int64_t>(), 0, 1 << 30));
      place.column = static_cast<int>(std::clamp<int64_t>(error[3].get<int64_t>(), 0, 1 << 30));
      const std::string prefix = error[0] == "syntax" ? "syntax error: " : "";
      return bad_input(prefix + error[1].get<std::string>(), place);
    }
  }
  return fail(ErrorKind::Internal, "the parser's answer is not the JSON that was agreed");
}

template <class F>
auto decoded(F&& decode) -> Result<decltype(decode())> {
  try {
    return decode();
  } catch (const Malformed& problem) {
    return fail(ErrorKind::Internal, std::string("the parser's answer is malformed: ") + problem.what());
  }
}

}  // namespace

Result<Block> read_module_json(std::string_view text) {
  KW_TRY(const Json json, answer(text));
  return decoded([&] {
    if (!json.is_array()) throw Malformed("a file is not a list");
    Block result;
    for (const Json& item : json) result.push_back(read_stmt(item, 0));
    return result;
  });
}

Result<Stmt> read_statement_json(std::string_view text) {
  KW_TRY(const Json json, answer(text));
  return decoded([&] { return read_stmt(json, 0); });
}

}  // namespace kw::understand::python
