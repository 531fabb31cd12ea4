#include "mutate.h"

#include <algorithm>
#include <array>
#include <regex>
#include <utility>

#include "base/text.h"

namespace kw::test {
namespace {

struct Line {
  std::string text;
  std::string function;  // the one that it stands in; empty outside
  bool in_wrapper = false;
};

bool decides_speed(const std::string& line) {
  const std::string_view text = trim(line);
  return text.starts_with("#") || text.starts_with("//") || text.starts_with("constexpr") ||
         text.find("kw::streams<") != std::string_view::npos || text.starts_with("using ") ||
         text.starts_with("template") || text.starts_with("namespace") || text.starts_with("extern");
}

// Which line belongs to which function: a function begins with "void NAME(" and its body after the first "{" at an end.
std::vector<Line> lines_of(const std::string& source) {
  static const std::regex kBegin(R"(^void (\w+)\()");
  std::vector<Line> lines;
  std::string function;
  bool body = false, wrapper = false;
  for (const std::string& text : split_lines(source)) {
    std::smatch match;
    if (text.starts_with("extern \"C\"")) wrapper = true;
    if (std::regex_search(text, match, kBegin)) {
      function = match[1];
      body = false;
    }
    lines.push_back({text, body ? function : "", wrapper});
    if (!function.empty() && text.ends_with("{")) body = true;
    if (text == "}") function.clear(), body = false;
  }
  return lines;
}

std::string without_comment(const std::string& line) {
  const std::size_t at = line.find("//");
  return at == std::string::npos ? line : line.substr(0, at);
}

// Names that a function declares, in order; each once.
std::vector<std::string> declared(const std::vector<Line>& lines, const std::string& function) {
  static const std::regex kDeclared(R"((?:int64_t|float|double|T32|W32|WT32|bool|T|W|WT) (\w+)(?: =|\[|,|\)|;))");
  std::vector<std::string> names;
  for (const Line& line : lines) {
    if (line.function != function) continue;
    for (std::sregex_iterator it(line.text.begin(), line.text.end(), kDeclared), end; it != end; ++it)
      if (std::find(names.begin(), names.end(), (*it)[1].str()) == names.end()) names.push_back((*it)[1]);
  }
  return names;
}

class Mutator {
 public:
  Mutator(const std::string& source, const std::set<std::string>& skipped) : lines_(lines_of(source)) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const Line& line = lines_[i];
      if (line.function.empty() || skipped.contains(line.function) || decides_speed(line.text)) continue;
      operators(i);
      if (!line.in_wrapper) {
        numbers(i);
        roundings(i);
        statements(i);
      }
      names(i);
    }
  }
  std::vector<Mutant> take() && { return std::move(mutants_); }

 private:
  void add(std::size_t at, const std::string& kind, const std::string& changed) {
    if (changed == lines_[at].text) return;
    std::string text;
    for (std::size_t i = 0; i < lines_.size(); ++i) text += (i == at ? changed : lines_[i].text) + "\n";
    mutants_.push_back({std::move(text), static_cast<int>(at) + 1, kind, std::string(trim(lines_[at].text)),
                        std::string(trim(changed))});
  }

  // Operators stand between blanks; brackets of templates do not.
  void operators(std::size_t at) {
    static constexpr std::array<std::pair<const char*, const char*>, 12> kSwaps = {{{" + ", " - "},
                                                                                    {" - ", " + "},
                                                                                    {" * ", " + "},
                                                                                    {" / ", " * "},
                                                                                    {" % ", " / "},
                                                                                    {" < ", " <= "},
                                                                                    {" <= ", " < "},
                                                                                    {" > ", " >= "},
                                                                                    {" >= ", " < "},
                                                                                    {" == ", " != "},
                                                                                    {" += ", " -= "},
                                                                                    {" && ", " || "}}};
    const std::string code = without_comment(lines_[at].text);
    for (const auto& [from, to] : kSwaps) {
      // One more round of a loop that goes by tiles is empty.
      if (std::string_view(from) == " < " && code.find("+= k") != std::string::npos) continue;
      for (std::size_t found = code.find(from); found != std::string::npos; found = code.find(from, found + 1)) {
        std::string changed = lines_[at].text;
        add(at, from[1] == '<' || from[1] == '>' || from[1] == '=' ? "comparison" : "operator",
            changed.replace(found, std::string_view(from).size(), to));
      }
    }
  }

