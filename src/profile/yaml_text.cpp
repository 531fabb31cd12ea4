#include "profile/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace kw::profile {
namespace {

constexpr std::size_t kWidth = 112;

// Words that some YAML reader takes for something else than text.
bool is_reserved(std::string_view text) {
  static constexpr std::array<std::string_view, 11> kWords = {"null", "~",   "true", "false", "yes", "no",
                                                              "on",   "off", ".nan", ".inf",  "="};
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

bool is_plain(std::string_view text, bool inside) {
  if (text.empty() || is_reserved(text) || text.front() == ' ' || text.back() == ' ' || text.back() == ':')
    return false;
  const char first = text.front();
  const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_';
  const bool digit = first >= '0' && first <= '9';
  const bool number = parse_number(text).has_value();
  if (!letter && !digit && !number && static_cast<unsigned char>(first) < 0x80) return false;
  if (number && !digit && first != '-') return false;  // "inf", "nan", "+1" are numbers to us and words to others
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
    if (c == ':' && (i + 1 == text.size() || text[i + 1] == ' ' || inside)) return false;
    if (c == '#' && i > 0 && text[i - 1] == ' ') return false;
    if (inside && std::string_view(",[]{}").find(c) != std::string_view::npos) return false;
  }
  return true;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// Prose that survives folding: one line, single spaces, nothing that a folded block would treat in another way.
bool can_fold(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ') return false;
  if (text.find("  ") != std::string_view::npos) return false;
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// Literal blocks keep lines as they are, but not control characters, leading spaces of the first line or a missing end.
bool can_block(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.front() == '\n' || text.back() != '\n' || text.ends_with("\n\n"))
    return false;
  for (const std::string& line : split_lines(text))
    if (!line.empty() && trim(line).empty()) return false;
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f; });
}

}  // namespace

std::string yaml_scalar(std::string_view text, bool inside) {
  return is_plain(text, inside) ? std::string(text) : quoted(text);
}

std::string yaml_list(const std::vector<std::string>& items) {
  std::vector<std::string> parts;
  for (const std::string& item : items) parts.push_back(yaml_scalar(item, true));
  return "[" + join(parts, ", ") + "]";
}

std::string yaml_mapping(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : entries) parts.push_back(key + ": " + value);
  return "{" + join(parts, ", ") + "}";
}

std::string YamlText::lead() {
  std::string spaces(static_cast<std::size_t>(2 * depth_), ' ');
  if (item_pending_) {
    item_pending_ = false;
    spaces[spaces.size() - 2] = '-';
  }
  return spaces;
}

void YamlText::comment(std::string_view text) {
  if (!with_comments_) return;
  for (const std::string& line : split_lines(text))
    text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + "# " + line + "\n";
}

void YamlText::blank() {
  if (with_comments_) text_ += "\n";
}

void YamlText::open(std::string_view key) {
  text_ += lead() + std::string(key) + ":\n";
  ++depth_;
}

void YamlText::close() { --depth_; }

void YamlText::item() {
  ++depth_;
  item_pending_ = true;
}

void YamlText::end_item() { --depth_; }

void YamlText::value(std::string_view key, std::string_view text) { raw(key, yaml_scalar(text)); }

void YamlText::raw(std::string_view key, std::string_view yaml) {
  text_ += lead() + std::string(key) + ": " + std::string(yaml) + "\n";
}

void YamlText::raw_item(std::string_view yaml) {
  text_ += std::string(static_cast<std::size_t>(2 * depth_), ' ') + "- " + std::string(yaml) + "\n";
}

void YamlText::prose(std::string_view key, std::string_view text) {
  const std::string margin = lead();
  const std::string line = margin + std::string(key) + ": " + yaml_scalar(text);
  if (code_points(line).size() <= kWidth || !can_fold(text)) {
    text_ += line + "\n";
    return;
  }
  text_ += margin + std::string(key) + ": >-\n";
  const std::string inner(static_cast<std::size_t>(2 * depth_ + 2), ' ');
  std::string current;
  for (const std::string& word : split(text, ' ')) {
    if (!current.empty() && code_points(inner + current + " " + word).size() > kWidth) {
      text_ += inner + current + "\n";
      current.clear();
    }
    current += current.empty() ? word : " " + word;
  }
  text_ += inner + current + "\n";
}

void YamlText::block(std::string_view key, std::string_view text) {
  const std::string margin = lead();
  if (!can_block(text)) {
    text_ += margin + std::string(key) + ": " + quoted(text) + "\n";
    return;
  }
  text_ += margin + std::string(key) + ": |\n" + indent(text, 2 * depth_ + 2);
}

}  // namespace kw::profile
