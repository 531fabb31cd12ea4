#include "act/emit/skeleton.h"

#include <cctype>
#include <set>

#include "base/embedded.h"
#include "base/result.h"
#include "base/text.h"

namespace kw::act {
namespace {

struct Hole {
  size_t begin, end;  // in the line
  std::string kind, name;
};

std::optional<Hole> find_hole(const std::string& line, size_t from) {
  constexpr std::string_view kKinds[] = {"NAME", "EXPRESSION", "LIST", "CLAUSES", "STATEMENTS", "LOOPS"};
  std::optional<Hole> first;
  for (std::string_view kind : kKinds) {
    const std::string start = "KW_" + std::string(kind);
    const size_t begin = line.find(start, from), name = begin + start.size() + 1;
    if (begin == std::string::npos || name >= line.size() || (first && first->begin < begin)) continue;
    const bool call = line[name - 1] == '(';  // KW_NAME(kernel); in Python, where no call may stand, KW_NAME_kernel
    if (!call && line[name - 1] != '_') continue;
    size_t end = name;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_')) ++end;
    KW_ASSERT(!call || (end < line.size() && line[end] == ')'), "a hole of a skeleton ends on its line");
    first = Hole{begin, call ? end + 1 : end, std::string(kind), line.substr(name, end - name)};
  }
  return first;
}

}  // namespace

Skeleton Skeleton::load(std::string_view file, std::string_view name) {
  const std::string comment = file.ends_with(".py") ? "# " : "// ";
  const std::string begin = comment + "skeleton " + std::string(name);
  std::string text;
  bool inside = false, found = false;
  for (const std::string& line : split_lines(embedded::file(file))) {
    if (inside && line == comment + "end") {
      inside = false;
      while (text.ends_with("\n\n")) text.pop_back();
    }
    if (inside) text += line + "\n";
    if (line == begin) inside = found = true;
  }
  KW_ASSERT(found && !inside, "a skeleton begins and ends in its file");
  Skeleton skeleton(std::move(text));
  skeleton.python_ = file.ends_with(".py");
  return skeleton;
}

std::string Skeleton::words() const {
  std::string all = text_;
  for (const auto& [hole, filling] : fillings_) {
    all += "\n" + filling.text;
    for (const std::string& line : filling.lines) all += "\n" + line;
  }
  return all;
}

Skeleton& Skeleton::put(const std::string& hole, Filling filling) {
  KW_ASSERT(fillings_.emplace(hole, std::move(filling)).second, "a hole is filled once");
  return *this;
}
Skeleton& Skeleton::name(const std::string& hole, std::string text) { return put(hole, {"NAME", std::move(text), {}}); }
Skeleton& Skeleton::expression(const std::string& hole, std::string text) {
  return put(hole, {"EXPRESSION", std::move(text), {}});
}
Skeleton& Skeleton::list(const std::string& hole, std::vector<std::string> items) {
  return put(hole, {"LIST", {}, std::move(items)});
}
Skeleton& Skeleton::clauses(const std::string& hole, std::string text) {
  return put(hole, {"CLAUSES", std::move(text), {}});
}
Skeleton& Skeleton::statements(const std::string& hole, const Lines& lines) {
  return put(hole, {"STATEMENTS", {}, lines.all()});
}
Skeleton& Skeleton::loops(const std::string& hole, std::vector<std::string> headers) {
  return put(hole, {"LOOPS", {}, std::move(headers)});
}

namespace {

// A loop around nothing is left out, and the line that says how it is unrolled.
bool closes_nothing(Lines& out, const std::string& line) {
  const size_t column = line.find('}');
  const std::string pad(column == std::string::npos ? 0 : column, ' ');
  const auto ends_with = [&](const std::string& start) {
    return !out.empty() && out.all().back().starts_with(pad + start);
  };
  if (line != pad + "}" || !ends_with("for (") || out.all().back().back() != '{') return false;
  out.drop_last();
  if (ends_with("KW_UNROLL")) out.drop_last();
  return true;
}

}  // namespace

Lines Skeleton::fill() const {
  Lines out;
  std::set<std::string> used;
  auto filling_of = [&](const Hole& hole) -> const Filling& {
    auto filling = fillings_.find(hole.name);
    KW_ASSERT(filling != fillings_.end() && filling->second.kind == hole.kind,
              "every hole is filled with what its kind allows: " + hole.name);
    used.insert(hole.name);
    return filling->second;
  };
  // Loops with more than one header indent what stands inside them: the closing brace at the same column ends them.
  std::vector<std::pair<size_t, size_t>> open_loops;  // column, further headers
  size_t extra = 0;
  for (std::string line : split_lines(text_)) {
    const size_t column = line.find_first_not_of(' ');
    const std::string more(extra, ' ');
    const bool ends_loops = !open_loops.empty() && column == open_loops.back().first && line[column] == '}';
    if (ends_loops) {
      extra -= 2 * open_loops.back().second;
      open_loops.pop_back();
    }
    if (auto hole = find_hole(line, 0); hole && (hole->kind == "STATEMENTS" || hole->kind == "LOOPS")) {
      const Filling& filling = filling_of(*hole);
      const std::string pad = more + line.substr(0, hole->begin);
      if (hole->kind == "STATEMENTS") {
        for (const std::string& text : filling.lines) out.line(text.empty() || text[0] == '#' ? text : pad + text);
        continue;
      }
      const size_t n = filling.lines.size();
      KW_ASSERT(n > 0, "a hole for loops has at least one");
      // All but the last stand without a brace of their own: they are perfectly nested.
      for (size_t i = 0; i < n; ++i)
        out.line(pad + std::string(2 * i, ' ') + filling.lines[i] + (i + 1 == n ? line.substr(hole->end) : ""));
      open_loops.emplace_back(column, n - 1);
      extra += 2 * (n - 1);
      continue;
    }
    std::string text;
    size_t from = 0;
    while (auto hole = find_hole(line, from)) {
      text += line.substr(from, hole->begin - from);
      from = hole->end;
      const Filling& filling = filling_of(*hole);
      if (hole->kind == "LIST") {
        std::string tail = line.substr(from);
        const std::string list =
            python_ ? python_list(more + text, filling.lines, tail) : bracketed(more + text, filling.lines, tail);
        for (const std::string& wrapped : split_lines(list)) out.line(wrapped);
        text.clear();
        from = std::string::npos;
        break;
      }
      // An empty clause takes the blank before it along.
      if (filling.text.empty() && !text.empty() && text.back() == ' ') text.pop_back();
      text += filling.text;
    }
    if (from == std::string::npos) continue;
    text += line.substr(from);
    if (!ends_loops && closes_nothing(out, more + text)) continue;
    out.line(text.empty() || text[0] == '#' ? text : more + text);
  }
  for (const auto& [hole, filling] : fillings_) KW_ASSERT(used.contains(hole), "no filling without its hole: " + hole);
  return out;
}

}  // namespace kw::act
