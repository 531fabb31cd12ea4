// The tokens of a phrase, and the phrase as a whole.
#include "understand/words/phrase.h"

#include <algorithm>

#include "base/text.h"
#include "understand/words/expression_text.h"

namespace kw::understand {

PhraseParser::PhraseParser(std::string_view text, std::map<std::string, std::string> answers)
    : text_(text), tokens_(tokenize(text)), answers_(std::move(answers)) {
  // "gelu after adding the bias": what comes after "after" comes first.
  auto after = std::find_if(tokens_.begin(), tokens_.end(), [](const Token& t) { return t.is("after"); });
  bool several = std::any_of(tokens_.begin(), tokens_.end(), [](const Token& t) { return t.is("then"); });
  if (after != tokens_.end() && after != tokens_.begin() && !std::next(after)->is("that") && !several) {
    size_t last = after - tokens_.begin();
    std::vector<Token> turned(std::next(after), std::prev(tokens_.end()));
    turned.push_back({Token::Kind::Word, "then", after->column});
    turned.insert(turned.end(), tokens_.begin(), tokens_.begin() + static_cast<ptrdiff_t>(last));
    turned.push_back(tokens_.back());
    tokens_ = std::move(turned);
  }
}

// ---- tokens ----
namespace {

bool same_word(const std::string& said, std::string_view word) {
  if (said == word) return true;
  // A plural is the same word.
  return word.size() > 2 && said.size() == word.size() + 1 && said.starts_with(word) && said.back() == 's';
}

}  // namespace

size_t PhraseParser::length_of(std::string_view words, size_t from) const {
  size_t i = from;
  while (!words.empty()) {
    size_t blank = std::min(words.find(' '), words.size());
    std::string_view word = words.substr(0, blank);
    words.remove_prefix(std::min(blank + 1, words.size()));
    if (word == "the" || word == "a" || word == "an") continue;
    // Fillers may stand inside a name: "the weight is stored as an offset".
    while (i > from && i < tokens_.size() && !same_word(tokens_[i].text, word) && is_filler(tokens_[i])) ++i;
    const Token& t = tokens_[std::min(i, tokens_.size() - 1)];
    if (t.kind == Token::Kind::End || !same_word(t.text, word)) return 0;
    ++i;
  }
  return i - from;
}

bool PhraseParser::accept(std::string_view words) {
  size_t n = length_of(words, position_);
  position_ += n;
  return n > 0;
}

bool PhraseParser::accept_any(std::initializer_list<std::string_view> several) {
  size_t longest = 0;
  for (std::string_view words : several) longest = std::max(longest, length_of(words, position_));
  position_ += longest;
  return longest > 0;
}

bool PhraseParser::looking_at_any(std::initializer_list<std::string_view> several) const {
  return std::any_of(several.begin(), several.end(), [&](std::string_view words) { return looking_at(words); });
}

void PhraseParser::go_back(const Mark& to) {
  position_ = to.position;
  phrase_ = to.phrase;
  current_ = to.current;
  halved_ = to.halved;
  antecedent_ = to.antecedent;
  entry_names_ = to.entry_names;
  used_current_ = to.used_current;
  composed_ = to.composed;
}

// A filler that begins the name of an entry is none: "layer norm".
void PhraseParser::skip_fillers() {
  while (is_filler(at())) {
    if (at().is("value") && length_of_variable()) break;
    if (at().is("kernel") && (at(1).kind == Token::Kind::Number || at(1).is("size") || at(1).is("of") || at(1).is("=")))
      break;
    size_t start = position_;
    bool named = match_entry() != nullptr;
    position_ = start;
    if (named) return;
    ++position_;
  }
  furthest_ = std::max(furthest_, position_);
}

Failure PhraseParser::unknown() const {
  const Token& token = tokens_[std::min(std::max(furthest_, position_), tokens_.size() - 1)];
  if (token.kind == Token::Kind::End)
    return bad_input("the phrase ends before it says what to compute", Place{"words", 1, token.column, 0},
                     "name an op, for example \"RMSNorm with offset 1\", or write a formula: \"silu(x) * y\"");
  std::vector<std::string> names;
  for (const WordEntry& e : lexicon())
    for (const std::string& alias : pieces(e.aliases, '|')) names.push_back(alias);
  std::string hint =
      "every word must be understood; describe the op in other words, or give PyTorch code or the math text form";
  std::vector<std::string> near = nearest(token.text, names, 3);
  if (!near.empty()) hint = "did you mean " + join(near, ", ") + "? " + hint;
  return bad_input("'" + token.text + "' is not understood here",
                   Place{"words", 1, token.column, token.column + static_cast<int>(token.text.size())}, hint);
}

Failure PhraseParser::refused(std::string message) const {
  return bad_input(std::move(message), Place{"words", 1, at().column, 0});
}

// The answer to a question, if it was given; else the first choice, and the question stays open.
std::string PhraseParser::choose(const std::string& subject, std::vector<std::string> choices) {
  if (auto answer = answers_.find(subject); answer != answers_.end()) return answer->second;
  std::string first = choices[0];
  if (question_.choices.empty()) question_ = {subject, std::move(choices)};
  return first;
}

std::string PhraseParser::use(std::string name, std::string made_by) {
  for (const auto& [known, how] : phrase_.variables)
    if (known == name) return name;
  phrase_.variables.emplace_back(name, std::move(made_by));
  return name;
}

std::string PhraseParser::once(const std::string& expression) {
  if (is_name(expression)) return expression;
  std::string value = without_outer_parentheses(expression);
  replace_all(value, kKeep, "");
  std::string name = "h" + std::to_string(phrase_.statements.size() + 1);
  phrase_.statements.push_back(name + " = " + value);
  return name;
}

std::string PhraseParser::current() {
  used_current_ = true;
  if (current_.empty()) current_ = use("x", std::string(kMatrix));
  return current_;
}

std::string PhraseParser::combined(std::string left, char op, std::string right) {
  composed_ = true;
  bool left_reduced = left.find(kKeep) != std::string::npos, right_reduced = right.find(kKeep) != std::string::npos;
  if (left_reduced != right_reduced && !is_constant(left) && !is_constant(right)) {
    replace_all(left, kKeep, ", keepdim=True");
    replace_all(right, kKeep, ", keepdim=True");
  }
  // Beside a transpose, "times" may multiply matrices.
  bool transposed = left.ends_with(".transpose(-1, -2)") || right.ends_with(".transpose(-1, -2)");
  if (op == '*' && transposed &&
      choose("what times means beside a transpose", {"of matrices", "of elements"}) == "of matrices")
    op = '@';
  Binding own = op == '+' || op == '-' ? Binding::Sum : Binding::Product;
  Binding tighter = own == Binding::Sum ? Binding::Product : Binding::Atom;
  return parenthesized(left, own) + " " + op + " " + parenthesized(right, tighter);
}

// ---- phrase ----
Result<Phrase> PhraseParser::parse() {
  Result<Phrase> result = read();
  if (question_.choices.empty()) return result;
  return fail(ErrorKind::NeedsApproval, "this could mean several things");
}

bool PhraseParser::both_are_returned() {
  size_t start = position_;
  accept(",");
  accept("and");
  if (accept_any({"hand back both", "give back both", "return both", "returning both", "return sum too",
                  "returning sum too", "giving both", "output both", "also return sum", "also returning sum",
                  "also return residual", "also return updated residual", "also return new residual"})) {
    while (is_filler(at()) || at().is("sum") || at().is("and") || at().is("norm") || at().is("normalized") ||
           at().is("normed") || at().is("results") || at().is("added") || at().is("updated") || at().is("residual") ||
           at().is("new"))
      ++position_;
    return true;
  }
  // "return the normed tensor and the new residual"
  position_ = start;
  accept(",");
  accept("and");
  if (accept_any({"return", "returning", "give", "giving", "output", "outputting"})) {
    bool normed = false, summed = false, joined = false;
    while (true) {
      if (accept_any({"normed", "normalized", "norm", "activated"}))
        normed = true;
      else if (accept_any({"sum", "residual", "updated residual", "new residual", "added residual", "residual sum"}))
        summed = true;
      else if (accept_any({"and", "also", "too", "as well", "both"}))
        joined = true;
      else if (is_filler(at()))
        ++position_;
      else
        break;
    }
    if (normed && summed && joined) return true;
  }
  position_ = start;
  return false;
}

bool PhraseParser::connector() {
  bool connected = false;
  while (accept_any({",", ";", ":", "and then", "then", "followed by", "and finally", "finally", "after that", "before",
                     "and", "afterwards", "next", "passed through", "fed into", "fed to", "put through", "goes through",
                     "into"}))
    connected = true;
  return connected;
}

Result<Phrase> PhraseParser::read() {
  // "f(x) = …" and "y = …" only give a name to what follows.
  for (size_t i = 1; i + 1 < tokens_.size() && i < 8; ++i)
    if (tokens_[i].is("=") && tokens_[0].kind == Token::Kind::Word && tokens_[0].text.size() <= 12 &&
        (i == 1 || (tokens_[i - 1].is(")") && tokens_[1].is("(")))) {
      position_ = i + 1;
      break;
    }
  bool both = false;
  KW_CHECK(stage());
  while (true) {
    skip_fillers();
    if (both_are_returned()) {
      both = true;
      continue;
    }
    if (at().kind == Token::Kind::End) break;
    bool connected = connector();
    skip_fillers();
    if (said_of_all()) continue;
    // "max(0, 1 - x * y) averaged over the last axis"
    bool participle = looking_at_any(
        {"averaged", "summed", "clipped", "clamped", "exponentiated", "normalized", "rounded", "negated"});
    if ((!connected && !participle) || at().kind == Token::Kind::End) return unknown();
    if (looking_at("return") || looking_at("returning")) continue;
    before_last_ = once(current());
    current_ = before_last_;
    KW_CHECK(stage());
  }
  if (said_of_all_.size() > used_of_all_.size()) {
    if (again_) return unknown();
    // What was said of the whole phrase is read again, now with it.
    PhraseParser again(text_, answers_);
    again.said_of_all_ = said_of_all_;
    again.again_ = true;
    Result<Phrase> read = again.read();
    question_ = again.question_;
    return read;
  }
  if (both && before_last_.empty()) return unknown();
  phrase_.results = both ? std::vector{current_, before_last_} : std::vector{current_};
  for (std::string& result : phrase_.results) replace_all(result, kKeep, "");
  drop_unused();
  if (phrase_.variables.empty()) return refused("the phrase computes from no tensor");
  if (entry_names_.size() == 1 && !composed_)
    phrase_.name = entry_names_[0];
  else
    for (const Token& t : tokens_)
      if (t.kind == Token::Kind::Word && !is_filler(t) && phrase_.name.size() < 40)
        phrase_.name += (phrase_.name.empty() ? "" : "_") + t.text;
  std::erase(phrase_.name, '\'');
  if (phrase_.name.empty() || phrase_.name[0] < 'a') phrase_.name = "op";
  for (const auto& [variable, made_by] : phrase_.variables)
    if (variable == phrase_.name) phrase_.name += "_op";
  if (phrase_.name == "lambda") phrase_.name = "op";
  return phrase_;
}

// Readings that were given up may have named tensors and steps.
void PhraseParser::drop_unused() {
  auto used = [&](const std::string& name, size_t from) {
    auto mentions = [&](const std::string& text) {
      for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        auto part = [&](size_t k) {
          return k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_');
        };
        bool attribute = at > 0 && text[at - 1] == '.';
        if (!(at > 0 && part(at - 1)) && !part(at + name.size()) && !attribute) return true;
      }
      return false;
    };
    for (size_t i = from; i < phrase_.statements.size(); ++i)
      if (std::string value = phrase_.statements[i]; mentions(value.substr(value.find('=') + 1))) return true;
    return std::any_of(phrase_.results.begin(), phrase_.results.end(), mentions);
  };
  for (size_t i = phrase_.statements.size(); i-- > 0;)
    if (std::string name = phrase_.statements[i].substr(0, phrase_.statements[i].find(' ')); !used(name, i + 1))
      phrase_.statements.erase(phrase_.statements.begin() + static_cast<ptrdiff_t>(i));
  std::erase_if(phrase_.variables, [&](const auto& variable) { return !used(variable.first, 0); });
  for (auto& [variable, made_by] : phrase_.variables)
    if (made_by == kMatrix && rank_ > 2)
      made_by = rank_ == 3 ? "torch.randn(planes, rows, cols)" : "torch.randn(blocks, planes, rows, cols)";
}

