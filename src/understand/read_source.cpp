#include "understand/read_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "ir/text/parse.h"
#include "profile/format.h"
#include "understand/export/read_exported.h"
#include "understand/options.h"
#include "understand/python/read.h"
#include "understand/words/words.h"

namespace kw::understand {
namespace {

namespace fs = std::filesystem;

// file.py:Name. A colon inside a folder's name stays where it is.
std::pair<std::string, std::string> split_entry(const std::string& given) {
  const std::size_t colon = given.rfind(':');
  if (colon == std::string::npos || file_exists(given)) return {given, ""};
  const std::string entry = given.substr(colon + 1);
  if (!profile::is_identifier(entry)) return {given, ""};
  return {given.substr(0, colon), entry};
}

bool looks_like_path(const std::string& text) {
  const std::string extension = fs::path(text).extension().string();
  if (extension == ".py" || extension == ".kw" || extension == ".math" || extension == ".json") return true;
  return text.find(' ') == std::string::npos && (text.find('/') != std::string::npos || text.starts_with("."));
}

// What a text without a file name is, by how it begins.
std::string kind_of_text(std::string_view text) {
  for (const std::string& line : split_lines(text)) {
    const std::string_view start = trim(line);
    if (start.empty() || start.starts_with('#')) continue;
    if (start.starts_with("op ")) return "math";
    if (start.starts_with('{')) return "graph";
    return "torch";
  }
  return "torch";
}

Result<LocatedSource> locate_words(const std::string& words) {
  KW_TRY(WordsAnswer answer, read_words(words));
  if (answer.readings.size() != 1) {
    std::string choices;
    for (const WordsReading& reading : answer.readings)
      choices += fmt::format("\n  {}: {}", reading.name, reading.meaning);
    return fail(ErrorKind::NeedsApproval,
                fmt::format("'{}' could mean {} things: {}{}", profile::shortened(words), answer.readings.size(),
                            answer.question, choices),
                "say it with the words of one of them");
  }
  WordsReading& reading = answer.readings[0];
  return LocatedSource{"words", "source.py", "", words, std::move(reading.source), std::move(reading.name)};
}

// The line of math text that begins the op.
Place definition_place(const std::string& text, const std::string& path) {
  const std::vector<std::string> lines = split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (trim(lines[i]).starts_with("op ")) return {path, static_cast<int>(i) + 1, 1, 0};
  return {path, 0, 0, 0};
}

Result<Reading> read_math(const LocatedSource& source, const profile::ReadingOptions& options) {
  std::string text;
  if (source.text) {
    text = *source.text;
  } else {
    KW_TRY(text, read_text(source.path));
  }
  Reading reading;
  KW_TRY(reading.graph, ir::text::parse(text, source.path));
  KW_CHECK(apply_options(reading.graph, options));
  reading.sources = {{source.path, text}};
  reading.extension = ".kw";
  reading.axes_are_named = true;
  reading.place = definition_place(text, source.path);
  reading.entry = reading.graph.name;
  return reading;
}

Result<Reading> read_graph(const LocatedSource& source, const profile::ReadingOptions& options) {
  std::string text;
  if (source.text) {
    text = *source.text;
  } else {
    KW_TRY(text, read_text(source.path));
  }
  KW_TRY(Reading reading, read_exported_graph(text, source.path));
  KW_CHECK(apply_options(reading.graph, options));
  reading.sources = {{source.path, text}};
  reading.extension = ".json";
  if (reading.entry.empty()) reading.entry = reading.graph.name;
  return reading;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;
Pairs pairs(const std::map<std::string, std::string>& options) { return {options.begin(), options.end()}; }

// "shape of x" → shape.x; anything else under a name of its own.
std::string decision_about(const std::string& what) {
  for (const char* kind : {"shape", "type"})
    if (const std::string start = std::string(kind) + " of "; what.starts_with(start))
      return std::string(kind) + "." + what.substr(start.size());
  std::string name = what;
  if (name.starts_with("argument ")) name = split(name, ' ')[1];
  std::string id;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    if (plain)
      id += c;
    else if (!id.empty() && id.back() != '_')
      id += '_';
  }
  while (!id.empty() && (id.back() == '_' || id.back() == '.')) id.pop_back();
  return "assumed." + (profile::is_identifier(id) ? id : "_" + replace_all(id, ".", "_"));
}

// nn.Parameter(torch.ones(hidden)) → ones; what is more than a plain fill stays as the source writes it.
std::string initial_value(const std::string& text) {
  std::string_view made = trim(text);
  for (const char* wrapper : {"nn.Parameter(", "torch.nn.Parameter(", "Parameter("})
    if (made.starts_with(wrapper) && made.ends_with(')')) {
      made.remove_prefix(std::string_view(wrapper).size());
      made.remove_suffix(1);
      break;
    }
  for (const char* fill : {"ones", "zeros", "randn", "rand", "empty"}) {
    const std::string start = std::string("torch.") + fill;
    if (!made.starts_with(start + "(") && !made.starts_with(start + "_like(")) continue;
    int depth = 0;
    for (const char& c : made) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == ')' && depth == 0) return &c == &made.back() ? fill : text;
    }
  }
  return text;
}

