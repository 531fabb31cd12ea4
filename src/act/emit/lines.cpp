#include "act/emit/lines.h"

#include <algorithm>
#include <string_view>

namespace kw::act {

std::string bracketed(const std::string& head, const std::vector<std::string>& items, const std::string& tail,
                      size_t width) {
  std::string out, line = head;
  std::string indent(head.size(), ' ');
  // What does not fit under the bracket goes on in the next line.
  size_t longest = 0;
  for (const std::string& item : items) longest = std::max(longest, item.size() + tail.size());
  if (!items.empty() && head.size() + longest > width) {
    indent = std::string(head.find_first_not_of(' ') + 4, ' ');
    out = head + "\n";
    line = indent;
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : tail);
    const bool first = line.size() == indent.size();
    if (!first && line.size() + 1 + item.size() > width) {
      out += line + "\n";
      line = indent + item;
    } else {
      line += (first ? "" : " ") + item;
    }
  }
  if (items.empty()) line += tail;
  return out + line;
}

Lines wrapped(const Lines& lines, size_t width) {
  constexpr std::string_view kAfter[] = {" + ", " - ", " * ", " / ", " & ", " | ", ", "}, kBefore[] = {" ? ", " : "};
  Lines out;
  for (std::string line : lines.all()) {
    const size_t indent = line.find_first_not_of(' ');
    const bool statement = indent != std::string::npos && line[indent] != '#' && line.compare(indent, 2, "//") != 0;
    std::string pad(indent == std::string::npos ? 0 : indent, ' ');
    for (bool first = true; statement && line.size() > width; first = false) {
      size_t at = 0;  // where the next line begins
      auto consider = [&](size_t found, size_t begin) {
        if (found != std::string::npos && begin > line.find_first_not_of(' ') + 4) at = std::max(at, begin);
      };
      for (std::string_view sign : kAfter)
        if (const size_t found = line.rfind(sign, width - sign.size()); found != std::string::npos)
          consider(found, found + sign.size());
      for (std::string_view sign : kBefore)
        if (const size_t found = line.rfind(sign, width - 1); found != std::string::npos) consider(found, found + 1);
      if (at == 0) break;
      std::string head = line.substr(0, at);
      while (head.ends_with(' ')) head.pop_back();
      out.line(head);
      if (first) pad += "    ";
      line = pad + line.substr(at);
    }
    out.line(line);
  }
  return out;
}

}  // namespace kw::act
