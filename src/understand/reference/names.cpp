#include "understand/reference/names.h"

namespace kw::understand::reference {
namespace {

constexpr std::string_view kKeywords[] = {"False", "None", "True", "and", "as", "assert", "async", "await", "break",
                                          "class", "continue", "def", "del", "elif", "else", "except", "for", "from",
                                          "global", "if", "import", "in", "is", "lambda", "match", "case", "not", "or",
                                          "pass", "raise", "return", "nonlocal", "try", "while", "with", "yield",
                                          // modules and builtins that a reference may use
                                          "torch", "math", "F", "abs", "min", "max", "float", "int", "bool", "range",
                                          "zip", "tuple", "list", "len", "slice", "example_inputs"};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string python_name(std::string_view name) {
  std::string out;
  for (char c : name) out += letter(c) || digit(c) ? c : '_';
  if (out.empty() || digit(out[0])) out.insert(out.begin(), '_');
  return out;
}

Names::Names() : taken_(std::begin(kKeywords), std::end(kKeywords)) {}

std::string Names::take(std::string_view wanted) {
  std::string base = python_name(wanted);
  std::string name = base;
  for (int i = 2; !taken_.insert(name).second; ++i) name = base + "_" + std::to_string(i);
  return name;
}

}  // namespace kw::understand::reference
