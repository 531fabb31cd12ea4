#include "understand/words/phrase.h"

#include <algorithm>

#include "base/text.h"

namespace kw::understand {
namespace {

constexpr std::string_view kMatrix = "torch.randn(rows, cols)";
constexpr std::string_view kRow = "torch.randn(cols)";

const WordEntry* find_entry(std::string_view name) {
  for (const WordEntry& e : lexicon())
    if (e.name == name) return &e;
  return nullptr;
}

std::vector<std::string> parts(std::string_view text, char separator) {
  std::vector<std::string> out;
  size_t start = 0;
  while (start <= text.size() && !text.empty()) {
    size_t end = text.find(separator, start);
    if (end == std::string_view::npos) end = text.size();
    if (end > start) out.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

// Words for the numbers that entries take; which of them applies follows from the entry at hand.
struct NumberName {
  std::string_view words;
  std::string_view number;
};
constexpr NumberName kNumberNames[] = {
    {"negative slope", "slope"},
    {"slope", "slope"},
    {"leak", "slope"},
    {"alpha", "slope"},
    {"epsilon", "eps"},
    {"eps", "eps"},
    {"alpha", "alpha"},
    {"beta", "beta"},
    {"soft cap", "cap"},
    {"softcap", "cap"},
    {"cap", "cap"},
    {"capped", "cap"},
    {"limit", "cap"},
    {"temperature", "temperature"},
    {"temp", "temperature"},
    {"tau", "temperature"},
    {"t", "temperature"},
    {"weight offset", "offset"},
    {"offset", "offset"},
    {"delta", "delta"},
    {"threshold", "delta"},
    {"margin", "margin"},
    {"threshold", "threshold"},
    {"lambda", "lambda"},
    {"lambd", "lambda"},
    {"threshold", "lambda"},
    {"minimum", "min"},
    {"min", "min"},
    {"lower bound", "min"},
    {"maximum", "max"},
    {"max", "max"},
    {"upper bound", "max"},
    {"gamma", "gamma"},
    {"weight", "weight"},
};

bool takes_number(const WordEntry& word, std::string_view name) {
  for (const std::string& n : parts(word.numbers, ' '))
    if (n.substr(0, n.find_first_of("=!")) == name) return true;
  return false;
}

// A reduction's result meets its operand's shape again in a binary op: only there does it keep the reduced dimension.
constexpr std::string_view kKeep = "{keep}";

bool is_number(const std::string& expression) {
  return std::all_of(expression.begin(), expression.end(),
                     [](unsigned char c) { return std::isdigit(c) || c == '.' || c == '-' || c == 'e'; });
}

bool is_name(const std::string& expression) {
  return std::all_of(expression.begin(), expression.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

size_t count_of(std::string_view text, std::string_view part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

std::string PhraseParser::combined(std::string left, std::string_view op, std::string right) {
  composed_ = true;
  bool left_reduced = left.find(kKeep) != std::string::npos, right_reduced = right.find(kKeep) != std::string::npos;
  if (left_reduced != right_reduced && !is_number(left) && !is_number(right)) {
    replace_all(left, kKeep, ", keepdim=True");
    replace_all(right, kKeep, ", keepdim=True");
  }
  return left + std::string(op) + right;
}

PhraseParser::PhraseParser(std::string_view text, std::map<std::string, std::string> answers)
    : text_(text), tokens_(tokenize(text)), answers_(std::move(answers)) {}

size_t PhraseParser::length_of(std::string_view words, size_t from) const {
  size_t i = from;
  for (const std::string& word : parts(words, ' ')) {
    if (word == "the" || word == "a" || word == "an") continue;
    const Token& t = tokens_[std::min(i, tokens_.size() - 1)];
    if (t.kind == Token::Kind::End || t.text != word) return 0;
    ++i;
  }
  return i - from;
}

bool PhraseParser::accept(std::string_view words) {
  size_t n = length_of(words, position_);
  position_ += n;
  return n > 0;
}

// A filler that begins the name of an entry is none: "layer norm".
void PhraseParser::skip_fillers() {
  while (is_filler(at())) {
    size_t start = position_;
    bool named = match_entry() != nullptr;
    position_ = start;
    if (named) return;
    ++position_;
  }
}

Failure PhraseParser::unknown() const {
  if (at().kind == Token::Kind::End)
    return bad_input("the phrase ends before it says what to compute", Place{"words", 1, at().column, 0},
                     "name an op, for example \"RMSNorm with offset 1\", or write a formula: \"silu(x) * y\"");
  std::vector<std::string> names;
  for (const WordEntry& e : lexicon())
    for (const std::string& alias : parts(e.aliases, '|')) names.push_back(alias);
  std::string hint =
      "every word must be understood; describe the op in other words, or give PyTorch code or the math text form";
  std::vector<std::string> near = nearest(at().text, names, 3);
  if (!near.empty()) hint = "did you mean " + join(near, ", ") + "? " + hint;
  return bad_input("'" + at().text + "' is not understood here",
                   Place{"words", 1, at().column, at().column + static_cast<int>(at().text.size())}, hint);
}

Failure PhraseParser::ask(std::string subject, std::vector<std::string> choices) {
  question_ = {std::move(subject), std::move(choices)};
  return fail(ErrorKind::NeedsApproval, "this could mean several things");
}

std::string PhraseParser::use(std::string name, std::string made_by) {
  for (const auto& [known, how] : phrase_.variables)
    if (known == name) return name;
  phrase_.variables.emplace_back(name, std::move(made_by));
  return name;
}

std::string PhraseParser::once(const std::string& expression) {
  if (is_name(expression)) return expression;
  std::string value = expression;
  replace_all(value, kKeep, "");
  std::string name = "h" + std::to_string(phrase_.statements.size() + 1);
  phrase_.statements.push_back(name + " = " + value);
  return name;
}

std::string PhraseParser::current() {
  if (current_.empty()) current_ = use("x", std::string(kMatrix));
  return current_;
}

// ---- phrase and stages ----
Result<Phrase> PhraseParser::parse() {
  // "f(x) = …" and "y = …" only give a name to what follows.
  for (size_t i = 0; i + 1 < tokens_.size() && i < 6; ++i)
    if (tokens_[i].is("=") && i > 0 && tokens_[i - 1].kind != Token::Kind::Number &&
        (i == 1 || tokens_[i - 1].is(")"))) {
      position_ = i + 1;
      break;
    }
  bool both = false;
  KW_CHECK(stage());
  while (true) {
    skip_fillers();
    if (accept("return both") || accept("returning both") || accept("and return both") ||
        accept("and returning both") || accept("return sum too") || accept("returning sum too") ||
        accept(", return both")) {
      both = true;
      while (is_filler(at()) || at().is("sum") || at().is("and") || at().is("norm") || at().is("normalized") ||
             at().is("normed") || at().is("results") || at().is("added"))
        ++position_;
      continue;
    }
    if (at().kind == Token::Kind::End) break;
    bool connected = false;
    while (accept(",") || accept(";") || accept("and then") || accept("then") || accept("followed by") ||
           accept("and finally") || accept("finally") || accept("after that") || accept("before") || accept("and"))
      connected = true;
    if (!connected) return unknown();
    skip_fillers();
    if (looking_at("return") || looking_at("returning")) continue;
    before_last_ = once(current());
    current_ = before_last_;
    KW_CHECK(stage());
  }
  if (both) {
    if (before_last_.empty()) return unknown();
    phrase_.results = {current_, before_last_};
  } else {
    phrase_.results = {current_};
  }
  for (std::string& result : phrase_.results) replace_all(result, kKeep, "");
  if (entry_names_.size() == 1 && !composed_)
    phrase_.name = entry_names_[0];
  else
    for (const Token& t : tokens_)
      if (t.kind == Token::Kind::Word && !is_filler(t) && phrase_.name.size() < 40)
        phrase_.name += (phrase_.name.empty() ? "" : "_") + t.text;
  std::erase(phrase_.name, '\'');
  if (phrase_.name.empty()) phrase_.name = "op";
  return phrase_;
}

Status PhraseParser::stage() {
  skip_fillers();
  struct Verb {
    std::string_view words;
    char op;
  };
  constexpr Verb kVerbs[] = {{"multiply by", '*'}, {"multiply with", '*'}, {"multiplied by", '*'}, {"scale by", '*'},
                             {"scaled by", '*'},   {"gate with", '*'},     {"gate by", '*'},       {"gated by", '*'},
                             {"times", '*'},       {"divide by", '/'},     {"divided by", '/'},    {"subtract", '-'},
                             {"minus", '-'},       {"add", '+'},           {"plus", '+'},          {"adding", '+'}};
  for (const Verb& verb : kVerbs) {
    if (verb.op == '/' && (looking_at("divide by sum") || looking_at("divide by its sum"))) continue;
    if (verb.op == '-' && looking_at("subtract mean")) continue;
    if (verb.words == "add" && looking_at("add up")) continue;
    if (!accept(verb.words)) continue;
    skip_fillers();
    std::string left = current();
    KW_TRY(std::string right, product());
    // "add y to x", "subtract y from x": the variable named last is the left operand.
    if ((verb.op == '+' && accept("to")) || (verb.op == '-' && accept("from"))) {
      KW_TRY(left, product());
    }
    current_ = combined(left, std::string(" ") + verb.op + " ", right);
    return {};
  }
  // "divide x by its norm", "multiply x by y", "subtract y from x"
  constexpr Verb kTransitive[] = {{"divide", '/'}, {"multiply", '*'}, {"scale", '*'}};
  for (const Verb& verb : kTransitive) {
    if (!accept(verb.words)) continue;
    KW_TRY(std::string left, power());
    skip_fillers();
    if (!accept("by") && !accept("with")) return unknown();
    KW_TRY(std::string right, power());
    current_ = combined(left, std::string(" ") + verb.op + " ", right);
    return {};
  }
  KW_TRY(std::string value, sum());
  current_ = value;
  return {};
}

Result<std::string> PhraseParser::sum() {
  if (++depth_ > 60) return bad_input("the phrase is nested too deeply");
  KW_TRY(std::string left, product());
  while (true) {
    skip_fillers();
    std::string_view op;
    if (accept("+") || accept("plus"))
      op = " + ";
    else if (accept("-") || accept("minus"))
      op = " - ";
    else
      break;
    KW_TRY(std::string right, product());
    left = "(" + combined(left, op, right) + ")";
  }
  --depth_;
  return left;
}

Result<std::string> PhraseParser::product() {
  KW_TRY(std::string left, power());
  while (true) {
    skip_fillers();
    std::string_view op;
    if (accept("*") || accept("times") || accept("multiplied by") || accept("multiplied with") || accept("gated by") ||
        accept("scaled by"))
      op = " * ";
    else if (accept("/") || accept("divided by"))
      op = " / ";
    else
      break;
    KW_TRY(std::string right, power());
    left = combined(left, op, right);
  }
  return left;
}

Result<std::string> PhraseParser::power() {
  bool negative = accept("-");
  KW_TRY(std::string value, primary());
  while (true) {
    composed_ |= looking_at("squared") || looking_at("cubed") || looking_at("^");
    if (accept("squared"))
      value = "torch.square(" + value + ")";
    else if (accept("cubed"))
      value = once(value), value = "(" + value + " * " + value + " * " + value + ")";
    else if (accept("^") || accept("to power of") || accept("to power")) {
      std::optional<std::string> exponent = number();
      if (!exponent) return unknown();
      value = "torch.pow(" + value + ", " + *exponent + ")";
    } else {
      break;
    }
  }
  return negative ? "(-" + value + ")" : value;
}

std::optional<std::string> PhraseParser::number() {
  if (at().kind == Token::Kind::Number) return tokens_[position_++].text;
  if (at().is("-") && at(1).kind == Token::Kind::Number) {
    position_ += 2;
    return "-" + tokens_[position_ - 1].text;
  }
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"zero", "0"}, {"one", "1"}, {"two", "2"}, {"half", "0.5"}, {"three", "3"}};
  for (auto [word, digits] : kWords)
    if (at().is(word)) {
      ++position_;
      return std::string(digits);
    }
  return std::nullopt;
}

std::optional<std::string> PhraseParser::variable() {
  struct Name {
    std::string_view words;
    std::string_view variable;
    std::string_view made_by;
  };
  constexpr Name kNames[] = {
      {"residual connection", "residual", kMatrix},
      {"residual stream", "residual", kMatrix},
      {"residual", "residual", kMatrix},
      {"skip connection", "residual", kMatrix},
      {"gate", "gate", kMatrix},
      {"second input", "y", kMatrix},
      {"second tensor", "y", kMatrix},
      {"other input", "y", kMatrix},
      {"other tensor", "y", kMatrix},
      {"another tensor", "y", kMatrix},
      {"another input", "y", kMatrix},
      {"second one", "y", kMatrix},
      {"first input", "x", kMatrix},
      {"first tensor", "x", kMatrix},
      {"predictions", "x", kMatrix},
      {"prediction", "x", kMatrix},
      {"predicted", "x", kMatrix},
      {"logits", "x", kMatrix},
      {"inputs", "x", kMatrix},
      {"input", "x", kMatrix},
      {"scores", "x", kMatrix},
      {"targets", "y", kMatrix},
      {"target", "y", kMatrix},
      {"ground truth", "y", kMatrix},
      {"labels", "y", kMatrix},
      {"bias", "bias", kRow},
      {"weight", "weight", kRow},
      {"beta", "beta", kRow},
      {"gamma", "gamma", kRow},
      {"w", "w", kRow},
      {"up", "up", kMatrix},
      {"other", "y", kMatrix},
  };
  for (const Name& n : kNames)
    if (accept(n.words)) return use(std::string(n.variable), std::string(n.made_by));
  if (at().kind == Token::Kind::Word && at().text.size() == 1 &&
      std::string_view("abcdpqrsuvxyz").find(at().text[0]) != std::string_view::npos) {
    std::string name = tokens_[position_++].text;
    // "a" and "b" beside "x" are a scale and a shift to some and tensors to others: only without x they are tensors.
    return use(name, std::string(kMatrix));
  }
  return std::nullopt;
}

const WordEntry* PhraseParser::match_entry() {
  const WordEntry* best = nullptr;
  size_t longest = 0;
  for (const WordEntry& e : lexicon()) {
    for (const std::string& alias : parts(e.aliases, '|')) {
      size_t n = length_of(alias, position_);
      if (n > longest) longest = n, best = &e;
      for (const std::string& option : parts(e.options, '|')) {
        size_t colon = option.find(':');
        size_t before = length_of(option.substr(0, colon), position_);
        size_t after = before ? length_of(alias, position_ + before) : 0;
        if (after && before + after > longest) longest = before + after, best = find_entry(option.substr(colon + 1));
      }
    }
  }
  position_ += longest;
  return best;
}

Result<std::string> PhraseParser::primary() {
  skip_fillers();
  if (at().kind == Token::Kind::Number || (at().is("half") && !at(1).is("rotated"))) {
    std::string digits = *number();
    // "1.702 x" is a product.
    if (at().kind == Token::Kind::Word && at().text.size() == 1)
      if (std::optional<std::string> v = variable()) return digits + " * " + *v;
    return digits;
  }
  if (accept("(")) {
    KW_TRY(std::string inner, sum());
    if (!accept(")")) return unknown();
    return "(" + inner + ")";
  }
  // Sums and products of two named things.
  struct Pairing {
    std::string_view words;
    std::string_view op;
  };
  constexpr Pairing kPairings[] = {{"difference between", " - "},
                                   {"difference of", " - "},
                                   {"product of", " * "},
                                   {"sum of", " + "},
                                   {"ratio of", " / "}};
  for (const Pairing& p : kPairings) {
    size_t start = position_;
    if (!accept(p.words)) continue;
    skip_fillers();
    std::optional<std::string> left = variable();
    skip_fillers();
    if (left && (accept("and") || accept("to"))) {
      skip_fillers();
      if (std::optional<std::string> right = variable()) return "(" + *left + std::string(p.op) + *right + ")";
    }
    position_ = start;  // "sum of squares" is something else
  }
  size_t start = position_;
  if (const WordEntry* word = match_entry()) {
    // A one-letter or one-word variable name can also be an entry's ("t", "gate"): the entry is longer or it wins.
    return entry(*word);
  }
  position_ = start;
  if (std::optional<std::string> v = variable()) return *v;
  return unknown();
}

// ---- entries ----
Result<std::string> PhraseParser::entry(const WordEntry& word) {
  Entry e;
  e.word = &word;
  skip_fillers();
  KW_CHECK(operands(e));
  while (true) {
    skip_fillers();
    size_t start = position_;
    bool joined = accept("with") || accept("using") || accept("in") || accept("where") || accept("having") ||
                  accept("and") || accept(",") || accept("via") || accept("under") || accept("from") || accept("on") ||
                  accept("at") || accept("(");
    bool opened = joined && tokens_[start].is("(");
    skip_fillers();
    if (modifier(e)) {
      if (opened) {
        while (accept(",") || accept("and"))
          if (!modifier(e)) return unknown();
        if (!accept(")")) return unknown();
      }
      continue;
    }
    position_ = start;
    // Operands may follow the modifiers: "softmax with temperature 2 of x".
    if (e.operands.empty() && (looking_at("of") || looking_at("between"))) {
      KW_CHECK(operands(e));
      if (!e.operands.empty()) continue;
    }
    break;
  }
  return meaning(e);
}

Status PhraseParser::operands(Entry& e) {
  bool pair = e.word->form == WordForm::Pair || e.word->form == WordForm::Loss;
  if (accept("(")) {
    do {
      if (!e.operands.empty() && axis_argument(e)) continue;
      KW_TRY(std::string operand, sum());
      e.operands.push_back(operand);
    } while (accept(","));
    if (!accept(")")) return unknown();
    return {};
  }
  size_t start = position_;
  bool of = accept("of") || accept("applied to") || accept("between") || accept("on") || accept("for");
  if (!of) {
    // "clip x between …", "soft cap the logits at …": an operand right behind the name.
    skip_fillers();
    start = position_;
    if (looking_at("bias") || looking_at("weight") || looking_at("gate") || looking_at("residual")) return {};
    std::optional<std::string> direct = variable();
    if (!direct || looking_at("=")) {
      position_ = start;
      return {};
    }
    e.operands.push_back(*direct);
    skip_fillers();
    if (pair && (accept("and") || accept(","))) {
      KW_TRY(std::string second, power());
      e.operands.push_back(second);
    }
    return {};
  }
  skip_fillers();
  // "of the last axis", "on logits", "for each row" are modifiers.
  size_t inside = position_;
  Entry trial = e;
  position_ = start;
  if (modifier(trial)) {
    position_ = start;
    return {};
  }
  position_ = inside;
  if (modifier(trial)) {
    position_ = start;
    return {};
  }
  position_ = inside;
  if (accept("two") || accept("both")) {
    skip_fillers();
    accept("inputs");
    skip_fillers();
    return {};
  }
  KW_TRY(std::string first, pair ? power() : product());
  e.operands.push_back(first);
  skip_fillers();
  if (pair &&
      (accept("and") || accept("with") || accept("against") || accept("vs") || accept("versus") || accept("to"))) {
    KW_TRY(std::string second, power());
    e.operands.push_back(second);
  }
  return {};
}

// sum(x, -1), softmax(x, dim=1): the axis as an argument.
bool PhraseParser::axis_argument(Entry& e) {
  if (e.word->form != WordForm::Along && e.word->form != WordForm::Reduction) return false;
  size_t start = position_;
  if (accept("dim") || accept("axis")) accept("=");
  std::optional<std::string> axis = number();
  if (axis && (looking_at(")") || looking_at(","))) {
    e.dim = *axis;
    return true;
  }
  position_ = start;
  return false;
}

bool PhraseParser::modifier(Entry& e) {
  return option_modifier(e) || number_modifier(e) || range_modifier(e) || axis_modifier(e) || weight_modifier(e) ||
         reduction_modifier(e);
}

bool PhraseParser::option_modifier(Entry& e) {
  size_t longest = 0;
  std::string_view chosen;
  for (std::string_view rest = e.word->options; !rest.empty();) {
    size_t bar = std::min(rest.find('|'), rest.size());
    std::string_view option = rest.substr(0, bar);
    size_t n = length_of(option.substr(0, option.find(':')), position_);
    if (n > longest) longest = n, chosen = option.substr(option.find(':') + 1);
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  if (!longest) return false;
  position_ += longest;
  e.word = find_entry(chosen);
  return true;
}

bool PhraseParser::number_modifier(Entry& e) {
  size_t start = position_;
  if (takes_number(*e.word, "offset") &&
      (accept("unit offset") || accept("one plus weight") || accept("1 + w") || accept("1 + weight"))) {
    e.numbers["offset"] = "1";
    return true;
  }
  for (const NumberName& n : kNumberNames) {
    if (!takes_number(*e.word, n.number)) continue;
    position_ = start;
    if (accept(n.words)) {
      while (accept("=") || accept("of") || accept(":") || accept("is") || accept("set to") || accept("equal to") ||
             accept("at") || accept("to")) {
      }
      if (std::optional<std::string> value = number()) {
        e.numbers[std::string(n.number)] = *value;
        return true;
      }
      continue;
    }
    if (std::optional<std::string> value = number(); value && accept(n.words)) {  // "a 0.1 slope"
      e.numbers[std::string(n.number)] = *value;
      return true;
    }
  }
  position_ = start;
  // "soft capping at 30", "soft cap 30": the only number that the entry must be given.
  if (e.word->numbers.ends_with("!") && e.word->numbers.find(' ') == std::string_view::npos) {
    std::string name(e.word->numbers.substr(0, e.word->numbers.size() - 1));
    accept("at") || accept("to") || accept("of");
    if (std::optional<std::string> value = number(); value && !e.numbers.contains(name)) {
      e.numbers[name] = *value;
      return true;
    }
  }
  position_ = start;
  return false;
}

bool PhraseParser::range_modifier(Entry& e) {
  if (!takes_number(*e.word, "min") || !takes_number(*e.word, "max")) return false;
  size_t start = position_;
  accept("between") || accept("to range") || accept("range") || accept("from") || accept("to") || accept("into");
  accept("range");
  accept("interval");
  bool bracket = accept("[") || accept("(");
  std::optional<std::string> low = number();
  bool joined = accept("and") || accept("to") || accept(",");
  std::optional<std::string> high = number();
  if (bracket) accept("]") || accept(")");
  if (low && joined && high) {
    e.numbers["min"] = *low;
    e.numbers["max"] = *high;
    return true;
  }
  position_ = start;
  return false;
}

bool PhraseParser::axis_modifier(Entry& e) {
  if (e.word->form != WordForm::Along && e.word->form != WordForm::Reduction && e.word->form != WordForm::Norm &&
      e.word->form != WordForm::Pair)
    return false;
  size_t start = position_;
  std::string dim;
  if (accept("row wise") || accept("rowwise") || accept("per row") || accept("for each row") || accept("of each row") ||
      accept("each row") || accept("per token") || accept("row by row") || accept("across columns") ||
      accept("over columns"))
    dim = "-1";
  else if (accept("column wise") || accept("columnwise") || accept("per column") || accept("for each column") ||
           accept("of each column"))
    dim = "0";
  else if (accept("over everything") || accept("over all") || accept("of all") || accept("of whole") ||
           accept("over whole") || accept("of everything") || accept("across all") || accept("globally") ||
           accept("down to scalar") || accept("to scalar") || accept("as scalar"))
    dim = "all";
  if (dim.empty()) {
    accept("over") || accept("along") || accept("across") || accept("on") || accept("in") || accept("of") ||
        accept("by");
    if (accept("dim") || accept("axis") || accept("dimension")) {
      accept("=");
      if (std::optional<std::string> n = number()) dim = *n;
    } else {
      constexpr std::pair<std::string_view, std::string_view> kAxes[] = {
          {"last", "-1"},       {"final", "-1"},   {"innermost", "-1"}, {"trailing", "-1"},  {"feature", "-1"},
          {"features", "-1"},   {"hidden", "-1"},  {"class", "-1"},     {"embedding", "-1"}, {"vocab", "-1"},
          {"vocabulary", "-1"}, {"first", "0"},    {"leading", "0"},    {"batch", "0"},      {"second", "1"},
          {"channel", "1"},     {"sequence", "1"}, {"time", "1"}};
      for (auto [word, value] : kAxes)
        if (accept(word)) {
          dim = value;
          if (!accept("dimension") && !accept("dim") && !accept("axis") && !accept("dimensions") && word != "features")
            dim.clear();
          break;
        }
    }
  }
  if (dim.empty() || (e.word->form != WordForm::Along && e.word->form != WordForm::Reduction && dim != "-1")) {
    position_ = start;
    return false;
  }
  while (is_filler(at()) || at().is("dimensions") || at().is("axes")) ++position_;
  e.dim = dim;
  return true;
}

bool PhraseParser::weight_modifier(Entry& e) {
  if (e.word->form != WordForm::Norm && e.word->name != "linear") return false;
  bool has_bias = e.word->meaning.find("{b}") != std::string_view::npos;
  if (has_bias && (accept("without bias") || accept("no bias") || accept("without bias term") || accept("bias free") ||
                   accept("without shift"))) {
    e.bias = false;
    accept("term");
    return true;
  }
  if (accept("without weight and bias") || accept("without weight or bias") || accept("without weights") ||
      accept("without weight") || accept("no weight") || accept("without affine") || accept("no affine") ||
      accept("without elementwise affine") || accept("without learnable parameters") ||
      accept("without learnable weight") || accept("without learnable weights") || accept("without parameters") ||
      accept("parameter free") || accept("non affine") || accept("without scale and shift") || accept("unweighted") ||
      accept("without gain") || accept("without scale") || accept("without learnable scale") ||
      accept("no learnable parameters") || accept("without any weight") || accept("no learnable weight")) {
    e.weight = e.bias = false;
    while (accept("parameters") || accept("parameter") || accept("transform") || accept("transformation")) {
    }
    return true;
  }
  if (accept("weight and bias") || accept("scale and shift") || accept("gain and bias") ||
      accept("affine parameters") || accept("elementwise affine") || accept("affine")) {
    return has_bias;
  }
  if (!has_bias && (accept("weight") || accept("scale") || accept("gain"))) {
    accept("vector");
    return true;
  }
  return false;
}

bool PhraseParser::reduction_modifier(Entry& e) {
  if (e.word->form != WordForm::Loss) return false;
  struct Words {
    std::string_view words;
    std::string_view reduction;
  };
  constexpr Words kWords[] = {{"batchmean reduction", "batchmean"},
                              {"batchmean", "batchmean"},
                              {"batch mean", "batchmean"},
                              {"averaged over batch", "batchmean"},
                              {"mean reduction", "mean"},
                              {"reduction mean", "mean"},
                              {"reduction = mean", "mean"},
                              {"averaged over all", "mean"},
                              {"averaged", "mean"},
                              {"sum reduction", "sum"},
                              {"reduction sum", "sum"},
                              {"reduction = sum", "sum"},
                              {"summed over all", "sum"},
                              {"summed", "sum"},
                              {"reduced by sum", "sum"},
                              {"no reduction", "none"},
                              {"without reduction", "none"},
                              {"unreduced", "none"},
                              {"reduction none", "none"},
                              {"reduction = none", "none"},
                              {"elementwise", "none"},
                              {"per element", "none"}};
  for (const Words& w : kWords)
    if (accept(w.words)) {
      e.reduction = w.reduction;
      while (is_filler(at())) ++position_;
      return true;
    }
  return false;
}

// ---- meaning ----
Result<std::string> PhraseParser::meaning(Entry& e) {
  if (!e.word->choices.empty()) {
    auto answer = answers_.find(std::string(e.word->name));
    if (answer == answers_.end()) return ask(std::string(e.word->name), parts(e.word->choices, '|'));
    e.word = find_entry(answer->second);
  }
  const WordEntry& word = *e.word;
  std::string text(word.meaning);
  entry_names_.emplace_back(word.name);

  if (word.form == WordForm::Reduction || word.form == WordForm::Along) {
    if (e.dim.empty() && word.form == WordForm::Reduction) {
      std::string subject = "the axis of " + std::string(word.name);
      auto answer = answers_.find(subject);
      if (answer == answers_.end()) return ask(subject, {"-1", "all"});
      e.dim = answer->second;
    }
    if (e.dim.empty()) e.dim = "-1";
    if (e.dim == "all") {
      if (word.form == WordForm::Along) return unknown();
      replace_all(text, "({dim})", "()");
      replace_all(text, "({dim}, ", "(");
      if (text.find("{dim}") != std::string::npos) {  // logsumexp and friends: flatten first
        replace_all(text, "{x}", "{x}.flatten()");
        e.dim = "0";
      }
    }
    if (word.form == WordForm::Reduction && e.dim != "all") {
      replace_all(text, "{dim})", "{dim}{keep})");
      replace_all(text, "{dim}, correction=0)", "{dim}, correction=0{keep})");
      replace_all(text, "{dim}, correction=1)", "{dim}, correction=1{keep})");
    }
    replace_all(text, "{dim}", e.dim);
  }
  if (word.name == "softmax" || word.name == "log_softmax")
    if (!e.numbers.contains("temperature")) replace_all(text, " / {temperature}", "");
  for (const std::string& n : parts(word.numbers, ' ')) {
    std::string name = n.substr(0, n.find_first_of("=!"));
    auto given = e.numbers.find(name);
    if (given == e.numbers.end() && n.ends_with("!"))
      return bad_input(std::string(word.name) + " needs a number for its " + name, Place{"words", 1, at().column, 0},
                       "add \"with " + name + " 30\", for example");
    replace_all(text, "{" + name + "}", given == e.numbers.end() ? n.substr(name.size() + 1) : given->second);
  }

  bool takes_x = text.find("{x}") != std::string::npos, takes_y = text.find("{y}") != std::string::npos;
  size_t expected = size_t(takes_x) + size_t(takes_y);
  if (e.operands.size() > expected)
    return bad_input(std::string(word.name) + " takes " + std::to_string(expected) + " operands, not " +
                         std::to_string(e.operands.size()),
                     Place{"words", 1, at().column, 0});
  if (takes_x) {
    std::string x = e.operands.empty() ? current() : e.operands[0];
    if (count_of(text, "{x}") > 1 && !is_name(x)) x = once(x);
    replace_all(text, "{x}", is_name(x) || text.find("({x}") != std::string::npos ? x : "(" + x + ")");
  }
  if (takes_y) replace_all(text, "{y}", e.operands.size() > 1 ? e.operands[1] : use("y", std::string(kMatrix)));

  // Learnable and further tensors that the meaning names.
  if (text.find("{w}") != std::string::npos) {
    if (e.weight) {
      bool scalar = word.name == "prelu";
      replace_all(text, "{w}",
                  use("w", word.name == "linear" ? "torch.randn(out, cols)"
                           : scalar              ? "torch.randn(1)"
                                                 : std::string(kRow)));
    } else if (word.name == "rms_norm_gemma") {
      return bad_input("Gemma's RMSNorm multiplies with its weight: it cannot be without one",
                       Place{"words", 1, at().column, 0});
    } else {
      replace_all(text, "{w}", text.starts_with("F.") ? "None" : "1.0");
    }
  }
  if (text.find("{a}") != std::string::npos) replace_all(text, "{a}", use("alpha", "torch.randn(1)"));
  if (text.find("{b}") != std::string::npos)
    replace_all(text, "{b}",
                !e.bias ? "None" : use("b", word.name == "linear" ? "torch.randn(out)" : std::string(kRow)));
  if (text.find("{labels}") != std::string::npos)
    replace_all(text, "{labels}", use("labels", "torch.randint(0, cols, (rows,))"));
  if (text.find("{ids}") != std::string::npos) {
    std::string ids = use("ids", "torch.randint(0, rows, (tokens,))");
    replace_all(text, "{ids}", ids);
    replace_all(text, "{table}", use("table", std::string(kMatrix)));
  }
  if (text.find("{cos}") != std::string::npos) {
    replace_all(text, "{cos}", use("cos", std::string(kMatrix)));
    replace_all(text, "{sin}", use("sin", std::string(kMatrix)));
  }

  if (word.form == WordForm::Loss) {
    std::string reduction = !e.reduction.empty() ? e.reduction : word.name.starts_with("kl_") ? "batchmean" : "mean";
    if (reduction == "mean")
      text = "(" + text + ").mean()";
    else if (reduction == "sum")
      text = "(" + text + ").sum()";
    else if (reduction == "batchmean")
      text = "(" + text + ").sum() / " + phrase_.variables[0].first + ".shape[0]";
  }
  if (word.form == WordForm::Pair || word.name == "step" || text.find(" + ") != std::string::npos ||
      text.find(" - ") != std::string::npos || text.starts_with("-") || text.find(" / ") != std::string::npos ||
      text.find(" * ") != std::string::npos)
    text = "(" + text + ")";
  return text;
}

}  // namespace kw::understand
