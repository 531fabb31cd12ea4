#include "line_diff.h"

#include <algorithm>
#include <vector>

namespace kw::act::test {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string line_diff(std::string_view expected, std::string_view got) {
  const std::vector<std::string_view> a = lines_of(expected), b = lines_of(got);
  // common[i][j]: the longest common subsequence of a from i and b from j.
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::vector<std::pair<char, std::string_view>> edits;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      edits.emplace_back(' ', a[i]);
      ++i, ++j;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      edits.emplace_back('-', a[i++]);
    } else {
      edits.emplace_back('+', b[j++]);
    }
  }
  constexpr size_t kContext = 2;
  std::string out;
  for (size_t e = 0; e < edits.size(); ++e) {
    const size_t first = e < kContext ? 0 : e - kContext, last = std::min(e + kContext + 1, edits.size());
    const bool near_change = std::any_of(edits.begin() + static_cast<std::ptrdiff_t>(first),
                                         edits.begin() + static_cast<std::ptrdiff_t>(last),
                                         [](const auto& edit) { return edit.first != ' '; });
    if (near_change) out.append({edits[e].first, ' '}).append(edits[e].second).append("\n");
  }
  return out;
}

}  // namespace kw::act::test
