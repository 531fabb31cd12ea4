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
  std::string function;      // the one whose body it stands in; empty outside
  std::string signature_of;  // the one whose parameters it declares
  bool in_wrapper = false;   // a kernel that only hands its arguments on
  bool in_c = false;         // one for the cpu
  bool idle = false;         // in a block that computes nothing
  bool ahead = false;        // where a row is fetched before its turn
};

// "T32 kept[kVectors][kVector];": how much room there is, at the least.
bool is_room(std::string_view code) {
  static const std::regex kRoom(R"(^(alignas\(\d+\) )?[\w:]+(<.*>)? \w+(\[\w+\])+;$)");
  return std::regex_search(code.begin(), code.end(), kRoom);
}

bool decides_speed(const std::string& line) {
  const std::string_view text = trim(line);
  return text.starts_with("#") || text.starts_with("//") || text.starts_with("constexpr") ||
         text.find("kw::streams") != std::string_view::npos || text.starts_with("kw::look_ahead(") ||
         text == "lane = kw::anew(lane);" || text.starts_with("using ") || text.starts_with("template") ||
         text.starts_with("namespace") || text.starts_with("extern") || text.starts_with("KW_SHARED") ||
         text.starts_with("KW_UNROLL") || is_room(text);
}

// Which line belongs to which function: a function begins with "void NAME(" and its body after the first "{" at an end.
std::vector<Line> lines_of(const std::string& source) {
  static const std::regex kBegin(R"(^(?:KW_DEVICE )?void (\w+)\()");
  std::vector<Line> lines;
  std::string function;
  bool body = false, wrapper = false, in_c = false;
  for (const std::string& text : split_lines(source)) {
    std::smatch match;
    if (text.starts_with("extern \"C\"") || text.starts_with("KW_KERNEL")) wrapper = true;
    if (text.starts_with("template")) wrapper = false;
    if (std::regex_search(text, match, kBegin)) {
      function = match[1];
      body = false;
    }
    in_c |= text.starts_with("extern \"C\"");
    lines.push_back({text, body ? function : "", body ? "" : function, wrapper, in_c});
    if (!function.empty() && text.ends_with("{")) body = true;
    if (text == "}") function.clear(), body = false;
  }
  return lines;
}

// A statement of its own begins here, rather than the rest of a longer one.
bool begins_statement(const std::vector<Line>& lines, std::size_t at) {
  const std::string_view before = at > 0 ? trim(lines[at - 1].text) : "";
  return before.ends_with(";") || before.ends_with("{") || before.ends_with("}") || before.starts_with("//") ||
         before.starts_with("#") || before == "KW_UNROLL";
}

// It is all that an if or an else above it decides.
bool hangs_on_condition(const std::vector<Line>& lines, std::size_t at) {
  const std::string_view before = at > 0 ? trim(lines[at - 1].text) : "";
  return before == "else" || (before.starts_with("if (") && before.ends_with(")"));
}

// "T32 sums[4];", "kw::Total<true, T32> total = 0;"
bool is_declaration(std::string_view code) {
  static const std::regex kDeclaration(R"(^(const |constexpr |alignas\(\d+\) )*[\w:]+(<.*>)?[*&]? \w+( = |\[|;|\())");
  return std::regex_search(code.begin(), code.end(), kDeclaration) && !code.starts_with("else") &&
         !code.starts_with("return");
}

std::string without_comment(const std::string& line) {
  const std::size_t at = line.find("//");
  return at == std::string::npos ? line : line.substr(0, at);
}

// A block of nothing but declarations and other such blocks has no effect, nor has what decides how often it runs.
void mark_idle_blocks(std::vector<Line>& lines) {
  struct Block {
    std::size_t head;
    bool idle;
  };
  std::vector<Block> open;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view code = trim(lines[i].text);
    if (code == "}" && !open.empty()) {
      const Block block = open.back();
      open.pop_back();
      if (block.idle)
        for (std::size_t k = block.head; k <= i; ++k) lines[k].idle = true;
      else if (!open.empty())
        open.back().idle = false;
    } else if (code.ends_with("{")) {
      open.push_back({i, true});
    } else if (!open.empty() && !code.empty() && code != "KW_UNROLL" &&
               !(code.starts_with("const ") && code.ends_with(";"))) {
      open.back().idle = false;
    }
  }
}

