#include "act/emit/words.h"

#include <cctype>

namespace kw::act {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

size_t find_word(const std::string& text, const std::string& word, size_t from = 0) {
  for (size_t at = text.find(word, from); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const size_t end = at + word.size();
    if (begins && (end == text.size() || !is_word(text[end]))) return at;
  }
  return std::string::npos;
}

}  // namespace

bool mentions(const std::string& text, const std::string& word) { return find_word(text, word) != std::string::npos; }

std::string replace_word(std::string text, const std::string& word, const std::string& by) {
  for (size_t at = find_word(text, word); at != std::string::npos; at = find_word(text, word, at + by.size()))
    text.replace(at, word.size(), by);
  return text;
}

}  // namespace kw::act