  void numbers(std::size_t at) {
    static const std::regex kNumber(R"((^|[ (\[])(-?\d+(?:\.\d+)?(?:e-?\d+)?)(f?)(?=[ ;,)\]]))");
    const std::string code = without_comment(lines_[at].text);
    for (std::sregex_iterator it(code.begin(), code.end(), kNumber), end; it != end; ++it) {
      const double value = *parse_number((*it)[2].str());
      const bool whole = (*it)[2].str().find_first_of(".e") == std::string::npos;
      const std::string other = whole ? std::to_string(static_cast<std::int64_t>(value) + 1)
                                      : number_text(value * 1.5 + (value == 0 ? 1 : 0));
      std::string text = other;
      if (!whole && text.find_first_of(".e") == std::string::npos) text += ".0";
      std::string changed = lines_[at].text;
      add(at, "number",
          changed.replace(static_cast<std::size_t>(it->position(2)), (*it)[2].str().size() + (*it)[3].str().size(),
                          text + (*it)[3].str()));
    }
  }

  void roundings(std::size_t at) {
    static const std::regex kRounding(R"(kw::round_to<\w+>\()");
    const std::string& code = lines_[at].text;
    for (std::sregex_iterator it(code.begin(), code.end(), kRounding), end; it != end; ++it) {
      std::string changed = code;
      add(at, "rounding", changed.replace(static_cast<std::size_t>(it->position(0)), it->str(0).size(), "("));
    }
  }

  void statements(std::size_t at) {
    const std::string_view code = trim(lines_[at].text);
    if (!code.ends_with(";") || code.starts_with("const ") || code.starts_with("}") || code.starts_with("return"))
      return;
    if (at > 0 && !lines_[at - 1].text.ends_with(";") && !lines_[at - 1].text.ends_with("{") &&
        !lines_[at - 1].text.ends_with("}"))
      return;  // the rest of a longer statement
    if (code.find(" = ") == std::string_view::npos && code.find("+= ") == std::string_view::npos &&
        code.find("finish(") == std::string_view::npos && code.find("fill(") == std::string_view::npos)
      return;
    if (code.find("double ") == 0 || code.find("float ") == 0) return;  // a declaration
    add(at, "statement", std::string(lines_[at].text.size() - code.size(), ' ') + ";");
  }

  // A name in a subscript or an argument becomes the next name that the function declares.
  void names(std::size_t at) {
    static const std::regex kName(R"([A-Za-z_]\w*)");
    const std::vector<std::string> known = declared(lines_, lines_[at].function);
    if (known.size() < 2) return;
    const std::string code = without_comment(lines_[at].text);
    const std::size_t assigned = code.find(" = ");
    for (std::sregex_iterator it(code.begin(), code.end(), kName), end; it != end; ++it) {
      const auto place = static_cast<std::size_t>(it->position(0));
      if (assigned != std::string::npos && place < assigned && trim(code).starts_with("const"))
        continue;  // declared here
      if (trim(code).starts_with("for (int64_t") && place < code.find(';')) continue;
      const auto found = std::find(known.begin(), known.end(), it->str(0));
      if (found == known.end() || found->starts_with("stream_")) continue;
      const std::size_t next = (static_cast<std::size_t>(found - known.begin()) + 1) % known.size();
      std::string changed = lines_[at].text;
      add(at, "name", changed.replace(place, it->str(0).size(), known[next]));
    }
  }

  std::vector<Line> lines_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> mutants_of(const std::string& source, const std::set<std::string>& skipped) {
  return Mutator(source, skipped).take();
}

}  // namespace kw::test
