#include "ir/text/lexer.h"

#include <algorithm>

#include "base/text.h"
#include "ir/text/spelling.h"

namespace kw::ir::text {
namespace {

// Far above any op, and low enough that a file given by mistake is refused at once.
constexpr size_t kLongestText = size_t{4} << 20;

// Longer symbols first, so that "<=" is not read as "<" and "=".
constexpr std::string_view kSymbols[] = {"->", "//", "==", "!=", "<=", ">=", "<<", ">>", "(", ")", "[", "]", ",", ":",
                                         ";",  "=",  "<",  ">",  "+",  "-",  "*",  "/",  "%", "^", "&", "|", "~"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Result<std::vector<Token>> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        end_line();
        ++line_, column_ = 1, ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        advance(1);
      } else if (c == '#') {
        advance(std::min(text_.find('\n', at_), text_.size()) - at_);
      } else if (c == '`') {
        KW_CHECK(quoted_name());
      } else if (is_name_start(c)) {
        name();
      } else if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
        KW_CHECK(number());
      } else {
        KW_CHECK(symbol());
      }
    }
    end_line();
    emit(TokenKind::End, 0);
    return std::move(tokens_);
  }

 private:
  void advance(size_t bytes) {
    for (size_t i = 0; i < bytes; ++i, ++at_) {
      if ((static_cast<unsigned char>(text_[at_]) & 0xC0) != 0x80) ++column_;  // not inside a character
    }
  }

  void emit(TokenKind kind, size_t bytes) {
    Token token{kind, text_.substr(at_, bytes), false, line_, column_, column_};
    advance(bytes);
    token.end_column = column_;
    tokens_.push_back(token);
  }

  bool continues() const {
    if (depth_ > 0 || tokens_.empty()) return true;
    const Token& last = tokens_.back();
    if (last.kind == TokenKind::LineEnd) return true;
    return last.kind == TokenKind::Symbol && last.text != ")" && last.text != "]";
  }

  void end_line() {
    if (!continues()) emit(TokenKind::LineEnd, 0);
  }

  Failure error(size_t bytes, std::string message, std::string hint) {
    emit(TokenKind::End, bytes);
    return bad_input(std::move(message), place_of(tokens_.back(), file_), std::move(hint));
  }

  void name() {
    size_t end = at_;
    while (end < text_.size() && (is_name_character(text_[end]) ||
                                  (text_[end] == '.' && end + 1 < text_.size() && is_name_character(text_[end + 1])))) {
      ++end;
    }
    emit(TokenKind::Name, end - at_);
  }

  Status quoted_name() {
    const size_t end = text_.find_first_of("`\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] == '\n') {
      return error(1, "this backquote is not closed", "a name between backquotes ends on its own line");
    }
    if (end == at_ + 1) return error(2, "a name between backquotes cannot be empty", "write a name between them");
    emit(TokenKind::Name, end + 1 - at_);
    Token& token = tokens_.back();
    token.text = token.text.substr(1, token.text.size() - 2);
    token.quoted = true;
    return {};
  }

  Status number() {
    size_t end = at_;
    const auto digits = [&] {
      while (end < text_.size() && is_digit(text_[end])) ++end;
    };
    digits();
    if (end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) {
      ++end;
      digits();
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (exponent < text_.size() && is_digit(text_[exponent])) {
        end = exponent;
        digits();
      }
    }
    if (end < text_.size() && (is_name_character(text_[end]) || text_[end] == '.')) {
      while (end < text_.size() && (is_name_character(text_[end]) || text_[end] == '.')) ++end;
      const std::string all(text_.substr(at_, end - at_));
      return error(end - at_, "'" + all + "' is neither a number nor a name",
                   "numbers are written 2, 0.5 or 1e-6; a name begins with a letter; a product needs its *");
    }
    emit(TokenKind::Number, end - at_);
    return {};
  }

  Status symbol() {
    const std::string_view rest = text_.substr(at_);
    for (std::string_view symbol : kSymbols) {
      if (!rest.starts_with(symbol)) continue;
      if (symbol == ";" && depth_ == 0) {
        end_line();
        advance(1);
        return {};
      }
      if (symbol == "(" || symbol == "[") ++depth_;
      if ((symbol == ")" || symbol == "]") && depth_ > 0) --depth_;
      emit(TokenKind::Symbol, symbol.size());
      return {};
    }
    const unsigned char c = static_cast<unsigned char>(rest.front());
    if (c < 0x20 || c == 0x7F) return error(1, "a control character stands here", "math text is plain text");
    std::string hint = "the operators are + - * / // % ^ & | ~ << >> < <= > >= == !=";
    if (c == '@') hint = "a matrix product is contract(a, b, axis)";
    if (c == '!') hint = "'not' is written ~x, 'not equal' a != b";
    if (c == '"' || c == '\'') hint = "the math has no strings; an odd name stands between backquotes: `two words`";
    return error(1, "the character '" + std::string(1, rest.front()) + "' has no meaning here", std::move(hint));
  }

  std::string_view text_;
  const std::string& file_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  int depth_ = 0;  // open brackets
};

}  // namespace

std::string describe(const Token& token) {
  if (token.kind == TokenKind::End) return "the end of the text";
  if (token.kind == TokenKind::LineEnd) return "the end of the line";
  return "'" + std::string(token.text) + "'";
}

Place place_of(const Token& token, const std::string& file) {
  return {file, token.line, token.column, std::max(token.end_column, token.column + 1)};
}

Result<std::vector<Token>> tokenize(std::string_view text, const std::string& file) {
  if (text.size() > kLongestText) {
    return bad_input("the math text is longer than 4 MB", Place{file}, "one text describes one op");
  }
  if (!is_utf8(text)) {
    return bad_input("the math text is not UTF-8", Place{file}, "save the file as UTF-8 text");
  }
  return Lexer(text, file).run();
}

}  // namespace kw::ir::text
