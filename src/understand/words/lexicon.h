// The words by which engineers name tensor operations, and what each means as a PyTorch expression.
//
// An entry's meaning has holes: {x} and {y} are its operands, {w} and {b} its learnable weight and bias, {dim} the
// axis, {reduction} that of a loss, and {eps} or any other name a number: `numbers` gives its default, or
// ! for a number that must be said. A reading that two engineers would
// understand differently is no entry but a list of choices.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw::understand {

enum class WordForm : unsigned char {
  Pointwise,  // {x} alone
  Along,      // {x} along {dim}, same shape
  Reduction,  // {x} along {dim}, or of everything
  Pair,       // {x} and {y}
  Norm,       // {x} with {w} and {b}
  Loss,       // {x} and {y}, then a reduction of the elements
  Table,      // {x} indexes or is joined with further tensors that the meaning names
  Window,     // {x} under a window that slides over its last axes
};

struct WordEntry {
  std::string_view name;     // canonical: the function's name, with underscores
  std::string_view aliases;  // separated by |, lower case, without hyphens
  WordForm form;
  std::string_view meaning;
  std::string_view numbers = {};  // "eps=1e-6 offset=0"
  std::string_view options = {};  // words that select a variant: "tanh approximation:gelu_tanh|exact:gelu_erf"
  std::string_view choices = {};  // names of the entries that it could mean, separated by |
  std::string_view makers = {};   // how get_inputs() makes its tensors, where not as a matrix: "y=torch.rand(cols)|…"
};

std::span<const WordEntry> lexicon();  // all of the four
std::span<const WordEntry> functions_lexicon();
std::span<const WordEntry> axes_lexicon();
std::span<const WordEntry> losses_lexicon();
std::span<const WordEntry> tensors_lexicon();
const WordEntry* find_entry(std::string_view name);

// The pieces of "a|b|c".
std::vector<std::string> pieces(std::string_view text, char separator);

}  // namespace kw::understand
