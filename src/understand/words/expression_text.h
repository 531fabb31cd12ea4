// Text of the PyTorch expressions that a phrase is turned into.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace kw::understand {

// How get_inputs() makes a matrix and a row vector.
inline constexpr std::string_view kMatrix = "torch.randn(rows, cols)";
inline constexpr std::string_view kRow = "torch.randn(cols)";

// A reduction's result meets its operand's shape again in a binary op: only there does it keep the reduced dimension.
inline constexpr std::string_view kKeep = "{keep}";

inline bool is_number(const std::string& expression) {
  return std::all_of(expression.begin(), expression.end(),
                     [](unsigned char c) { return std::isdigit(c) || c == '.' || c == '-' || c == 'e'; });
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

}  // namespace kw::understand
