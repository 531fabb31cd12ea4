// Text that is the same on every machine: canonical numbers, pieces of strings, and names that a user may have meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

// The shortest text that reads back as the same double, whatever the locale: "1", "0.5", "1e-6", "1e20", "-0", "inf",
// "-inf", "nan".
std::string number_text(double value);

// The double that the whole text spells (as number_text writes it, or any decimal form); nothing if it is not a number.
std::optional<double> parse_number(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);

std::vector<std::string> split(std::string_view text, char separator);
std::vector<std::string> split_lines(std::string_view text);  // a final newline ends a line, it does not begin one
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text);
std::string indent(std::string_view text, int columns);  // every line that is not empty
std::string replace_all(std::string text, std::string_view from, std::string_view to);

bool is_utf8(std::string_view text);
std::vector<std::string_view> code_points(std::string_view text);  // a byte that is not UTF-8 stands for itself
int column_at(std::string_view line, std::size_t byte_offset);     // 1-based, in characters

// How many insertions, deletions, replacements and swaps of neighbours turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidates that a mistyped name may have meant, nearest first (ties by name), at most `max_count` of them; empty
// when nothing is near.
std::vector<std::string> nearest(std::string_view name, const std::vector<std::string>& candidates,
                                 std::size_t max_count = 3);

// "did you mean a, b or c?", or nothing when nothing is near: the hint of an error about an unknown name.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace kw
