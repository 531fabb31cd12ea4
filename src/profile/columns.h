// Plain text in columns: wrapping by words and by math, two texts side by side. Widths count characters, not bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kw::profile {

std::size_t columns(std::string_view text);
std::string cut(std::string_view text, std::size_t width);                   // with … where something is missing
std::vector<std::string> wrapped(std::string_view text, std::size_t width);  // at spaces; at least one line
std::vector<std::string> wrapped_math(std::string_view line,
                                      std::size_t width);  // keeps the indent, goes on 4 further in
std::vector<std::string> side_by_side(std::string_view left, std::string_view right, std::size_t width);

}  // namespace kw::profile
