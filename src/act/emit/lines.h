// Lines of generated text, indented as they are opened and closed.
#pragma once

#include <string>
#include <vector>

namespace kw::act {

class Lines {
 public:
  void line(const std::string& text) { lines_.push_back(text.empty() || text[0] == '#' ? text : pad() + text); }
  void open(const std::string& text) {  // "for (…) {"
    line(text);
    ++depth_;
  }
  void close(const std::string& text = "}") {
    --depth_;
    line(text);
  }
  void append(const Lines& other) {  // at the present depth
    for (const std::string& text : other.lines_) line(text);
  }
  void drop_last() { lines_.pop_back(); }
  bool empty() const { return lines_.empty(); }
  const std::vector<std::string>& all() const { return lines_; }
  std::string text() const {
    std::string out;
    for (const std::string& line : lines_) out += line + "\n";
    return out;
  }

 private:
  std::string pad() const { return std::string(static_cast<size_t>(depth_) * 2, ' '); }
  std::vector<std::string> lines_;
  int depth_ = 0;
};

// `head` + items + `tail`, broken after commas where it would be longer than `width`, continued under the bracket
// where the items fit there.
std::string bracketed(const std::string& head, const std::vector<std::string>& items, const std::string& tail,
                      size_t width = 120);
// The same as formatters of Python do it: all in one line, or all in the next one, or each in its own.
std::string python_list(const std::string& head, const std::vector<std::string>& items, const std::string& tail,
                        size_t width = 120);
// Statements of Python that are longer than `width`: what stands in the outermost brackets, or else the right-hand side
// in brackets of its own, goes into lines of its own.
Lines python_wrapped(const Lines& lines, size_t width = 120);
// Statements that are longer than `width` go on in the next line, indented by four more, broken at their operators.
Lines wrapped(const Lines& lines, size_t width = 120);

}  // namespace kw::act
