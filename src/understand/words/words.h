// Reads an op that is described in words ("RMSNorm with offset 1 in Gemma casting", "silu(x) * y") by writing the
// PyTorch source that it means; the static reader goes on from there, and a person can review that source. Every word
// must be understood: a phrase with an unknown word is refused, and one that could mean two things is answered with the
// choices.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace kw::understand {

struct WordsReading {
  std::string name;     // of the function
  std::string meaning;  // what was understood, as one line: "F.silu(x) * y"
  std::string source;   // a whole PyTorch file, with get_inputs()
};

struct WordsAnswer {
  std::vector<WordsReading> readings;  // one: understood; several: the choices
  std::string question;                // with several: what is open
};

Result<WordsAnswer> read_words(std::string_view phrase);

}  // namespace kw::understand
