// The user's Python files as syntax trees. A resident child process with CPython's own parser gives the grammar; it
// starts with the first file and answers for all of them. Nothing of a file is run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "understand/python/ast.h"

namespace kw::understand::python {

inline constexpr size_t kLargestSource = size_t{8} << 20;

struct SourceFile {
  std::string path;  // as the user wrote it, or as an import found it: shown in messages
  std::string text;
  int index = 0;           // among the files read, in the order of reading
  Block body;              // top-level classes and functions are stubs until `definition` is asked
  bool is_option = false;  // the text of a command-line option, no file of the user's

  Place place(const Span& span) const;               // columns in characters
  std::string_view excerpt(const Span& span) const;  // the text of a span
};

class SourceReader {
 public:
  Result<SourceFile*> open(const std::string& path);                         // the same file twice is one SourceFile
  Result<SourceFile*> open_text(const std::string& path, std::string text);  // text that has no file (stdin)
  // The whole class or function behind a stub; `stub` must be a statement of `file.body`.
  Result<const Stmt*> definition(const SourceFile& file, const Stub& stub);
  const std::vector<std::unique_ptr<SourceFile>>& files() const { return files_; }

 private:
  Result<std::string> ask(const std::string& request);

  std::optional<Child> parser_;
  std::vector<std::unique_ptr<SourceFile>> files_;
  std::map<std::string, SourceFile*> by_path_;
  std::map<std::pair<int, int64_t>, std::unique_ptr<Stmt>> definitions_;
};

}  // namespace kw::understand::python
