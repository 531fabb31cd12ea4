#include "base/format.h"

#include <algorithm>
#include <array>

#include "base/result.h"
#include "base/text.h"

namespace kw {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_number(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

bool is_word(std::string_view text) {  // Python's names may have letters of any script
  if (text.empty() || is_digit(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
  });
}

struct Format {
  std::string_view name;
  bool (*matches)(std::string_view);
  std::string_view description;
};

constexpr std::array<Format, 4> kFormats = {{
    {"identifier", is_identifier, "a name"},
    {"sha256", is_sha256, "a SHA-256 of 64 lower-case digits"},
    {"relative-path", is_relative_path, "a path inside the kernel's folder"},
    {"decision", is_decision_id, "the id of a decision"},
}};

const Format& find_format(std::string_view name) {
  const auto* found = std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& f) { return f.name == name; });
  KW_ASSERT(found != kFormats.end(), "a schema names a format that has no row");
  return *found;
}

std::string listed(const std::vector<std::string>& values, std::string_view last) {
  if (values.empty()) return "nothing";
  std::string text = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) {
    text += i + 1 == values.size() ? last : std::string_view(", ");
    text += values[i];
  }
  return text;
}

}  // namespace

bool is_identifier(std::string_view text) {
  if (text.size() > 200) return false;
  const std::vector<std::string> parts = split(text, '.');
  return is_word(parts[0]) && std::all_of(parts.begin() + 1, parts.end(),
                                          [](const std::string& part) { return is_word(part) || is_number(part); });
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_relative_path(std::string_view text) {
  if (text.empty() || text.size() > 500 || text[0] == '/') return false;
  for (const std::string& part : split(text, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return true;
}

bool is_decision_id(std::string_view text) { return is_identifier(text); }

bool has_format(std::string_view text, std::string_view format) { return find_format(format).matches(text); }
std::string describe_format(std::string_view format) { return std::string(find_format(format).description); }

std::string any_of(const std::vector<std::string>& values) { return listed(values, " or "); }
std::string all_of(const std::vector<std::string>& values) { return listed(values, " and "); }

std::string shortened(std::string_view text) {
  std::string line;
  int count = 0;
  for (std::string_view point : code_points(text)) {
    if (++count > 60 || point == "\n" || point == "\r") return line + "…";
    line += point;
  }
  return line;
}

}  // namespace kw