void mark_blocks_ahead(std::vector<Line>& lines) {
  int depth = 0, since = 0;  // 0: not within
  for (Line& line : lines) {
    const std::string_view code = trim(line.text);
    if (code.ends_with("{")) ++depth;
    if (since == 0 && code == "if constexpr (kAhead) {") since = depth;
    line.ahead = since > 0;
    if (!code.starts_with("}")) continue;
    if (depth == since) since = 0;
    if (!code.ends_with("{")) --depth;
  }
}

// Names that a function declares, in order; each once.
std::vector<std::string> declared(const std::vector<Line>& lines, const std::string& function) {
  static const std::regex kDeclared(
      R"((?:int64_t|int|Index|float|double|T32|W32|WT32|bool|T|W|WT) (\w+)(?: =|\[|,|\)|;))");
  std::vector<std::string> names;
  for (const Line& line : lines) {
    if (line.function != function && line.signature_of != function) continue;
    for (std::sregex_iterator it(line.text.begin(), line.text.end(), kDeclared), end; it != end; ++it)
      if (std::find(names.begin(), names.end(), (*it)[1].str()) == names.end()) names.push_back((*it)[1]);
  }
  return names;
}

class Mutator {
 public:
  Mutator(const std::string& source, const std::set<std::string>& skipped, const Given& given)
      : source_(source), skipped_(skipped), given_(given), lines_(lines_of(source)) {
    mark_idle_blocks(lines_);
    mark_blocks_ahead(lines_);
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const Line& line = lines_[i];
      if (line.idle || line.function.empty() || skipped.contains(line.function) || decides_speed(line.text)) continue;
      if (!is_called(line)) continue;
      operators(i);
      numbers(i);
      if (!line.in_wrapper) {
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
    mutants_.push_back({std::move(text), static_cast<int>(at) + 1, lines_[at].function, kind,
                        std::string(trim(lines_[at].text)), std::string(trim(changed)), lines_[at].ahead,
                        at + 1 < lines_.size() ? std::string(trim(lines_[at + 1].text)) : std::string()});
  }

  // A template that no kernel of the file instantiates makes no code.
  bool is_called(const Line& line) const {
    const std::size_t declared = source_.find(line.function + "(");
    return line.in_wrapper || source_.find(line.function + "<") != std::string::npos ||
           source_.find(line.function + "(", declared + 1) != std::string::npos;
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
    const bool counts_tiles = code.find(" tiles = ") != std::string::npos;
    for (const auto& [from, to] : kSwaps) {
      // A count of tiles that is too large gives tiles past the end, which are empty.
      if (counts_tiles && std::string_view(to) == " + ") continue;
      if (counts_elements_of_tiles(at) && std::string_view(to) == " + ") continue;
      // A tail of no elements is empty too.
      if (std::string_view(from) == " < " && code.find("if (whole < n)") != std::string::npos) continue;
      // One more round of a loop that goes by tiles is empty.
      if (std::string_view(from) == " < " &&
          (code.find("+= k") != std::string::npos || code.find("tile < tiles;") != std::string::npos))
        continue;
      // One more vector of a row that is held as a whole: it begins past the row's end, which guards keep within the
      // vectors that there are.
      if (std::string_view(from) == " < " && code.find("v < kVectors;") != std::string::npos && holds_rows(at))
        continue;
      for (std::size_t found = code.find(from); found != std::string::npos; found = code.find(from, found + 1)) {
        // Nothing is taken from an index where the tile begins at 0, and no block but the first is there.
        const std::string_view rest = std::string_view(code).substr(found + std::string_view(from).size());
        const bool of_tile = (std::string_view(from) == " - " && rest.starts_with("tile")) ||
                             (std::string_view(from) == " % " && rest.starts_with("tiles"));
        if (of_tile && has_one_tile(at)) continue;
        if (std::string_view(from) == " == " && rest.starts_with("0) {") && fetches_edge_again(at)) continue;
        std::string changed = lines_[at].text;
        add(at, from[1] == '<' || from[1] == '>' || from[1] == '=' ? "comparison" : "operator",
            changed.replace(found, std::string_view(from).size(), to));
      }
    }
  }

  // A loop over the vectors of a row, of which each is asked whether it begins before the end: where the row is fetched
  // ahead, or in a function that no kernel streams rows with.
  bool holds_rows(std::size_t at) const {
    bool asks = false;
    for (std::size_t i = at + 1; i < lines_.size() && i <= at + 3; ++i) {
      const std::string_view code = trim(lines_[i].text);
      asks |= code == "if (element < end) {" || code == "if (element < length) {";
    }
    const std::string& function = lines_[at].function;
    return asks && (lines_[at].ahead || !is_ever("kStreamed", function));
  }

  // Does a kernel that is not skipped instantiate the function with this parameter true? Where it is in doubt, yes.
  bool is_ever(const std::string& parameter, const std::string& function) const {
    static const std::regex kTemplate(R"(template <([^>]*)>\s*KW_DEVICE void (\w+)\()");
    std::size_t position = std::string::npos;
    for (std::sregex_iterator it(source_.begin(), source_.end(), kTemplate), end; it != end; ++it) {
      if ((*it)[2] != function) continue;
      const std::vector<std::string> parameters = split((*it)[1].str(), ',');
      for (std::size_t i = 0; i < parameters.size(); ++i)
        if (trim(parameters[i]).ends_with(" " + parameter)) position = i;
    }
    if (position == std::string::npos) return true;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::size_t found = lines_[i].text.find(function + "<");
      if (!lines_[i].in_wrapper || found == std::string::npos || skipped_.contains(lines_[i].function)) continue;
      std::string call;  // it may go on in the next lines
      for (std::size_t j = i; j < lines_.size() && j < i + 4; ++j) call += lines_[j].text + "\n";
      const std::vector<std::string> arguments = arguments_in(call.substr(found + function.size() + 1));
      if (arguments.size() <= position || arguments[position] != "false") return true;
    }
    return false;
  }

