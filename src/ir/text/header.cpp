// The interface: inputs, type parameters, size symbols. Inputs are read as they are written first; what their types and
// sizes mean is settled when the lines below (`types`, `sizes`) are known.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/text.h"
#include "ir/text/block_parser.h"
#include "ir/text/parse.h"

namespace kw::ir::text {
namespace {

constexpr size_t kMostTypeParameters = 16;
constexpr size_t kMostInputs = 1024;
constexpr int64_t kLargestHint = int64_t{1} << 40;

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (int i = 1; i < kDTypeCount; ++i) names.emplace_back(info(static_cast<DType>(i)).name);
  return names;
}

}  // namespace

Result<std::vector<BlockParser::InputSyntax>> BlockParser::input_list() {
  KW_TRY(const Token open, expect("(", "the name"));
  std::vector<InputSyntax> inputs;
  bool after_semicolon = false;
  std::set<std::string_view> names;
  while (!peek().is(")")) {
    if (!after_semicolon && peek().is(";")) {
      take();
      after_semicolon = true;
      continue;
    }
    KW_TRY(InputSyntax input, input_syntax(after_semicolon));
    if (!names.insert(input.name.text).second) {
      return error(input.name, "there is an input '" + std::string(input.name.text) + "' already");
    }
    if (inputs.size() == kMostInputs) return error(input.name, "an op has at most 1024 inputs");
    inputs.push_back(std::move(input));
    if (accept(",") || peek().is(")") || (!after_semicolon && peek().is(";"))) continue;
    break;
  }
  KW_CHECK(close(open));
  return inputs;
}

Result<BlockParser::InputSyntax> BlockParser::input_syntax(bool after_semicolon) {
  InputSyntax input;
  KW_TRY(input.name, expect_name("an input's name"));
  const std::string name(input.name.text);
  if (after_semicolon) input.kind = InputKind::Scalar;
  if (accept(":")) {
    // A word is a modifier only if the type still follows.
    while (peek().kind == TokenKind::Name && !peek().quoted && peek(1).kind == TokenKind::Name) {
      const Token word = peek();
      if (word.text == "no_grad" || word.text == "with_grad") {
        input.gradient = word;
      } else if (word.text == "parameter" && !after_semicolon) {
        input.kind = InputKind::Parameter;
      } else if (word.text == "buffer" && !after_semicolon) {
        input.kind = InputKind::Buffer;
      } else if (word.text == "scalar" && !after_semicolon) {
        input.kind = InputKind::Scalar;
      } else {
        return error(word, "'" + std::string(word.text) + "' is not a kind of input",
                     after_semicolon
                         ? "after ';' stand scalars: eps = 1e-6"
                         : "the kinds are parameter, buffer and scalar; no_grad marks an input without gradient");
      }
      take();
    }
    KW_TRY(input.type, type_syntax());
    if (peek().is("[")) {
      if (input.kind == InputKind::Scalar) {
        return error(peek(), "the scalar '" + name + "' has no dimensions", "tensors stand before the ';'");
      }
      KW_TRY(input.dims, dims_syntax());
    }
  } else if (!after_semicolon) {
    return error(peek(), "the type of '" + name + "' is expected here, not " + describe(peek()),
                 "for example " + name + ": T[rows, cols], or ; " + name + " = 1.0 for a scalar");
  }
  if (peek().is("=")) {
    if (input.kind != InputKind::Scalar) {
      return error(peek(), "only a scalar has a default value", "scalars stand after a ';': f(x: T[n]; eps = 1e-6)");
    }
    take();
    KW_TRY(input.default_value, literal("the default of '" + name + "'"));
  }
  return input;
}

Result<std::vector<BlockParser::DimSyntax>> BlockParser::dims_syntax() {
  const Token open = take();
  std::vector<DimSyntax> dims;
  while (!peek().is("]")) {
    DimSyntax dim;
    dim.name = peek();
    if (dim.name.kind == TokenKind::Number) {
      if (dim.name.text != "1") {
        return error(dim.name, "a dimension of size " + std::string(dim.name.text) + " needs a name",
                     "for example k = " + std::string(dim.name.text) + "; only a dimension of size 1 goes without");
      }
      take();
    } else {
      KW_TRY(dim.name, expect_name("an axis or 1"));
      for (const DimSyntax& other : dims) {
        if (other.name.kind == TokenKind::Name && other.name.text == dim.name.text) {
          return error(dim.name, "the axis '" + std::string(dim.name.text) + "' stands here twice",
                       "two axes of one size have two names: [i, j = i]");
        }
      }
      if (accept("=")) {
        dim.size_at = cursor_.next;
        KW_CHECK(skip_size(open));
        dim.lone_size = cursor_.next == dim.size_at + 1 && cursor_.tokens[dim.size_at].kind == TokenKind::Name;
      }
    }
    dims.push_back(dim);
    if (!accept(",")) break;
  }
  KW_CHECK(close(open));
  return dims;
}

