#include "verify/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "base/text.h"

namespace kw::verify {
namespace {

constexpr std::size_t kMostColumns = 120;
constexpr std::size_t kMostEvidence = 6;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_name(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_word); }

// Of "const T* __restrict__ x", "kw::Tensor<T, 2> x[4]" or "n = 1": the last word before what ends a declarator.
std::string declared_name(std::string_view parameter) {
  parameter = parameter.substr(0, parameter.find_first_of("=["));
  std::size_t end = parameter.size();
  while (end > 0 && !is_word(parameter[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_word(parameter[begin - 1])) --begin;
  return std::string(parameter.substr(begin, end - begin));
}

class StyleCheck {
 public:
  StyleCheck(const kernel::Manifest& manifest, const device::Sources& files) : manifest_(manifest), files_(files) {}

  std::vector<std::string> run() {
    for (const auto& [path, text] : files_) {
      look_at_text(path, text);
      if (path.ends_with(".py")) continue;
      look_at_code(path, code_alone(text));
    }
    for (const kernel::Pass& pass : manifest_.passes)
      for (const kernel::Step& step : pass.steps)
        for (const kernel::Entry& entry : step.entries) look_at_names(entry);
    return std::move(flaws_);
  }

 private:
  void flaw(const std::string& path, std::size_t line, std::string_view rule, const std::string& what) {
    flaws_.push_back(fmt::format("{}:{}: {}: {}", path, line, rule, what));
  }

  void look_at_text(const std::string& path, const std::string& text) {
    const std::vector<std::string> lines = split_lines(text);
    const std::string_view start = trim(text);
    if (!start.starts_with("//") && !start.starts_with("/*") && !start.starts_with("#!") &&
        !start.starts_with("\"\"\"") && !(path.ends_with(".py") && start.starts_with("#")))
      flaw(path, 1, "opening", "the file does not open with a comment that says what it is");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t columns = code_points(lines[i]).size();
      if (columns > kMostColumns) flaw(path, i + 1, "line-length", fmt::format("{} columns", columns));
      if (lines[i].find('\t') != std::string::npos) flaw(path, i + 1, "white-space", "a tab");
      if (!lines[i].empty() && std::isspace(static_cast<unsigned char>(lines[i].back())) != 0)
        flaw(path, i + 1, "white-space", "space at the end of the line");
    }
    if (!text.ends_with('\n')) flaw(path, lines.size(), "white-space", "the last line does not end");
  }

  void look_at_code(const std::string& path, const std::string& code) {
    static const std::regex kAssembly(R"(\b(asm|__asm__|__asm)\b)");
    static const std::regex kOwn(R"(^\s*(#\s*define\s+KW_|(inline\s+)?namespace\s+kw\b))");
    const std::vector<std::string> lines = split_lines(code);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (manifest_.target == kernel::Target::Cuda && std::regex_search(lines[i], kAssembly))
        flaw(path, i + 1, "assembly", "inline PTX: no emulation can run it; the runtime's headers have what needs it");
      if (std::regex_search(lines[i], kOwn))
        flaw(path, i + 1, "runtime-names", "names of the runtime (kw::, KW_) are made anew here");
    }
  }

  // A parameter is called what the manifest calls its argument: two pointers of one type are exchanged unseen.
  void look_at_names(const kernel::Entry& entry) {
    const auto file = files_.find(entry.file);
    if (file == files_.end()) return;
    const bool python = entry.file.ends_with(".py");
    const std::string code = python ? file->second : code_alone(file->second);
    const std::vector<std::string> names = parameter_names(code, entry.symbol);
    if (names.size() != entry.arguments.size()) return;  // it is no plain function; the compiler has the say
    const std::size_t at = code.find(entry.symbol);
    const auto line = static_cast<std::size_t>(std::count(code.begin(), code.begin() + static_cast<long>(at), '\n'));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const kernel::Argument& argument = entry.arguments[i];
      if (argument.kind == kernel::Argument::Kind::Stride || !is_name(argument.of) ||
          std::isdigit(static_cast<unsigned char>(argument.of[0])) != 0)
        continue;
      // A size may be called otherwise than in the math, but not what another size is called there.
      const bool a_size = argument.kind == kernel::Argument::Kind::Size;
      if (a_size && std::find(manifest_.sizes.begin(), manifest_.sizes.end(), names[i]) == manifest_.sizes.end())
        continue;
      if (names[i] != argument.of && names[i] != argument.of + "_" && names[i] != argument.of + "_ptr")
        flaw(entry.file, line + 1, "names",
             fmt::format("parameter {} of {} is called {}, and the manifest passes {}", i + 1, entry.symbol, names[i],
                         argument.of));
    }
  }

  const kernel::Manifest& manifest_;
  const device::Sources& files_;
  std::vector<std::string> flaws_;
};

}  // namespace

std::string code_alone(std::string_view source) {
  std::string code(source);
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && i < code.size(); ++i)
      if (code[i] != '\n') code[i] = ' ';
  };
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string_view rest = source.substr(i);
    std::size_t end = 0;
    if (rest.starts_with("//")) {
      end = std::min(source.find('\n', i), source.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t close = source.find("*/", i + 2);
      end = close == std::string_view::npos ? source.size() : close + 2;
    } else if (source[i] == '"' || (source[i] == '\'' && (i == 0 || !is_word(source[i - 1])))) {
      end = i + 1;
      while (end < source.size() && source[end] != source[i] && source[end] != '\n') end += source[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, source.size());
    } else {
      continue;
    }
    blank(i, end);
    i = end - 1;
  }
  return code;
}

std::vector<std::string> parameter_names(std::string_view code, std::string_view function) {
  for (std::size_t at = code.find(function); at != std::string_view::npos; at = code.find(function, at + 1)) {
    const std::size_t after = at + function.size();
    if ((at > 0 && is_word(code[at - 1])) || after >= code.size() || code[after] != '(') continue;
    std::vector<std::string> names;
    std::size_t begin = after + 1, end = begin;
    int depth = 0;
    for (; end < code.size() && depth >= 0; ++end) {
      const char c = code[end];
      if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
      if ((c == ',' && depth == 0) || depth < 0) {
        // Python says the type behind a colon.
        const std::string_view parameter = code.substr(begin, end - begin);
        const std::size_t colon = parameter.find(':');
        const bool scope = colon != std::string_view::npos && parameter.substr(colon).starts_with("::");
        names.push_back(declared_name(scope ? parameter : parameter.substr(0, colon)));
        begin = end + 1;
      }
    }
    if (names.size() == 1 && names[0].empty()) names.clear();
    const std::string_view body = trim(code.substr(std::min(end, code.size())));
    if (body.starts_with('{') || body.starts_with(':')) return names;  // else it is a call or a declaration
  }
  return {};
}

std::vector<std::string> style_flaws(const kernel::Manifest& manifest, const device::Sources& files) {
  return StyleCheck(manifest, files).run();
}

Verdict judge_style(const kernel::Manifest& manifest, const device::Sources& files) {
  std::vector<std::string> flaws = style_flaws(manifest, files);
  if (flaws.empty())
    return {Gate::Style, Outcome::Passed, fmt::format("nothing to remark in {} files", files.size()), {}};
  Verdict verdict{Gate::Style, Outcome::Flagged, flaws.front(), {}};
  if (flaws.size() > 1) verdict.line += fmt::format(" (and {} more)", flaws.size() - 1);
  if (flaws.size() > kMostEvidence) flaws.resize(kMostEvidence);
  verdict.evidence = std::move(flaws);
  return verdict;
}

}  // namespace kw::verify
