#include "base/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/embedded.h"
#include "base/format.h"
#include "base/text.h"

namespace kw {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestDocument = std::size_t{8} << 20;

// Deeper nesting than any schema of ours has; refused before the YAML library recurses into it.
constexpr int kDeepestNesting = 40;

std::string type_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Map:
      return "a mapping";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Scalar:
      return fmt::format("'{}'", shortened(node.Scalar()));
    default:
      return "nothing";
  }
}

class Validator {
 public:
  Validator(const json& schema, const Document& document, Document::Syntax syntax)
      : schema_(schema), document_(document), json_(syntax == Document::Syntax::Json) {}

  Status check(const YAML::Node& node, const json& rule, const std::string& what) const {
    if (rule.contains("$ref")) return check(node, resolve(rule["$ref"]), what);
    if (rule.contains("const")) return check_one_of(node, json::array({rule["const"]}), what);
    if (rule.contains("enum")) return check_one_of(node, rule["enum"], what);
    const json& type = rule["type"];
    if (type == "object") return check_object(node, rule, what);
    if (type == "array") return check_array(node, rule, what);
    return check_scalar(node, rule, what);
  }

 private:
  const json& resolve(const std::string& reference) const {
    return schema_.at(json::json_pointer(reference.substr(1)));  // "#/$defs/x"
  }

  Failure wrong(const YAML::Node& node, std::string message, std::string hint = {}) const {
    return Failure(document_.error_at(node, std::move(message), std::move(hint)));
  }

  Status check_object(const YAML::Node& node, const json& rule, const std::string& what) const {
    if (!node.IsMap()) return wrong(node, fmt::format("{} must be a mapping, not {}", what, type_of(node)));
    static const json kNone = json::object();
    const json& properties = rule.contains("properties") ? rule["properties"] : kNone;
    const json& others = rule["additionalProperties"];
    std::set<std::string> seen;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) return wrong(entry.first, fmt::format("a key of {} must be a plain word", what));
      const std::string& key = entry.first.Scalar();
      if (!seen.insert(key).second)
        return wrong(entry.first, fmt::format("'{}' stands twice in {}", shortened(key), what));
      if (properties.contains(key)) {
        KW_CHECK(check(entry.second, properties[key], fmt::format("'{}'", key)));
      } else if (others.is_object()) {
        if (!is_identifier(key)) return wrong(entry.first, fmt::format("'{}' is not a name", shortened(key)));
        KW_CHECK(check(entry.second, others, fmt::format("'{}'", key)));
      } else {
        std::vector<std::string> known;
        for (const auto& [name, _] : properties.items()) known.push_back(name);
        std::string hint = did_you_mean(key, known);
        if (hint.empty()) hint = fmt::format("known here: {}", join(known, ", "));
        return wrong(entry.first, fmt::format("unknown key '{}' in {}", shortened(key), what), hint);
      }
    }
    if (rule.contains("required"))
      for (const std::string& key : rule["required"].get<std::vector<std::string>>())
        if (!seen.contains(key)) return wrong(node, fmt::format("'{}' is missing in {}", key, what));
    return {};
  }

  Status check_array(const YAML::Node& node, const json& rule, const std::string& what) const {
    if (!node.IsSequence()) return wrong(node, fmt::format("{} must be a list, not {}", what, type_of(node)));
    if (node.size() < rule.value("minItems", std::size_t{0}))
      return wrong(node, fmt::format("{} must not be empty", what));
    for (const auto& item : node) KW_CHECK(check(item, rule["items"], fmt::format("an entry of {}", what)));
    return {};
  }

  Status check_one_of(const YAML::Node& node, const json& allowed, const std::string& what) const {
    std::vector<std::string> values;
    for (const json& value : allowed) values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    if (node.IsScalar())
      for (std::size_t i = 0; i < values.size(); ++i)
        if (node.Scalar() == values[i] && (!json_ || allowed[i].is_string() == (node.Tag() == "!"))) return {};
    std::string hint = node.IsScalar() ? did_you_mean(node.Scalar(), values) : std::string();
    return wrong(node, fmt::format("{} must be {}, not {}", what, any_of(values), type_of(node)), hint);
  }

  Status check_scalar(const YAML::Node& node, const json& rule, const std::string& what) const {
    if (!node.IsScalar()) return wrong(node, fmt::format("{} must be a value, not {}", what, type_of(node)));
    const std::string& text = node.Scalar();
    const json& type = rule["type"];
    const bool quoted = node.Tag() == "!";
    if (json_ && type == "string" && !quoted)
      return wrong(node, fmt::format("{} must be text, not {}", what, shortened(text)), "put it into quotes");
    if (json_ && type.is_string() && type != "string" && quoted)
      return wrong(node, fmt::format("{} must not be text, but stands in quotes", what), "drop the quotes");
    if (type == "number" && !parse_number(text))
      return wrong(node, fmt::format("{} must be a number, not '{}'", what, shortened(text)));
    if (type == "boolean" && text != "true" && text != "false")
      return wrong(node, fmt::format("{} must be true or false, not '{}'", what, shortened(text)));
    if (type == "integer") {
      std::optional<std::int64_t> value = parse_integer(text);
      if (!value) return wrong(node, fmt::format("{} must be a whole number, not '{}'", what, shortened(text)));
      if (rule.contains("minimum") && *value < rule["minimum"].get<std::int64_t>())
        return wrong(node, fmt::format("{} must be at least {}", what, rule["minimum"].dump()));
      if (rule.contains("maximum") && *value > rule["maximum"].get<std::int64_t>())
        return wrong(node, fmt::format("{} must be at most {}", what, rule["maximum"].dump()));
    }
    if (rule.contains("format")) {
      const std::string format = rule["format"].get<std::string>();
      if (!has_format(text, format))
        return wrong(node, fmt::format("{} is not {}: '{}'", what, describe_format(format), shortened(text)));
    }
    return {};
  }

  const json& schema_;
  const Document& document_;
  bool json_;
};