// Moves over a size expression; it is read once all symbols are known.
Status BlockParser::skip_size(const Token& open) {
  int depth = 0;
  while (depth > 0 || (!peek().is(",") && !peek().is("]"))) {
    const Token& token = take();
    if (token.is("(") || token.is("[")) ++depth;
    if (token.is(")") || token.is("]")) --depth;
    if (token.kind == TokenKind::End || token.kind == TokenKind::LineEnd) return close(open);
    if (depth < 0) return error(token, "'" + std::string(token.text) + "' closes no bracket of this size");
  }
  return {};
}

Status BlockParser::types_and_sizes() {
  bool types = false, sizes = false;
  while ((!types && peek().is_word("types")) || (!sizes && peek().is_word("sizes"))) {
    const bool is_types = peek().is_word("types");
    (is_types ? types : sizes) = true;
    KW_CHECK(is_types ? types_line() : sizes_line());
  }
  return {};
}

Status BlockParser::types_line() {
  take();
  do {
    KW_TRY(const Token name, expect_name("a type parameter"));
    if (types_.contains(name.text))
      return error(name, "the type parameter '" + std::string(name.text) + "' is listed twice");
    if (dtype_from_name(name.text)) return error(name, "'" + std::string(name.text) + "' is an element type itself");
    if (types_.size() == kMostTypeParameters) return error(name, "an op has at most 16 type parameters");
    DType dtype = kDefaultType;
    if (accept("=")) {
      KW_TRY(const Token at, expect_name("an element type"));
      const std::optional<DType> found = dtype_from_name(at.text);
      if (!found) {
        return error(at, "'" + std::string(at.text) + "' is not an element type", did_you_mean(at.text, dtype_names()));
      }
      if (!is_floating(*found) || is_weak(*found)) {
        return error(at, "a type parameter stands for a floating type, and " + std::string(at.text) + " is none",
                     "write the type itself at the input: x: " + std::string(at.text) + "[…]");
      }
      dtype = *found;
    }
    types_.emplace(name.text, builder_.type_parameter(std::string(name.text), dtype));
  } while (accept(","));
  return end_line();
}

Status BlockParser::sizes_line() {
  take();
  do {
    KW_TRY(const Token name, expect_name("a size"));
    if (symbols_.contains(name.text)) return error(name, "the size '" + std::string(name.text) + "' is listed twice");
    std::optional<int64_t> hint;
    if (accept("=")) {
      const Token at = peek();
      const std::optional<int64_t> given = at.kind == TokenKind::Number ? parse_integer(at.text) : std::nullopt;
      if (!given || *given > kLargestHint) {
        return error(
            at, "the size of '" + std::string(name.text) + "' is a whole number of at most 2^40, not " + describe(at),
            "an axis whose size follows from others is written at the input: [half = cols//2]");
      }
      take();
      hint = given;
    }
    symbols_.emplace(name.text, builder_.symbol(std::string(name.text), hint));
  } while (accept(","));
  return end_line();
}

// A bare axis brings a size symbol of its own name; an axis whose size is one unknown name brings that symbol.
Status BlockParser::declare_symbols(const std::vector<InputSyntax>& inputs) {
  std::set<std::string_view> sized;  // axes with a written size: their names are no symbols
  std::set<std::string_view> seen;
  for (const InputSyntax& input : inputs) {
    for (const DimSyntax& dim : input.dims) {
      if (dim.name.kind != TokenKind::Name || !seen.insert(dim.name.text).second || dim.size_at == 0) continue;
      if (!dim.lone_size || cursor_.tokens[dim.size_at].text != dim.name.text) sized.insert(dim.name.text);
    }
  }
  for (const InputSyntax& input : inputs) {
    for (const DimSyntax& dim : input.dims) {
      if (dim.name.kind != TokenKind::Name) continue;
      const Token& size = dim.size_at == 0 ? dim.name : cursor_.tokens[dim.size_at];
      if (dim.size_at != 0 && !dim.lone_size) continue;
      if (sized.contains(size.text) || symbols_.contains(size.text)) continue;
      symbols_.emplace(size.text, builder_.symbol(std::string(size.text)));
    }
  }
  return {};
}