  // What stands between the commas before the bracket that closes, each trimmed.
  static std::vector<std::string> arguments_in(const std::string& text) {
    std::vector<std::string> arguments(1);
    int open = 1;
    for (const char c : text) {
      open += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
      if (open == 0) break;
      if (c == ',' && open == 1)
        arguments.emplace_back();
      else
        arguments.back() += c;
    }
    for (std::string& argument : arguments) argument = std::string(trim(argument));
    return arguments;
  }

  // "const Index all = length + (kRagged ? kVector - 1 : 0);" where tiles alone are counted with it, and no memory.
  bool counts_elements_of_tiles(std::size_t at) const {
    if (lines_[at].text.find(" all = ") == std::string::npos) return false;
    return std::none_of(lines_.begin(), lines_.end(), [&](const Line& line) {
      return line.function == lines_[at].function && line.text.find("kPlace") != std::string::npos;
    });
  }

  // "if (whole ? element < end : edge && tile == 0) {" where a streamed row is fetched again: a thread's edge, one
  // element, has its own place, and is there since an earlier stage fetched it under the same condition. At another
  // tile the same would be fetched.
  bool fetches_edge_again(std::size_t at) const {
    static const std::regex kFetch(R"(^\w+_v\[v\] = kw::load_piece<kVector>\(.*, whole\);$)");
    static const std::regex kFromCache(R"(^(\w+_v)\[v\] = \1_cache\[slot\];$)");
    const std::string_view condition = trim(lines_[at].text);
    if (!condition.ends_with(" : edge && tile == 0) {")) return false;
    bool fetches = false;
    for (std::size_t i = at + 1; i < lines_.size() && trim(lines_[i].text) != "}"; ++i) {
      const std::string code(trim(lines_[i].text));
      const bool fetch = std::regex_match(code, kFetch);
      if (fetch && !is_fetched_before(at, code, condition)) return false;
      fetches |= fetch;
      if (!fetch && code != "if (whole && slot * kVector < cached)" && code != "else" &&
          !std::regex_match(code, kFromCache))
        return false;
    }
    return fetches;
  }
  bool is_fetched_before(std::size_t at, std::string_view fetch, std::string_view condition) const {
    std::string_view block;  // how the innermost block begins
    for (std::size_t i = 0; i < at; ++i) {
      const std::string_view code = trim(lines_[i].text);
      if (code.ends_with("{")) block = code;
      if (lines_[i].function == lines_[at].function && code == fetch && block == condition) return true;
    }
    return false;
  }

