// Skeletons: real source files under templates/ that frame generated kernels. What lies between the lines `// skeleton
// NAME` and `// end` is copied; its holes are filled. A hole is a macro call, so that the file compiles as it stands
// (templates/cpu/holes.h says how the compiler reads each), and its kind says what may stand in it:
//
//   KW_NAME(kernel)          an identifier
//   KW_EXPRESSION(rows)      an expression
//   KW_LIST(parameters)      things between commas, possibly over several lines
//   KW_CLAUSES(reductions)   clauses of a pragma, or nothing
//   KW_STATEMENTS(body)      whole lines, on a line of its own; nothing removes the line, and a loop around it alone
//   KW_LOOPS(parallel)       loop headers, one per line, each around the next
//
// In Python, where a call may not stand in the place of a name, a hole is written KW_NAME_kernel.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "act/emit/lines.h"

namespace kw::act {

class Skeleton {
 public:
  // `file` is an embedded file: "templates/cpu/row.cpp". A hole that is unknown or stays empty is a bug.
  static Skeleton load(std::string_view file, std::string_view name);
  // From the text of a skeleton, for tests.
  explicit Skeleton(std::string text) : text_(std::move(text)) {}

  Skeleton& name(const std::string& hole, std::string text);
  Skeleton& expression(const std::string& hole, std::string text);
  Skeleton& list(const std::string& hole, std::vector<std::string> items);
  Skeleton& clauses(const std::string& hole, std::string text);
  Skeleton& statements(const std::string& hole, const Lines& lines);
  Skeleton& loops(const std::string& hole, std::vector<std::string> headers);
  std::string words() const;  // its text and all that fills it so far, in no order: what names does it mention?
  Lines fill() const;

 private:
  struct Filling {
    std::string kind;
    std::string text;                // in a line
    std::vector<std::string> lines;  // KW_STATEMENTS, KW_LOOPS, KW_LIST
  };
  Skeleton& put(const std::string& hole, Filling filling);
  bool python_ = false;
  std::string text_;
  std::map<std::string, Filling> fillings_;
};

}  // namespace kw::act
