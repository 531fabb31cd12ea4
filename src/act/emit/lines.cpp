#include "act/emit/lines.h"

#include <algorithm>
#include <cctype>
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

std::string python_list(const std::string& head, const std::vector<std::string>& items, const std::string& tail,
                        size_t width) {
  std::string flat;
  for (const std::string& item : items) flat += (flat.empty() ? "" : ", ") + item;
  if (head.size() + flat.size() + tail.size() <= width) return head + flat + tail;
  const size_t indent = head.find_first_not_of(' ');
  const std::string outer(indent == std::string::npos ? 0 : indent, ' '), inner = outer + "    ";
  if (inner.size() + flat.size() <= width) return head + "\n" + inner + flat + "\n" + outer + tail;
  std::string out = head + "\n";
  for (const std::string& item : items) out += inner + item + ",\n";
  return out + outer + tail;
}

namespace {

// The bracket that closes the one at `open`.
size_t closing(const std::string& line, size_t open) {
  int depth = 0;
  for (size_t i = open; i < line.size(); ++i) {
    if (line[i] == '(' || line[i] == '[') ++depth;
    if ((line[i] == ')' || line[i] == ']') && --depth == 0) return i;
  }
  return std::string::npos;
}

std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && (list[i] == '(' || list[i] == '[')) ++depth;
    if (i < list.size() && (list[i] == ')' || list[i] == ']')) --depth;
    if (i == list.size() || (list[i] == ',' && depth == 0)) {
      items.push_back(list.substr(begin, i - begin));
      begin = i + 2;
    }
  }
  return items;
}

// "a + b * c - d" → "a", "+ b * c", "- d".
std::vector<std::string> terms_of(const std::string& sum) {
  std::vector<std::string> terms;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i + 2 < sum.size(); ++i) {
    if (sum[i] == '(' || sum[i] == '[') ++depth;
    if (sum[i] == ')' || sum[i] == ']') --depth;
    const bool sign = sum[i] == ' ' && (sum[i + 1] == '+' || sum[i + 1] == '-') && sum[i + 2] == ' ';
    if (depth != 0 || !sign) continue;
    terms.push_back(sum.substr(begin, i - begin));
    begin = i + 1;
  }
  terms.push_back(sum.substr(begin));
  return terms;
}

}  // namespace

Lines python_wrapped(const Lines& lines, size_t width) {
  Lines out;
  auto emit = [&](auto&& self, std::string line) -> void {
    const size_t indent = line.find_first_not_of(' ');
    if (line.size() <= width || indent == std::string::npos || line[indent] == '#') {
      out.line(line);
      return;
    }
    const std::string comma = line.ends_with(",") ? "," : "";  // of an item of a list
    line.resize(line.size() - comma.size());
    const std::string pad(indent, ' ');
    const size_t equals = line.find(" = "), from = equals == std::string::npos ? indent : equals + 3;
    // An item that is a sum is broken before its signs.
    if (!comma.empty() && equals == std::string::npos) {
      const std::vector<std::string> terms = terms_of(line.substr(indent));
      for (size_t t = 0; terms.size() > 1 && t < terms.size(); ++t)
        out.line(pad + terms[t] + (t + 1 == terms.size() ? comma : ""));
      if (terms.size() > 1) return;
    }
    // A call, perhaps with a conversion of its result behind it; in the innermost that is the whole of it.
    size_t open = from;
    while (open < line.size() &&
           (std::isalnum(static_cast<unsigned char>(line[open])) || line[open] == '_' || line[open] == '.'))
      ++open;
    size_t close = open < line.size() && line[open] == '(' ? closing(line, open) : std::string::npos;
    bool is_call = close != std::string::npos && (close + 1 == line.size() || line[close + 1] == '.');
    // A product that is too long for a line of its own, too, is broken in its last brackets.
    if (!is_call && equals != std::string::npos && line.back() == ')' && pad.size() + 4 + line.size() - from > width) {
      for (open = line.find('(', from); closing(line, open) + 1 != line.size();)
        open = line.find('(', closing(line, open));
      close = line.size() - 1;
      is_call = true;
    }
    if (!is_call) {
      if (equals == std::string::npos) {
        out.line(line + comma);
        return;
      }
      out.line(line.substr(0, from) + "(");
      out.line(pad + "    " + line.substr(from));
      out.line(pad + ")");
      return;
    }
    // Several conversions: in brackets of their own, and each in its line where they do not fit into one.
    if (equals != std::string::npos && comma.empty() && line.find(").", close + 2) != std::string::npos) {
      out.line(line.substr(0, from) + "(");
      if (pad.size() + 4 + line.size() - from <= width) {
        out.line(pad + "    " + line.substr(from));
      } else {
        const std::string value = line.substr(from, close + 1 - from);
        const std::vector<std::string> terms =
            open == from ? terms_of(value.substr(1, value.size() - 2)) : std::vector<std::string>{};
        if (pad.size() + 4 + value.size() > width && terms.size() > 1) {
          out.line(pad + "    (");
          for (const std::string& term : terms) out.line(pad + "        " + term);
          out.line(pad + "    )");
        } else {
          out.line(pad + "    " + value);
        }
        for (size_t at = close + 1; at < line.size();) {
          const size_t end = closing(line, line.find('(', at));
          out.line(pad + "    " + line.substr(at, end + 1 - at));
          at = end + 1;
        }
      }
      out.line(pad + ")");
      return;
    }
    // A conversion behind the call is what is broken, where all before it fits.
    if (const size_t last = line.rfind('('); last > close && last < width) {
      out.line(line.substr(0, last + 1));
      out.line(pad + "    " + line.substr(last + 1, line.size() - last - 2));
      out.line(pad + ")" + comma);
      return;
    }
    const std::string inside = line.substr(open + 1, close - open - 1);
    out.line(line.substr(0, open + 1));
    if (pad.size() + 4 + inside.size() <= width) {
      out.line(pad + "    " + inside);
    } else {
      for (const std::string& item : items_of(inside)) self(self, pad + "    " + item + ",");
    }
    out.line(pad + line.substr(close) + comma);
  };
  for (const std::string& line : lines.all()) emit(emit, line);
  return out;
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
