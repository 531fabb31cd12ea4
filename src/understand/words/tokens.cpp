#include "understand/words/tokens.h"

#include <algorithm>
#include <cctype>

namespace kw::understand {
namespace {

struct Spelling {
  std::string_view from;
  std::string_view to;
};

constexpr Spelling kTypography[] = {
    {"²", " squared "},    {"³", " cubed "}, {"×", " * "},    {"·", " * "},
    {"⊙", " * "},          {"−", "-"},       {"–", "-"},      {"√", " sqrt "},
    {"σ", "sigmoid"},      {"ε", "eps"},     {"α", "alpha"},  {"β", "beta"},
    {"γ", "gamma"},        {"δ", "delta"},   {"λ", "lambda"}, {"τ", "tau"},
    {"→", " then "},       {"’", "'"},       {"“", " "},      {"”", " "},
    {"∑", " sum "},        {"Σ", " sum "},   {"**", "^"},     {"->", " then "},
    {"=>", " then "},      {"∘", " of "},    {"÷", " / "},    {"≥", ">="},
    {"≤", "<="},           {"π", " pi "},    {"½", " 0.5 "},  {"θ", "theta"},
    {"&", " and "},        {"⁴", "^4"},      {"∗", " * "},    {"⋅", " * "},
    {"ᵀ", " transposed "},
};

// One spelling for each word: American, and the noun of the verb's British form.
std::string american(std::string word) {
  constexpr Spelling kStems[] = {{"normalis", "normaliz"},  {"standardis", "standardiz"},  {"centre", "center"},
                                 {"centring", "centering"}, {"regularis", "regulariz"},    {"linearis", "lineariz"},
                                 {"neighbour", "neighbor"}, {"parameteris", "parameteriz"}};
  for (const Spelling& stem : kStems)
    if (size_t at = word.find(stem.from); at != std::string::npos) word.replace(at, stem.from.size(), stem.to);
  return word;
}

// Where a function lives says nothing about what it is: torch.nn.functional.silu is silu.
constexpr std::string_view kModules[] = {"torch", "nn",  "functional", "f",       "np",    "numpy",
                                         "jnp",   "jax", "math",       "special", "linalg"};

// "2d", "3x3" and "1st" are words that begin with a digit.
size_t length_of_numbered_word(std::string_view text) {
  for (std::string_view word : {"0th", "1st", "2nd", "3rd", "1d", "2d", "3d"})
    if (text.starts_with(word) &&
        (text.size() == word.size() || !std::isalnum(static_cast<unsigned char>(text[word.size()]))))
      return word.size();
  size_t n = 0;
  while (n < text.size() && std::isdigit(static_cast<unsigned char>(text[n]))) ++n;
  size_t first = n;
  if (n < text.size() && text[n] == 'x') ++n;
  size_t second = n;
  while (n < text.size() && std::isdigit(static_cast<unsigned char>(text[n]))) ++n;
  return first > 0 && second == first + 1 && n > second ? n : 0;
}

std::string plain(std::string_view phrase) {
  std::string out;
  for (size_t i = 0; i < phrase.size();) {
    auto at = std::find_if(std::begin(kTypography), std::end(kTypography),
                           [&](const Spelling& s) { return phrase.substr(i).starts_with(s.from); });
    if (at != std::end(kTypography)) {
      out += at->to;
      i += at->from.size();
    } else {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(phrase[i])));
      ++i;
    }
  }
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

constexpr std::string_view kFillers[] = {
    "function",   "functions",    "activation",  "activations", "op",         "operation",   "operator",
    "kernel",     "please",       "compute",     "computes",    "computing",  "apply",       "applied",
    "applies",    "applying",     "implement",   "calculate",   "calculates", "take",        "takes",
    "taking",     "result",       "tensor",      "tensors",     "values",     "value",       "it",
    "simple",     "standard",     "plain",       "usual",       "fused",      "custom",      "gpu",
    "i",          "want",         "need",        "me",          "give",       "write",       "some",
    "pointwise",  "nonlinearity", "nonlinear",   "this",        "that",       "layer",       "do",
    "would",      "perform",      "which",       "is",          "be",         "my",          "we",
    "elements",   "vector",       "vectors",     "entry",       "entries",    "just",        "them",
    "here",       "element",      "called",      "known",       "as",         "aka",         "output",
    "outputs",    "computed",     "unit",        "block",       "module",     "elementwise", "are",
    "following",  "basic",        "there",       "so",          "create",     "make",        "build",
    "implements", "classic",      "ordinary",    "whose",       "regular",    "vanilla",     "nonlinearities",
    "performs",   "performing",   "numerically", "stable",      "us",
};

}  // namespace

