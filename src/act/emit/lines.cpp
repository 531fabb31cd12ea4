#include "act/emit/lines.h"

namespace kw::act {

std::string bracketed(const std::string& head, const std::vector<std::string>& items, const std::string& tail,
                      size_t width) {
  std::string out, line = head;
  const std::string indent(head.size(), ' ');
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

}  // namespace kw::act