Status BlockParser::declare_inputs(const std::vector<InputSyntax>& inputs) {
  for (const InputSyntax& syntax : inputs) {
    Input input;
    input.name = std::string(syntax.name.text);
    input.kind = syntax.kind;
    input.default_value = syntax.default_value;
    KW_TRY(input.type, element_type(syntax));
    for (const DimSyntax& dim : syntax.dims) {
      if (dim.name.kind == TokenKind::Number) {
        input.dims.push_back(kUnit);
        continue;
      }
      KW_TRY(const AxisId axis, input_axis(dim));
      input.dims.push_back(axis);
    }
    const bool has_gradient = input.type.floating() && input.kind != InputKind::Scalar;
    input.differentiable = has_gradient && input.kind != InputKind::Buffer;
    if (syntax.gradient) {
      if (!has_gradient) {
        return error(*syntax.gradient, "'" + input.name + "' has no gradient in any case",
                     "no_grad and with_grad stand before floating tensors");
      }
      input.differentiable = syntax.gradient->text == "with_grad";
    }
    builder_.set_origin({0, syntax.name.line, syntax.name.column});
    values_.emplace(syntax.name.text, builder_.input(std::move(input)));
    value_places_.emplace(syntax.name.text, syntax.name);
  }
  return {};
}

Result<AxisId> BlockParser::input_axis(const DimSyntax& dim) {
  AxisSyntax axis{dim.name, std::nullopt};
  if (dim.size_at != 0) {
    const size_t resume = cursor_.next;
    cursor_.next = dim.size_at;
    KW_TRY(axis.size, size_expression());
    if (!peek().is(",") && !peek().is("]")) {
      return error(peek(), "a size goes on with + - * // or %, not " + describe(peek()));
    }
    cursor_.next = resume;
  } else if (auto symbol = symbols_.find(dim.name.text); symbol != symbols_.end()) {
    return resolve(axis, SizeValue::symbol(symbol->second));
  }
  return resolve(axis);
}

Result<Type> BlockParser::element_type(const InputSyntax& input) {
  constexpr DType kByLiteral[] = {DType::Bool, DType::Int, DType::Real};
  if (!input.type.empty()) {
    KW_TRY(const Type type, resolve_type(input.type, true));
    if (input.kind == InputKind::Scalar && !type.weak() && !type.boolean()) {
      return error(input.type.front(), "a scalar is real, int or bool");
    }
    if (input.kind != InputKind::Scalar && !in_combine_ && type.weak()) {
      return error(input.type.front(),
                   "a tensor's elements have a width, and " + std::string(input.type.front().text) + " has none",
                   "write f32 or i64, or put a scalar after ';'");
    }
    return type;
  }
  return Type(input.default_value ? kByLiteral[input.default_value->value.index()] : DType::Real);
}

Result<std::vector<Token>> BlockParser::type_syntax() {
  std::vector<Token> names;
  do {
    KW_TRY(const Token name, expect_name("an element type"));
    names.push_back(name);
  } while (accept("|"));
  return names;
}

// A capitalised name at an input declares a type parameter.
Result<Type> BlockParser::resolve_type(const std::vector<Token>& names, bool may_declare) {
  Type type;
  for (const Token& name : names) {
    Type part;
    if (auto known = types_.find(name.text); known != types_.end()) {
      part = known->second;
    } else if (auto dtype = dtype_from_name(name.text)) {
      part = Type(*dtype);
    } else if (may_declare && name.text.front() >= 'A' && name.text.front() <= 'Z') {
      if (types_.size() == kMostTypeParameters) return error(name, "an op has at most 16 type parameters");
      part = builder_.type_parameter(std::string(name.text), kDefaultType);
      types_.emplace(name.text, part);
    } else {
      std::vector<std::string> known_names = names_in(types_);
      for (std::string& dtype_name : dtype_names()) known_names.push_back(std::move(dtype_name));
      std::string hint = did_you_mean(name.text, known_names);
      if (hint.empty()) hint = "element types are bf16, f16, f32, f64, i64, bool, …; a type parameter is capitalised";
      return error(name, "'" + std::string(name.text) + "' is not an element type", std::move(hint));
    }
    type = promote(type, part);
    if (!type.known()) return error(name, "these element types do not promote to one");
  }
  return type;
}

Result<Literal> BlockParser::literal(std::string_view what) {
  const bool negative = accept("-");
  const Token token = peek();
  if (!negative && (token.is_word("true") || token.is_word("false"))) {
    take();
    return Literal{token.text == "true"};
  }
  if (token.kind != TokenKind::Number && !token.is_word("inf") && !token.is_word("nan")) {
    return error(token, std::string(what) + " is a number, true or false, not " + describe(token));
  }
  take();
  return number(token, negative);
}

}  // namespace kw::ir::text
