// Cuts math text into tokens, each with its place in the text.
//
// A line ends a statement unless a bracket is open or the line ends with a comma or an operator; outside brackets a
// semicolon ends one too. A comment runs from # to the end of its line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw::ir::text {

enum class TokenKind { Name, Number, Symbol, LineEnd, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;  // of a quoted name: what stands between the backquotes
  bool quoted = false;
  int line = 1;
  int column = 1;  // in characters
  int end_column = 1;

  bool is(std::string_view symbol) const { return kind == TokenKind::Symbol && text == symbol; }
  bool is_word(std::string_view word) const { return kind == TokenKind::Name && !quoted && text == word; }
};

std::string describe(const Token& token);  // "'rows'", "the end of the line": for messages

Place place_of(const Token& token, const std::string& file);

// The tokens of the text, which must outlive them; the last is End.
Result<std::vector<Token>> tokenize(std::string_view text, const std::string& file);

}  // namespace kw::ir::text
