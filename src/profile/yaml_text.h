// YAML as text: scalars that need quotes get them, short lists and mappings stay on one line, long prose is folded,
// math stands in blocks. Deterministic, whatever the YAML library's own taste.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kw::profile {

// The text as a plain scalar where every YAML reader takes it as that text (or number), else in quotes. `inside` a flow
// list or mapping, commas and brackets need quotes too.
std::string yaml_scalar(std::string_view text, bool inside = false);
std::string yaml_list(const std::vector<std::string>& items);                               // [a, b]
std::string yaml_mapping(const std::vector<std::pair<std::string, std::string>>& entries);  // {a: 1, b: 2}

class YamlText {
 public:
  explicit YamlText(bool with_comments) : with_comments_(with_comments) {}

  void comment(std::string_view text);
  void blank();                     // an empty line; part of the looks, like a comment
  void open(std::string_view key);  // key: and an indented block below
  void close();
  void item();  // begins a list item; its first key follows on the same line
  void end_item();
  void value(std::string_view key, std::string_view text);  // key: text
  void raw(std::string_view key, std::string_view yaml);    // key: already YAML
  void raw_item(std::string_view yaml);                     // - already YAML
  void prose(std::string_view key, std::string_view text);  // one line, or folded at 112 columns
  void block(std::string_view key, std::string_view text);  // literal lines
  std::string take() && { return std::move(text_); }

 private:
  std::string lead();
  bool with_comments_;
  bool item_pending_ = false;
  int depth_ = 0;
  std::string text_;
};

}  // namespace kw::profile
