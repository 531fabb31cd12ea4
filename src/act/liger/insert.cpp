#include "act/liger/insert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <vector>

#include "base/text.h"

namespace kw::act::liger {
namespace {

using Lines = std::vector<std::string>;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Case does not count, and a number in a name counts as one: qwen2 before qwen10.
bool name_before(const std::string& left, const std::string& right) {
  const std::string a = lower(left), b = lower(right);
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      std::size_t m = i, n = j;
      while (m < a.size() && digit(a[m])) ++m;
      while (n < b.size() && digit(b[n])) ++n;
      const std::string x = a.substr(i, m - i), y = b.substr(j, n - j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      i = m;
      j = n;
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  return std::tuple(a.size() - i, left) < std::tuple(b.size() - j, right);
}

struct Import {
  std::string module, name;
};

bool read(const std::string& line, Import& out) {
  constexpr std::string_view kFrom = "from ", kImport = " import ";
  const std::string code(trim(std::string_view(line).substr(0, line.find('#'))));
  const std::size_t at = code.find(kImport);
  if (!code.starts_with(kFrom) || at == std::string::npos) return false;
  out = {code.substr(kFrom.size(), at - kFrom.size()), code.substr(at + kImport.size())};
  return true;
}

int kind_of(const std::string& name) {
  const bool upper = std::none_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c) != 0; });
  if (upper && name.size() > 1) return 0;  // a constant
  return std::isupper(static_cast<unsigned char>(name[0])) != 0 ? 1 : 2;
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

Failure no_place(const std::string& what) { return bad_input("there is no place for " + what); }

std::string function_name(const std::string& line) {
  constexpr std::string_view kDef = "def ";
  return line.starts_with(kDef) ? line.substr(kDef.size(), line.find('(') - kDef.size()) : "";
}

}  // namespace

bool import_before(const std::string& a, const std::string& b) {
  Import x, y;
  if (!read(a, x) || !read(b, y)) return false;
  if (x.module != y.module) return name_before(x.module, y.module);
  const int m = kind_of(x.name), n = kind_of(y.name);
  return m != n ? m < n : name_before(x.name, y.name);
}

Result<std::string> insert_import(const std::string& text, const std::string& prefix, const std::string& line) {
  Lines lines = split_lines(text);
  Import wanted, here;
  KW_ASSERT(read(line, wanted), "an import imports");
  std::size_t place = lines.size();
  bool any = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(prefix) || !read(lines[i], here)) {
      // A list of imports ends with the first line that is none; a comment belongs to it.
      if (any && !lines[i].starts_with("#")) break;
      continue;
    }
    any = true;
    if (here.module == wanted.module && here.name == wanted.name) return text;
    if (import_before(line, lines[i])) {
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(i), line);
      return text_of(lines);
    }
    place = i + 1;
  }
  if (!any) return no_place("'" + line + "'");
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(place), line);
  return text_of(lines);
}

Result<std::string> insert_name(const std::string& text, const std::string& list, const std::string& name) {
  Lines lines = split_lines(text);
  const auto begin = std::find(lines.begin(), lines.end(), list);
  const auto end = std::find(begin, lines.end(), "]");
  if (begin == lines.end() || end == lines.end()) return no_place(fmt::format("\"{}\": no line is '{}'", name, list));
  auto place = end;
  for (auto line = begin + 1; line != end; ++line) {
    const std::size_t open = line->find('"'), close = line->rfind('"');
    if (open == std::string::npos || close == open) continue;
    const std::string here = line->substr(open + 1, close - open - 1);
    if (here == name) return text;
    if (place == end && name_before(name, here)) place = line;
  }
  lines.insert(place, "    \"" + name + "\",");
  return text_of(lines);
}

std::string function_in(const std::string& text, const std::string& name) {
  const Lines lines = split_lines(text);
  const auto begin =
      std::find_if(lines.begin(), lines.end(), [&](const std::string& line) { return function_name(line) == name; });
  if (begin == lines.end()) return {};
  // To the next line that begins at the margin, but for the bracket of its own signature.
  auto end = begin + 1;
  while (end != lines.end() && (end->empty() || (*end)[0] == ' ' || (*end)[0] == ')')) ++end;
  while (end[-1].empty()) --end;
  return text_of(Lines(begin, end));
}

Result<std::string> insert_function(const std::string& text, const std::string& prefix, const std::string& name,
                                    const std::string& function) {
  if (const std::string there = function_in(text, name); !there.empty()) return replace_all(text, there, function);
  Lines lines = split_lines(text);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  bool any = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string here = function_name(lines[i]);
    if (!here.starts_with(prefix)) continue;
    any = true;
    if (!name_before(name, here)) continue;
    // Comments and decorators belong to what they stand above.
    std::size_t place = i;
    while (place > 0 && (lines[place - 1].starts_with("#") || lines[place - 1].starts_with("@"))) --place;
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(place),
                 function + "\n");  // ends its last line, and one blank
    return text_of(lines);
  }
  if (!any) return no_place("'" + name + "'");
  return text_of(lines) + "\n\n" + function;
}

}  // namespace kw::act::liger
