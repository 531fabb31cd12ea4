#include "understand/python/assumptions.h"

#include <algorithm>

#include "base/embedded.h"
#include "base/text.h"

namespace kw::understand::python {
namespace {

constexpr std::string_view kDocument = "docs/assumptions.md";

// `a`, `b` or plain words between commas; the back-ticks are for the reader of the document.
std::vector<std::string> words(std::string_view cell) {
  std::vector<std::string> result;
  for (const std::string& part : split(cell, ',')) {
    std::string word(trim(replace_all(part, "`", "")));
    if (!word.empty()) result.push_back(std::move(word));
  }
  return result;
}

std::vector<std::string> patterns(std::string_view cell) {
  std::vector<std::string> result = words(cell);
  if (result.size() == 1 && result[0] == "any") result.clear();
  return result;
}

std::string single(std::string_view cell) { return std::string(trim(replace_all(std::string(cell), "`", ""))); }

bool any_matches(const std::vector<std::string>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& pattern) { return matches(pattern, name); });
}

bool fits(const std::vector<std::string>& names, const std::vector<std::string>& inside, std::string_view argument,
          std::string_view where) {
  return any_matches(names, argument) && (inside.empty() || any_matches(inside, where));
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (size_t i = star; i <= name.size(); ++i) {
    if (matches(rest, name.substr(i))) return true;
  }
  return false;
}

Result<Rules> parse_rules(std::string_view markdown) {
  Rules rules;
  std::string section;
  int number = 0;
  for (const std::string& line : split_lines(markdown)) {
    ++number;
    const Place place{std::string(kDocument), number};
    if (line.starts_with("## ")) section = std::string(trim(line.substr(3)));
    if (!line.starts_with("|") || line.starts_with("| ---") || line.starts_with("|---")) continue;
    std::vector<std::string> cells = split(line, '|');
    if (cells.size() < 3) return bad_input("a row without cells", place);
    cells.erase(cells.begin());
    cells.pop_back();
    const bool is_header = trim(cells[0]) == "names";
    if (is_header) continue;
    const auto expect = [&](size_t count) -> Status {
      if (cells.size() < count) return bad_input("this row has too few cells", place);
      return {};
    };
    if (section == "Shapes") {
      KW_CHECK(expect(4));
      rules.shapes.push_back({words(cells[0]), patterns(cells[1]), words(cells[2]), single(cells[3])});
    } else if (section == "Values") {
      KW_CHECK(expect(3));
      rules.values.push_back({words(cells[0]), patterns(cells[1]), single(cells[2])});
    } else if (section == "Numbers of sizes") {
      KW_CHECK(expect(2));
      const auto value = parse_integer(single(cells[1]));
      if (!value || *value < 1) return bad_input("a size needs a number", place);
      rules.hints.push_back({words(cells[0]), *value});
    } else if (section == "Decorators") {
      KW_CHECK(expect(2));
      rules.decorators.push_back({words(cells[0]), single(cells[1])});
    } else if (section == "Questions about the environment") {
      KW_CHECK(expect(2));
      rules.environment.push_back({words(cells[0]), single(cells[1])});
    }
  }
  if (rules.shapes.empty() || rules.values.empty() || rules.hints.empty() || rules.decorators.empty()) {
    return bad_input("a table of rules is missing", Place{std::string(kDocument)});
  }
  return rules;
}

const Rules& published_rules() {
  static const Rules rules = [] {
    auto parsed = parse_rules(embedded::file(kDocument));
    KW_ASSERT(parsed.has_value(), "the published rules have the form that they document");
    return *std::move(parsed);
  }();
  return rules;
}

std::vector<const ShapeRule*> Rules::shapes_of(std::string_view argument, std::string_view inside) const {
  std::vector<const ShapeRule*> own;
  for (const ShapeRule& rule : shapes) {
    if (!rule.is_for_any_name() && fits(rule.names, rule.inside, argument, inside)) own.push_back(&rule);
  }
  return own.empty() ? shapes_of_any_name() : own;
}

std::vector<const ShapeRule*> Rules::shapes_of_any_name() const {
  std::vector<const ShapeRule*> rows;
  for (const ShapeRule& rule : shapes) {
    if (rule.is_for_any_name()) rows.push_back(&rule);
  }
  return rows;
}

const ValueRule* Rules::value_of(std::string_view argument, std::string_view inside) const {
  for (const ValueRule& rule : values) {
    if (fits(rule.names, rule.inside, argument, inside)) return &rule;
  }
  return nullptr;
}

int64_t Rules::hint_of(std::string_view size) const {
  for (const HintRule& rule : hints) {
    if (any_matches(rule.names, size)) return rule.value;
  }
  return 64;
}

const NameRule* Rules::decorator(std::string_view dotted) const {
  for (const NameRule& rule : decorators) {
    if (any_matches(rule.names, dotted)) return &rule;
  }
  return nullptr;
}

const NameRule* Rules::environment_of(std::string_view dotted) const {
  for (const NameRule& rule : environment) {
    if (any_matches(rule.names, dotted)) return &rule;
  }
  return nullptr;
}

}  // namespace kw::understand::python
