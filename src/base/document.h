// A stored document, YAML or JSON, checked against its JSON schema before anything is read from it. The schema file is
// the one truth about keys, required fields and allowed values; the reader behind it only moves checked values into
// structs. What is wrong is told with line and column.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace YAML {
class Node;
}

namespace kw {

class Document {
 public:
  // JSON is read as the YAML that it is, and held to its own grammar: what another reader of JSON would refuse, or
  // read as another type (a quoted number), is refused here too.
  enum class Syntax { Yaml, Json };

  // `schema_path` is the embedded schema's; `version` the newest that this program knows. A document of a newer version
  // is refused by that alone.
  static Result<Document> load(std::string_view text, const std::string& file, std::string_view schema_path,
                               int version, Syntax syntax = Syntax::Yaml);
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  const YAML::Node& root() const;
  const std::string& file() const { return file_; }

  // An error about a place in the document: its line and column, the line shown.
  Error error_at(const YAML::Node& node, std::string message, std::string hint = {}) const;
  Error error_at(int line, int column, std::string message, std::string hint = {}) const;
  // An error about a place in the text that a `|` block holds, shown where that stands in the document; of a scalar
  // that is no such block, at the scalar itself.
  Error error_in_block(const YAML::Node& node, int line, int column, std::string message, std::string hint = {}) const;

 private:
  Document();
  std::unique_ptr<YAML::Node> root_;
  std::string text_;
  std::string file_;
};

}  // namespace kw
