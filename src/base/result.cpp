#include "base/result.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"

namespace kw {
namespace {

// A line longer than this is shown as a window around the caret.
constexpr int kShownWidth = 160;

std::string place_text(const Place& place) {
  std::string text = place.file.empty() ? "<input>" : place.file;
  if (place.line > 0) text += ":" + std::to_string(place.line);
  if (place.line > 0 && place.column > 0) text += ":" + std::to_string(place.column);
  return text;
}

// The source line and, below it, a caret under the column and tildes to the end of the span.
std::string show_line(const Place& place, std::string_view line) {
  std::vector<std::string_view> characters = code_points(line);
  const int size = static_cast<int>(characters.size());
  const int column = std::min(place.column, size + 1);
  int first = 0, last = size;
  std::string before, after;
  if (size > kShownWidth) {
    first = std::clamp(column - kShownWidth / 2, 0, size - kShownWidth);
    last = first + kShownWidth;
    before = first > 0 ? "..." : "";
    after = last < size ? "..." : "";
  }
  std::string shown = before, marks(before.size(), ' ');
  for (int i = first; i < last; ++i) {
    const bool control = characters[i].size() == 1 && static_cast<unsigned char>(characters[i][0]) < 0x20;
    const bool tab = characters[i] == "\t";
    shown += control && !tab ? std::string_view("?") : characters[i];
    if (i < column - 1) marks += tab ? '\t' : ' ';
  }
  shown += after + "\n";
  if (place.column <= 0) return shown;
  const int end = std::clamp(place.end_column, column + 1, std::max(last + 1, column + 1));
  return shown + marks + "^" + std::string(end - column - 1, '~') + "\n";
}

}  // namespace

std::string render(const Error& error) {
  std::string text = error.place ? place_text(*error.place) : "kw";
  text += ": error: " + error.message + "\n";
  if (error.place && !error.source_line.empty()) text += show_line(*error.place, error.source_line);
  if (!error.hint.empty()) text += "hint: " + error.hint + "\n";
  return text;
}

Error with_source(Error error, std::string_view text) {
  if (!error.place || error.place->line <= 0) return error;
  for (int line = 1; line < error.place->line; ++line) {
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return error;
    text.remove_prefix(newline + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  error.source_line = text;
  return error;
}

Failure fail(ErrorKind kind, std::string message, std::string hint) {
  return Failure(Error{kind, std::move(message), {}, {}, std::move(hint)});
}

Failure bad_input(std::string message, std::optional<Place> place, std::string hint) {
  return Failure(Error{ErrorKind::BadInput, std::move(message), std::move(place), {}, std::move(hint)});
}

Failure missing_tool(std::string message, std::string hint) {
  return fail(ErrorKind::MissingTool, std::move(message), std::move(hint));
}

void assertion_failed(const char* file, int line, const char* condition, std::string_view reason) {
  std::fprintf(stderr, "kw: bug at %s:%d: %.*s (%s is false)\n", file, line, static_cast<int>(reason.size()),
               reason.data(), condition);
  std::abort();
}

}  // namespace kw