// Brackets and indentation nest; a cheap upper bound of how deep, taken before parsing.
Status check_nesting(std::string_view text, const Document& document) {
  int open = 0;
  int line = 1;
  int dashes = 0;
  bool at_start = true;
  for (char c : text) {
    if (c == '[' || c == '{' || c == '?') ++open;
    if ((c == ']' || c == '}') && open > 0) --open;
    if (at_start && c == '-') ++dashes;
    if (c == '\n') {
      ++line;
      dashes = 0;
      at_start = true;
    } else if (c != ' ' && c != '-') {
      at_start = false;
    }
    if (open > 20 * kDeepestNesting || dashes > kDeepestNesting)
      return Failure(document.error_at(line, 1, "this is nested too deeply"));
  }
  return {};
}

Status check_json(const std::string& text, const Document& document) {
  try {
    const json parsed = json::parse(text);  // by its own grammar
    return {};
  } catch (const json::parse_error& error) {
    const std::size_t end = std::min<std::size_t>(error.byte > 0 ? error.byte - 1 : 0, text.size());
    const std::size_t start = end == 0 ? 0 : text.rfind('\n', end - 1) + 1;  // npos + 1 is 0
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(start), '\n') + 1;
    // "[json.exception.parse_error.101] parse error at line 2, column 9: syntax error while parsing value - ..."
    std::string what = error.what();
    if (const std::size_t colon = what.find(": "); colon != std::string::npos) what = what.substr(colon + 2);
    return Failure(document.error_at(
        static_cast<int>(line), column_at(std::string_view(text).substr(start), end - start), "not JSON: " + what));
  }
}