// A word or a truth, which no kernel takes as a number: reduction="mean", bias=True. Those of a configuration are many,
// and most of them are for other modules.
bool chooses(const ReadArgument& argument) {
  const bool word = argument.value.size() > 2 && (argument.value[0] == '\'' || argument.value[0] == '"');
  return profile::is_identifier(argument.name) && argument.name.find('.') == std::string::npos &&
         (word || argument.value == "True" || argument.value == "False");
}

std::string unquoted(const std::string& value) {
  return value[0] == '\'' || value[0] == '"' ? value.substr(1, value.size() - 2) : value;
}

Result<Reading> read_torch(const LocatedSource& source, const profile::ReadingOptions& options) {
  ReadRequest request;
  request.path = source.path;
  request.text = source.text;
  request.name = source.entry;
  request.training = !options.eval;
  request.shapes = pairs(options.shape);
  request.dtypes = pairs(options.dtype);
  request.init = pairs(options.init);
  KW_TRY(ReadResult result, read_python(request));
  Reading reading;
  reading.graph = std::move(result.graph);
  for (const Assumption& assumption : result.assumptions)
    reading.assumptions.push_back(
        {decision_about(assumption.what), assumption.value, assumption.because, assumption.place});
  for (const ReadArgument& argument : result.constructor) {
    const std::string id = "assumed." + argument.name;
    const auto same = [&](const Assumed& other) { return other.about == id; };
    if (!chooses(argument) || std::any_of(reading.assumptions.begin(), reading.assumptions.end(), same)) continue;
    reading.assumptions.push_back(
        {id, unquoted(argument.value), "the constructor has it so, and it may choose what is computed", result.place});
  }
  for (const ModuleParameter& parameter : result.parameters)
    reading.initial_values[parameter.name] = initial_value(parameter.init);
  reading.layouts = std::move(result.layouts);
  for (ReadResult::File& file : result.files) reading.sources.push_back({std::move(file.path), std::move(file.text)});
  reading.entry = std::move(result.name);
  reading.place = std::move(result.place);
  reading.is_module = result.is_module;
  return reading;
}

}  // namespace

Result<LocatedSource> locate_source(const std::string& given, const std::optional<std::string>& math) {
  if (math) return LocatedSource{"math", "--math", "", "--math", *math, ""};
  if (given.empty())
    return fail(ErrorKind::BadInput, "there is nothing to read", "give a file, -, words, or --math TEXT");
  if (given == "-") {
    KW_TRY(std::string text, read_stdin_text());
    const std::string kind = kind_of_text(text);
    return LocatedSource{kind, "<stdin>", "", "-", std::move(text), ""};
  }
  const auto [path, entry] = split_entry(given);
  if (!file_exists(path) && !looks_like_path(path)) return locate_words(given);
  const std::string extension = fs::path(path).extension().string();
  const std::string kind = extension == ".kw" || extension == ".math" ? "math"
                           : extension == ".json"                     ? "graph"
                                                                      : "torch";
  return LocatedSource{kind, path, entry, given, std::nullopt, ""};
}

Result<Reading> read_source(const LocatedSource& source, const profile::ReadingOptions& options) {
  if (source.kind == "math") return read_math(source, options);
  if (source.kind == "torch" || source.kind == "words") return read_torch(source, options);
  return read_graph(source, options);
}

}  // namespace kw::understand