  // "double" sums of what workers left, each a number: there are at most 64, and a tile has more.
  bool has_one_tile(std::size_t at) const {
    return std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
      return line.function == lines_[at].function && line.text.find("kw::min(workers, tile + kTile)") != line.text.npos;
    });
  }

  void numbers(std::size_t at) {
    if (lines_[at].text.find(" tiles = ") != std::string::npos || trim(lines_[at].text) == "int turn = 0;") return;
    static const std::regex kNumber(R"((^|[ ({\[])(-?\d+(?:\.\d+)?(?:e-?\d+)?)(f?)(?=[ ;,)}\]]))");
    const std::string code = without_comment(lines_[at].text);
    for (std::sregex_iterator it(code.begin(), code.end(), kNumber), end; it != end; ++it) {
      // What a kernel hands on: its strides stand in braces, all else are parameters of the schedule.
      const std::string front = code.substr(0, static_cast<std::size_t>(it->position(2)));
      if (lines_[at].in_wrapper &&
          std::count(front.begin(), front.end(), '{') == std::count(front.begin(), front.end(), '}'))
        continue;
      // The stride of an axis that was merged into another: its index is always 0. And on the cpu the stride of the
      // innermost axis where it is known to be 1, which is then not read.
      if (lines_[at].in_wrapper && ((*it)[2].str() == "0" || ((*it)[2].str() == "1" && lines_[at].in_c))) continue;
      if ((*it)[2].str() == "0" && counts_elements_of_tiles(at)) continue;  // one more: at most a tile past the end
      if (front.ends_with("&& tile == ") && fetches_edge_again(at)) continue;
      if (trim(front) == "if (kw::thread() ==" && is_reduced_before(at)) continue;  // all threads have what one stores
      if (front.ends_with("< end_of_column - ")) continue;                          // what is left is taken one by one
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

  bool is_reduced_before(std::size_t at) const {
    return std::any_of(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(at), [&](const Line& line) {
      return line.function == lines_[at].function && line.text.find("kw::block_reduce(") != std::string::npos;
    });
  }

  // What follows an opening bracket, as far as the bracket that closes it; nothing, if that is on another line.
  static std::string enclosed(const std::string& text) {
    int open = 1;
    for (std::size_t i = 0; i < text.size(); ++i) {
      open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (open == 0) return text.substr(0, i);
    }
    return {};
  }

  // A number of the type, halved or doubled: rounding does nothing to it, but for subnormal halves and for doubles
  // beyond the type's range. So too a number is rounded before or after it is halved.
  static bool only_scales(const std::string& inner) {
    static const std::regex kScaled(
        R"(^(T32\((0\.5|2\.0)\) \* (\w+|kw::round_to<T>\(.*\))|(\w+|T32\([\w()]+\)) \* T32\((0\.5|2\.0)\))$)");
    return std::regex_search(enclosed(inner), kScaled);
  }

  // Of two numbers of the type: a multiple of its smallest number, which rounding neither makes zero nor turns the sign
  // of.
  bool is_difference(std::size_t at, const std::string& inner, const std::string& type) const {
    static const std::regex kDifference(R"(^T32\((\w+_v)\[v\]\[k\]\) - T32\((\w+_v)\[v\]\[k\]\)$)");
    std::smatch match;
    if (!std::regex_match(inner, match, kDifference)) return false;
    const auto is_of_type = [&](const std::string& name) {
      return std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
        return line.function == lines_[at].function &&
               trim(line.text).starts_with("kw::Vector<" + type + ", kVector> " + name + "[");
      });
    };
    return is_of_type(match[1]) && is_of_type(match[2]);
  }

  // "T(-kw::round_to<T>(…))": to round twice to one type is to round once, and rounding knows no sign.
  static bool is_rounded_at_once(const std::string& front, const std::string& inner, const std::string& type) {
    const std::string rest = inner.substr(enclosed(inner).size());
    const std::regex outer(R"((^|[ (<]))" + type + R"(>?\((-|T32\((?:0\.5|2\.0)\) \* )?$)");
    return rest.starts_with("))") && std::regex_search(front, outer);
  }

  // "y_tile[col - tile] = -sum;" where the tile is rounded to `type` when it is complete.
  bool is_store_to_tile(std::size_t at, const std::string& name, const std::string& type) const {
    const std::regex store(R"(^\s*(\w+)_tile(\w*)\[[^\]]*\] = -?)" + name + ";$");
    std::smatch match;
    if (!std::regex_search(lines_[at].text, match, store)) return false;
    const std::string block = " " + match[1].str() + "_block" + match[2].str() + "(";
    return std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
      return line.function == lines_[at].function && line.text.find(block) != std::string::npos &&
             line.text.find("kw::OutputTile<" + type + ",") != std::string::npos;
    });
  }

  // "|W(W32(sum))": TW is T and W where they are one type, and else the type that is computed in, to which rounding
  // does nothing.
  static std::string narrowed(const std::string& type, const std::string& name) {
    std::string all;
    if (type.size() == 2)
      for (const char one : type) all += std::string(R"(|\b)") + one + R"(\()" + one + R"(32\()" + name + R"(\)\))";
    return all;
  }

  // "const T32 sum = kw::round_to<T>(…);", and sum is used as T(sum) alone, or as T(-sum), or goes into a tile that is
  // rounded to T: to round twice to one type is to round once, and rounding knows no sign.
  bool rounded_where_used(std::size_t at, const std::string& type, std::size_t place) const {
    static const std::regex kValue(R"(^\s*const \w+ (\w+) = )");
    std::smatch match;
    if (!std::regex_search(lines_[at].text, match, kValue) || match[0].str().size() != place) return false;
    if (!lines_[at].text.ends_with(");")) return false;
    int open = 0;  // brackets: the rounding must enclose all of the value
    for (std::size_t i = lines_[at].text.find('(', place); i + 2 < lines_[at].text.size(); ++i) {
      open += lines_[at].text[i] == '(' ? 1 : lines_[at].text[i] == ')' ? -1 : 0;
      if (open == 0) return false;
    }
    const std::string name = match[1];
    const std::regex use(R"(\b)" + name + R"(\b)"),
        rounds(R"((\b)" + type + R"(>?\((-|T32\((?:0\.5|2\.0)\) \* )?)" + name + R"(\))" + narrowed(type, name) + ")"),
        declares(R"( )" + name + " = ");
    for (std::size_t i = at + 1; i < lines_.size() && lines_[i].function == lines_[at].function; ++i) {
      const std::string& text = lines_[i].text;
      if (std::regex_search(text, declares)) break;
      const auto count = [&](const std::regex& of) {
        return std::distance(std::sregex_iterator(text.begin(), text.end(), of), std::sregex_iterator());
      };
      if (count(use) != count(rounds) && !is_store_to_tile(i, name, type)) return false;
    }
    return true;
  }

  void roundings(std::size_t at) {
    static const std::regex kRounding(R"(kw::round_to<\w+>\()");
    const std::string& code = lines_[at].text;
    for (std::sregex_iterator it(code.begin(), code.end(), kRounding), end; it != end; ++it) {
      // The inner of two roundings, to a type that holds all values of the outer: if it is the wider type, the value
      // was computed in it; if it is the outer type itself, the outer rounding does the same.
      const std::string front = code.substr(0, static_cast<std::size_t>(it->position(0)));
      const std::string type = it->str(0).substr(13, it->str(0).size() - 15);
      static const std::regex kOuter(R"(kw::round_to<(\w)>\($)");
      std::smatch outer;
      if (type.size() == 2 && std::regex_search(front, outer, kOuter) && type.find(outer[1]) != std::string::npos)
        continue;
      const std::string inner = code.substr(static_cast<std::size_t>(it->position(0)) + it->str(0).size());
      if (only_scales(inner) || is_rounded_at_once(front, inner, type)) continue;
      if (front.ends_with("kw::sign(") && is_difference(at, enclosed(inner), type)) continue;
      if (rounded_where_used(at, type, static_cast<std::size_t>(it->position(0)))) continue;
      std::string changed = code;
      add(at, "rounding", changed.replace(static_cast<std::size_t>(it->position(0)), it->str(0).size(), "("));
    }
  }

  void statements(std::size_t at) {
    const std::string_view code = trim(lines_[at].text);
    if (!code.ends_with(";") || code.starts_with("const ") || code.starts_with("}") || code.starts_with("return"))
      return;
    if (!begins_statement(lines_, at) && !hangs_on_condition(lines_, at)) return;
    const auto has = [&](std::string_view word) { return code.find(word) != std::string_view::npos; };
    if (is_declaration(code)) return;
    const bool waits = has("barrier(") || has("copy_wait") || has("copy_commit(") || has("turn = ");
    if (!waits && !has(" = ") && !has("+= ") && !code.ends_with(");")) return;
    add(at, waits ? "barrier" : "statement",
        std::string(lines_[at].text.size() - trim(lines_[at].text).size(), ' ') + ";");
  }

  // "const Index slot = …;" where a vector of a streamed row is looked for: a row is longer than the cache has slots,
  // and what is not there is read from memory. (In rows of a million elements the product would no longer fit an int.)
  bool looks_into_cache(std::size_t at) const {
    return trim(lines_[at].text).starts_with("const Index slot = ") && at + 2 < lines_.size() &&
           trim(lines_[at + 2].text) == "if (slot * kVector < cached)";
  }

  // Does the manifest hand one value to both parameters of a kernel?
  bool is_given_the_same(const std::string& function, const std::string& one, const std::string& other) const {
    const auto given = given_.find(function);
    if (given == given_.end()) return false;
    std::string signature;
    for (const Line& line : lines_)
      if (line.signature_of == function) signature += line.text + " ";
    signature = signature.substr(signature.find('(') + 1);
    signature = signature.substr(0, signature.find(')'));
    const std::vector<std::string> parameters = split(signature, ',');
    std::string of_one, of_other;
    for (std::size_t i = 0; i < parameters.size() && i < given->second.size(); ++i) {
      if (trim(parameters[i]).ends_with(" " + one)) of_one = given->second[i];
      if (trim(parameters[i]).ends_with(" " + other)) of_other = given->second[i];
    }
    return !of_one.empty() && of_one == of_other;
  }

  // A name in a subscript or an argument becomes the next name that the function declares.
  void names(std::size_t at) {
    static const std::regex kName(R"([A-Za-z_]\w*)");
    const std::vector<std::string> known = declared(lines_, lines_[at].function);
    if (known.size() < 2) return;
    const std::string code = without_comment(lines_[at].text);
    const std::size_t assigned = code.find(" = ");
    const auto is_declared_here = [&](const std::string& name) {
      return assigned != std::string::npos && trim(code.substr(0, assigned)).ends_with(" " + name);
    };
    for (std::sregex_iterator it(code.begin(), code.end(), kName), end; it != end; ++it) {
      const auto place = static_cast<std::size_t>(it->position(0));
      if (assigned != std::string::npos && place < assigned && trim(code).starts_with("const"))
        continue;  // declared here
      if (trim(code).starts_with("for (int64_t") && place < code.find(';')) continue;
      const auto found = std::find(known.begin(), known.end(), it->str(0));
      if (found == known.end() || found->starts_with("stream_")) continue;
      const std::size_t next = (static_cast<std::size_t>(found - known.begin()) + 1) % known.size();
      if (is_declared_here(known[next])) continue;  // which has no value yet
      if (known[next] == "length" && looks_into_cache(at)) continue;
      if (is_given_the_same(lines_[at].function, it->str(0), known[next])) continue;
      std::string changed = lines_[at].text;
      add(at, "name", changed.replace(place, it->str(0).size(), known[next]));
    }
  }

  const std::string& source_;
  const std::set<std::string>& skipped_;
  const Given& given_;
  std::vector<Line> lines_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::string with_trap(const std::string& source, int line) {
  const std::vector<Line> lines = lines_of(source);
  auto at = static_cast<std::size_t>(line) - 1;
  while (at > 0 && !begins_statement(lines, at) && !hangs_on_condition(lines, at)) --at;
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool braces = i == at && hangs_on_condition(lines, i);
    if (i == at) text += braces ? "{ __builtin_trap(); " : "__builtin_trap();\n";
    text += lines[i].text + (braces ? " }\n" : "\n");
  }
  return text;
}

std::vector<Mutant> mutants_of(const std::string& source, const std::set<std::string>& skipped, const Given& given) {
  return Mutator(source, skipped, given).take();
}

}  // namespace kw::test
