// Text of the PyTorch expressions that a phrase is turned into.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace kw::understand {

// How get_inputs() makes a matrix, a row vector and a number that is learned.
inline constexpr std::string_view kMatrix = "torch.randn(rows, cols)";
inline constexpr std::string_view kRow = "torch.randn(cols)";
inline constexpr std::string_view kScalar = "torch.randn(1)";

// A reduction's result meets its operand's shape again in a binary op: only there does it keep the reduced dimension.
inline constexpr std::string_view kKeep = "{keep}";

inline bool is_number(const std::string& expression) {
  return std::all_of(expression.begin(), expression.end(),
                     [](unsigned char c) { return std::isdigit(c) || c == '.' || c == '-' || c == 'e'; });
}

// Built of numbers alone: it has no shape.
inline bool is_constant(std::string expression) {
  for (std::string_view known : {"math.sqrt", "math.pi", "math.exp", "math.log", "math.e"})
    for (size_t at = expression.find(known); at != std::string::npos; at = expression.find(known))
      expression.erase(at, known.size());
  // A size of a tensor is a number, too.
  for (size_t at = expression.find(".shape[-1]"); at != std::string::npos; at = expression.find(".shape[-1]")) {
    size_t name = at;
    while (name > 0 && (std::isalnum(static_cast<unsigned char>(expression[name - 1])) || expression[name - 1] == '_'))
      --name;
    expression.erase(name, at + 10 - name);
  }
  return std::all_of(expression.begin(), expression.end(), [](unsigned char c) {
    return std::isdigit(c) || std::string_view(".-+*/() e").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

inline bool is_name(const std::string& expression) {
  return std::all_of(expression.begin(), expression.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

inline size_t count_of(std::string_view text, std::string_view part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// How tightly an expression's outermost operator binds.
enum class Binding : unsigned char { Comparison, Sum, Product, Atom };

inline Binding binding_of(std::string_view text) {
  Binding loosest = text.starts_with("-") && !is_number(std::string(text)) ? Binding::Product : Binding::Atom;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth > 0 || c != ' ' || i + 1 >= text.size()) continue;
    char op = text[i + 1];
    Binding own = op == '+' || op == '-'                ? Binding::Sum
                  : op == '*' || op == '/' || op == '@' ? Binding::Product
                  : op == '>' || op == '<' || op == '=' ? Binding::Comparison
                                                        : Binding::Atom;
    loosest = std::min(loosest, own);
  }
  return loosest;
}

inline std::string parenthesized(const std::string& text, Binding needed) {
  return binding_of(text) < needed ? "(" + text + ")" : text;
}

inline std::string without_outer_parentheses(const std::string& text) {
  if (!text.starts_with("(") || !text.ends_with(")")) return text;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && i + 1 < text.size()) return text;
  }
  return text.substr(1, text.size() - 2);
}

// Puts an operand into the hole of a meaning, with parentheses only where the place asks for them.
inline void fill_hole(std::string& text, std::string_view hole, const std::string& operand) {
  for (size_t at = text.find(hole); at != std::string::npos; at = text.find(hole, at)) {
    char before = at > 0 ? text[at - 1] : '(', after = at + hole.size() < text.size() ? text[at + hole.size()] : ')';
    bool argument =
        (before == '(' || (before == ' ' && at > 1 && text[at - 2] == ',')) && (after == ')' || after == ',');
    bool whole = at == 0 && at + hole.size() == text.size();
    std::string filled = argument || whole ? without_outer_parentheses(operand) : parenthesized(operand, Binding::Atom);
    text.replace(at, hole.size(), filled);
    at += filled.size();
  }
}

}  // namespace kw::understand
