#include "profile/columns.h"

#include <algorithm>

#include "base/text.h"

namespace kw::profile {

std::size_t columns(std::string_view text) { return code_points(text).size(); }

std::string cut(std::string_view text, std::size_t width) {
  const std::vector<std::string_view> points = code_points(text);
  if (points.size() <= width) return std::string(text);
  std::string out;
  for (std::size_t i = 0; i + 1 < width; ++i) out += points[i];
  return out + "…";
}

namespace {

// Breaks at spaces; what has none is cut hard. The first line has `first` columns, the others `rest`.
std::vector<std::string> broken(std::string_view text, std::size_t first, std::size_t rest) {
  std::vector<std::string> lines;
  std::string current;
  std::size_t room = first;
  const auto flush = [&] {
    lines.push_back(std::move(current));
    current.clear();
    room = rest;
  };
  for (const std::string& word : split(text, ' ')) {
    if (!current.empty() && columns(current) + 1 + columns(word) > room) flush();
    if (!current.empty()) current += ' ';
    std::vector<std::string_view> points = code_points(word);
    std::size_t from = 0;
    while (current.empty() && points.size() - from > room) {
      for (std::size_t i = 0; i < room; ++i) current += points[from + i];
      from += room;
      flush();
    }
    for (; from < points.size(); ++from) current += points[from];
  }
  if (!current.empty() || lines.empty()) lines.push_back(std::move(current));
  return lines;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  const std::size_t room = std::max<std::size_t>(width, 8);
  return broken(text, room, room);
}

std::vector<std::string> wrapped_math(std::string_view line, std::size_t width) {
  const std::size_t text = line.find_first_not_of(' ');
  if (text == std::string_view::npos) return {""};
  if (columns(line) <= width) return {std::string(line)};
  const std::size_t room = std::max<std::size_t>(width, text + 12);
  std::vector<std::string> lines = broken(line.substr(text), room - text, room - text - 4);
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].insert(0, std::string(text + (i == 0 ? 0 : 4), ' '));
  return lines;
}

std::vector<std::string> side_by_side(std::string_view left, std::string_view right, std::size_t width) {
  const std::size_t half = (width - 5) / 2;
  const auto column = [&](std::string_view text) {
    std::vector<std::string> rows;
    for (const std::string& line : split_lines(text))
      for (std::string& row : wrapped_math(line, half)) rows.push_back(std::move(row));
    return rows;
  };
  const std::vector<std::string> a = column(left);
  const std::vector<std::string> b = column(right);
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string l = i < a.size() ? a[i] : "";
    const std::string r = i < b.size() ? b[i] : "";
    std::string row = "  " + l + std::string(columns(l) < half ? half - columns(l) : 0, ' ') + " │ " + r;
    row.erase(row.find_last_not_of(' ') + 1);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kw::profile