std::vector<Token> tokenize(std::string_view phrase) {
  std::string text = plain(phrase);
  std::vector<Token> tokens;
  size_t i = 0;
  auto push = [&](Token::Kind kind, size_t length) {
    tokens.push_back({kind, text.substr(i, length), static_cast<int>(i) + 1});
    i += length;
  };
  while (i < text.size()) {
    char c = text[i];
    if (size_t numbered = is_digit(c) ? length_of_numbered_word(std::string_view(text).substr(i)) : 0) {
      push(Token::Kind::Word, numbered);
      continue;
    }
    bool number = is_digit(c) || (c == '.' && i + 1 < text.size() && is_digit(text[i + 1]));
    // A sign belongs to the number if nothing that could be its left operand stands before it.
    if (c == '-' && i + 1 < text.size() && (is_digit(text[i + 1]) || text[i + 1] == '.'))
      number = tokens.empty() || tokens.back().is("=") || tokens.back().is("(") || tokens.back().is(",") ||
               tokens.back().is("[") || tokens.back().is("and") || tokens.back().is("to") || tokens.back().is("from") ||
               tokens.back().is("between") || tokens.back().is("dim") || tokens.back().is("axis") ||
               tokens.back().is("dimension") || tokens.back().is("of");
    if (number && c == '-' && i > 0 && is_letter(text[i - 1])) number = false;
    if (number) {
      size_t end = i + 1;
      while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
      if (text[end - 1] == '.') --end;  // the end of a sentence
      if (end + 1 < text.size() && text[end] == 'e' &&
          (is_digit(text[end + 1]) || (text[end + 1] == '-' && end + 2 < text.size() && is_digit(text[end + 2])))) {
        end += 2;
        while (end < text.size() && is_digit(text[end])) ++end;
      }
      push(Token::Kind::Number, end - i);
    } else if (is_letter(c)) {
      size_t end = i;
      while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]) ||
                                   (text[end] == '\'' && end + 1 < text.size() && is_letter(text[end + 1]))))
        ++end;
      bool dotted = end + 1 < text.size() && text[end] == '.' && is_letter(text[end + 1]);
      std::string_view word = std::string_view(text).substr(i, end - i);
      if (dotted && std::find(std::begin(kModules), std::end(kModules), word) != std::end(kModules)) {
        i = end + 1;
        continue;
      }
      push(Token::Kind::Word, end - i);
      tokens.back().text = american(tokens.back().text);
    } else if (c == '.' && i > 0 && i + 1 < text.size() && is_letter(text[i + 1]) &&
               (is_letter(text[i - 1]) || text[i - 1] == ')')) {
      push(Token::Kind::Symbol, 1);
    } else if ((c == '>' || c == '<' || c == '=') && i + 1 < text.size() && text[i + 1] == '=') {
      push(Token::Kind::Symbol, 2);
    } else if (c == '-' && i > 0 && is_letter(text[i - 1]) && i + 1 < text.size() && is_digit(text[i + 1]) &&
               !tokens.empty() &&
               (tokens.back().is("dim") || tokens.back().is("axis") || tokens.back().is("dimension"))) {
      push(Token::Kind::Word, 2);  // "dim-1": 1 or -1? No word means that
    } else if (c == '-') {
      // Inside a compound word a hyphen only separates.
      bool compound = i > 0 && i + 1 < text.size() && (is_letter(text[i - 1]) || is_digit(text[i - 1])) &&
                      is_letter(text[i + 1]) && !(i >= 2 ? (!is_letter(text[i - 2]) && !is_digit(text[i - 2])) : true);
      compound = compound || (i > 0 && i + 1 < text.size() && is_letter(text[i - 1]) && is_letter(text[i + 1]) &&
                              i + 2 < text.size() && is_letter(text[i + 2]));
      if (compound)
        ++i;
      else
        push(Token::Kind::Symbol, 1);
    } else if (std::string_view("+*/^()=,[]:;").find(c) != std::string_view::npos) {
      push(Token::Kind::Symbol, 1);
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      size_t end = i + 1;
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      push(Token::Kind::Symbol, end - i);
    } else if (std::string_view("|<>!@#$%&~{}\\").find(c) != std::string_view::npos) {
      push(Token::Kind::Symbol, 1);
    } else {
      ++i;  // blanks, quotes, full stops, underscores
    }
  }
  // Articles drop out. "a" is a variable inside a formula, and where no word follows that it could belong to.
  constexpr std::string_view kAfterVariable[] = {"times",   "plus",       "minus",  "and",        "squared", "cubed",
                                                 "divided", "multiplied", "over",   "then",       "against", "with",
                                                 "to",      "vs",         "versus", "transposed", "along",   "followed",
                                                 "gated",   "dot",        "or",     "from",       "by",      "across"};
  std::vector<Token> kept;
  for (size_t k = 0; k < tokens.size(); ++k) {
    const Token& t = tokens[k];
    if (t.is("the") || t.is("an")) continue;
    if (t.is("a")) {
      const Token* next = k + 1 < tokens.size() ? &tokens[k + 1] : nullptr;
      bool formula =
          k > 0 && tokens[k - 1].kind == Token::Kind::Symbol && !tokens[k - 1].is(",") && !tokens[k - 1].is(":");
      bool goes_on =
          next && (next->kind == Token::Kind::Number || (next->kind == Token::Kind::Word && next->text.size() > 1 &&
                                                         std::find(std::begin(kAfterVariable), std::end(kAfterVariable),
                                                                   next->text) == std::end(kAfterVariable)));
      if (goes_on && !(formula && next->kind == Token::Kind::Number)) continue;
    }
    kept.push_back(t);
  }
  kept.push_back({Token::Kind::End, "", static_cast<int>(text.size()) + 1});
  return kept;
}

bool is_filler(const Token& token) {
  return token.kind == Token::Kind::Word &&
         std::find(std::begin(kFillers), std::end(kFillers), token.text) != std::end(kFillers);
}

}  // namespace kw::understand