// Where a document begins; nothing else of it.
class FirstEvent : public YAML::EventHandler {
 public:
  YAML::Mark start;
  void OnDocumentStart(const YAML::Mark& mark) override { start = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// Asks the parser for two documents and no more: loading all of them does not end on some texts (an anchor without a
// value), and loading the first alone would pass over whatever stands behind it.
Status check_one_document(const std::string& text, const Document& document) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  FirstEvent event;
  if (!parser.HandleNextDocument(event)) return Failure(document.error_at(0, 0, "the file is empty"));
  if (parser.HandleNextDocument(event))
    return Failure(document.error_at(event.start.line + 1, event.start.column + 1,
                                     "a second YAML document begins here; there must be only one"));
  return {};
}

}  // namespace

Document::Document() : root_(std::make_unique<YAML::Node>()) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;
const YAML::Node& Document::root() const { return *root_; }

Error Document::error_at(int line, int column, std::string message, std::string hint) const {
  Error error{ErrorKind::BadInput, std::move(message), Place{file_, line, column, 0}, {}, std::move(hint)};
  return with_source(std::move(error), text_);
}

Error Document::error_at(const YAML::Node& node, std::string message, std::string hint) const {
  const YAML::Mark mark = node.Mark();
  if (mark.is_null()) return error_at(0, 0, std::move(message), std::move(hint));
  return error_at(mark.line + 1, mark.column + 1, std::move(message), std::move(hint));
}

Error Document::error_in_block(const YAML::Node& node, int line, int column, std::string message,
                               std::string hint) const {
  const std::vector<std::string> lines = split_lines(text_);
  const YAML::Mark mark = node.Mark();
  const std::size_t first = static_cast<std::size_t>(mark.line) + 1;  // of the block's content, counted from 0
  const bool block = !mark.is_null() && first < lines.size() && line > 0 &&
                     lines[first - 1].find('|', static_cast<std::size_t>(std::max(mark.column, 0))) ==
                         static_cast<std::size_t>(mark.column);
  if (!block) return error_at(node, std::move(message), std::move(hint));
  const std::size_t indent = std::min(lines[first].find_first_not_of(' '), lines[first].size());
  return error_at(static_cast<int>(first) + line, static_cast<int>(indent) + column, std::move(message),
                  std::move(hint));
}

Result<Document> Document::load(std::string_view text, const std::string& file, std::string_view schema_path,
                                int version, Syntax syntax) {
  Document document;
  document.text_ = text;
  document.file_ = file;
  if (text.size() > kLargestDocument) return bad_input("the file is too large", Place{file});
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos)
    return bad_input("the file is not text", Place{file});
  KW_CHECK(check_nesting(text, document));
  if (syntax == Syntax::Json) KW_CHECK(check_json(document.text_, document));
  try {
    KW_CHECK(check_one_document(document.text_, document));
    *document.root_ = YAML::Load(document.text_);
    if (!document.root_->IsMap())
      return Failure(document.error_at(*document.root_, "the file must be a mapping of keys to values"));

    // The version decides whether the rest can be understood at all, so it is looked at first.
    const YAML::Node found = (*document.root_)["schema"];
    if (!found)
      return Failure(document.error_at(*document.root_, "'schema' is missing",
                                       syntax == Syntax::Json ? fmt::format("write \"schema\": {}", version)
                                                              : fmt::format("write 'schema: {}'", version)));
    const std::optional<std::int64_t> number = found.IsScalar() ? parse_integer(found.Scalar()) : std::nullopt;
    if (!number || *number < 1) return Failure(document.error_at(found, "'schema' must be a version number"));
    if (*number > version)
      return Failure(document.error_at(
          found, fmt::format("this file has schema {}, and this kw reads schema {} at most", *number, version),
          "it was written by a newer kw: use that one"));

    const json schema = json::parse(embedded::file(schema_path));
    KW_CHECK(Validator(schema, document, syntax).check(*document.root_, schema, "the file"));
  } catch (const YAML::Exception& error) {
    return Failure(document.error_at(error.mark.line + 1, error.mark.column + 1, "not YAML: " + error.msg));
  }
  return document;
}

}  // namespace kw