// ", eps = 1e-5" and "on the last axis" at the end of a formula speak of whatever in it takes them.
bool PhraseParser::said_of_all() {
  size_t start = position_;
  accept_any({"with", "using", "for", "at", "where"});
  for (std::string_view name : {"eps", "epsilon", "temperature"}) {
    if (!accept(name)) continue;
    accept_any({"=", "of"});
    if (std::optional<std::string> value = number()) {
      said_of_all_[name == "epsilon" ? "eps" : std::string(name)] = *value;
      return true;
    }
  }
  position_ = start;
  if (std::optional<std::string> dim = axis(nullptr)) {
    said_of_all_["axis"] = *dim;
    return true;
  }
  position_ = start;
  if (declaration()) return true;
  position_ = start;
  return false;
}

// "with per-channel a", "where alpha is learned": what a variable of the formula is.
bool PhraseParser::declaration() {
  accept_any({"with", "where", "given", "using", "for"});
  std::string made_by, name;
  auto described = [&] {
    bool any = false;
    while (true) {
      if (accept_any({"per channel", "per feature", "channelwise", "channel wise", "row vector"}))
        made_by = kRow;
      else if (accept("scalar"))
        made_by = kScalar;
      else if (!accept_any(
                   {"learned", "learnable", "trainable", "parameter", "is", "are", "same shape", "of same shape"}))
        break;
      any = true;
    }
    return any;
  };
  bool before = described();
  for (auto& [variable, how] : phrase_.variables)
    if (at().is(variable)) name = variable;
  if (said_of_all_.contains("the number " + at().text)) name = at().text;
  if (name.empty()) return false;
  ++position_;
  if (made_by.empty() && accept_any({"=", "is", "equal to", "equals", "being", "set to"})) {
    if (std::optional<std::string> value = number()) {
      said_of_all_["the number " + name] = *value;
      return true;
    }
    return false;
  }
  bool behind = described();
  for (auto& [variable, how] : phrase_.variables)
    if (variable == name && !made_by.empty()) how = made_by;
  return before || behind;
}

}  // namespace kw::understand
