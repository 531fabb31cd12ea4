// Whole words of generated text: names of variables and sizes, as they stand in expressions.
#pragma once

#include <string>

namespace kw::act {

bool mentions(const std::string& text, const std::string& word);
std::string replace_word(std::string text, const std::string& word, const std::string& by);

}  // namespace kw::act
