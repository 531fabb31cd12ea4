// A phrase as tokens: lower-case words (hyphens and underscores separate), numbers, and symbols. Typographic spellings
// of mathematics (², ×, σ) become the words or symbols that they stand for; articles and words without meaning for the
// op drop out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::understand {

struct Token {
  enum class Kind : unsigned char { Word, Number, Symbol, End } kind = Kind::End;
  std::string text;
  int column = 0;  // in the phrase, from 1

  bool is(std::string_view word) const { return text == word && kind != Kind::Number && kind != Kind::End; }
};

// Ends with an End token.
std::vector<Token> tokenize(std::string_view phrase);

// Words that say nothing about the math ("please", "kernel"): they may stand anywhere.
bool is_filler(const Token& token);

}  // namespace kw::understand
