#include "base/line_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/text.h"

namespace kw {
namespace {

constexpr std::size_t kContext = 3;

struct Line {
  char kind;  // ' ', '-' or '+'
  std::string text;
};

// Myers' greedy search: the least number of removed and added lines. `reached[k]` is how far into `a` the furthest path
// on diagonal k has come.
std::vector<Line> script(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto n = static_cast<std::ptrdiff_t>(a.size()), m = static_cast<std::ptrdiff_t>(b.size()), most = n + m;
  std::vector<std::ptrdiff_t> reached(static_cast<std::size_t>(2 * most + 3), 0);
  const auto at = [most](std::ptrdiff_t k) { return static_cast<std::size_t>(k + most + 1); };
  std::vector<std::vector<std::ptrdiff_t>> steps;
  const auto down = [&](const std::vector<std::ptrdiff_t>& path, std::ptrdiff_t d, std::ptrdiff_t k) {
    return k == -d || (k != d && path[at(k - 1)] < path[at(k + 1)]);
  };
  bool arrived = false;
  for (std::ptrdiff_t d = 0; !arrived; ++d) {
    steps.push_back(reached);
    for (std::ptrdiff_t k = -d; k <= d && !arrived; k += 2) {
      std::ptrdiff_t x = down(reached, d, k) ? reached[at(k + 1)] : reached[at(k - 1)] + 1;
      while (x < n && x - k < m && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)]) ++x;
      reached[at(k)] = x;
      arrived = x >= n && x - k >= m;
    }
  }
  std::vector<Line> lines;
  std::ptrdiff_t x = n, y = m;
  for (auto d = static_cast<std::ptrdiff_t>(steps.size()) - 1; d >= 0; --d) {
    const std::vector<std::ptrdiff_t>& path = steps[static_cast<std::size_t>(d)];
    const std::ptrdiff_t k = x - y, from = down(path, d, k) ? k + 1 : k - 1;
    const std::ptrdiff_t start_x = d == 0 ? 0 : path[at(from)], start_y = d == 0 ? 0 : start_x - from;
    const std::ptrdiff_t moved_x = d == 0 ? 0 : (from == k + 1 ? start_x : start_x + 1);
    for (; x > moved_x; --x, --y) lines.push_back({' ', a[static_cast<std::size_t>(x - 1)]});
    if (d > 0 && from == k + 1) lines.push_back({'+', b[static_cast<std::size_t>(--y)]});
    if (d > 0 && from == k - 1) lines.push_back({'-', a[static_cast<std::size_t>(--x)]});
    x = start_x, y = start_y;
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view name) {
  if (before == after) return {};
  const std::vector<Line> lines = script(split_lines(before), split_lines(after));
  std::string out = fmt::format("--- {0}\n+++ {0}\n", name);
  std::size_t old_line = 1, new_line = 1;
  for (std::size_t i = 0; i < lines.size();) {
    if (lines[i].kind == ' ') {
      ++i, ++old_line, ++new_line;
      continue;
    }
    // A hunk ends where more than twice the context is unchanged.
    std::size_t last = i;
    for (std::size_t j = i; j < lines.size() && j <= last + 2 * kContext; ++j)
      if (lines[j].kind != ' ') last = j;
    const std::size_t lead = std::min(kContext, std::min(i, std::min(old_line, new_line) - 1));
    const std::size_t end = std::min(lines.size(), last + 1 + kContext);
    std::size_t removed = 0, added = 0;
    std::string body;
    for (std::size_t j = i - lead; j < end; ++j) {
      removed += lines[j].kind != '+';
      added += lines[j].kind != '-';
      body += lines[j].kind + lines[j].text + "\n";
    }
    out += fmt::format("@@ -{},{} +{},{} @@\n", old_line - lead, removed, new_line - lead, added) + body;
    old_line += removed - lead;
    new_line += added - lead;
    i = end;
  }
  return out;
}

}  // namespace kw
