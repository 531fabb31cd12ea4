#include "understand/words/phrase.h"

#include <algorithm>

#include "base/text.h"
#include "understand/words/expression_text.h"

namespace kw::understand {

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
  for (const std::string& word : pieces(words, ' ')) {
    if (word == "the" || word == "a" || word == "an") continue;
    // Fillers may stand inside a name: "the weight is stored as an offset".
    while (i > from && i < tokens_.size() && tokens_[i].text != word && is_filler(tokens_[i])) ++i;
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
    for (const std::string& alias : pieces(e.aliases, '|')) names.push_back(alias);
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
    if (accept("and hand back both") || accept("hand back both") || accept("give back both") ||
        accept("and give back both") || accept(", and return both") || accept(", and hand back both") ||
        accept(", hand back both") || accept("return both") || accept("returning both") || accept("and return both") ||
        accept("and returning both") || accept("return sum too") || accept("returning sum too") ||
        accept(", return both")) {
      both = true;
      while (is_filler(at()) || at().is("sum") || at().is("and") || at().is("norm") || at().is("normalized") ||
             at().is("normed") || at().is("results") || at().is("added") || at().is("updated") || at().is("residual") ||
             at().is("new"))
        ++position_;
      continue;
    }
    if (at().kind == Token::Kind::End) {
      // What was said of the whole phrase is read again, now with it.
      if (said_of_all_.size() > used_of_all_.size() && !again_) {
        PhraseParser again(text_, answers_);
        again.said_of_all_ = said_of_all_;
        again.again_ = true;
        Result<Phrase> read = again.parse();
        question_ = again.question_;
        return read;
      }
      if (said_of_all_.size() > used_of_all_.size()) return unknown();
      if (!open_axis_.empty()) return ask(open_axis_, {"-1", "all"});
      break;
    }
    bool connected = false;
    while (accept(",") || accept(";") || accept("and then") || accept("then") || accept("followed by") ||
           accept("and finally") || accept("finally") || accept("after that") || accept("before") || accept("and"))
      connected = true;
    skip_fillers();
    if (said_of_all(connected)) continue;
    if (!connected) return unknown();
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

// ", eps = 1e-5" and "on the last axis" at the end of a formula speak of whatever in it takes them.
bool PhraseParser::said_of_all(bool connected) {
  size_t start = position_;
  accept("with") || accept("using");
  for (std::string_view name : {"eps", "epsilon", "temperature"}) {
    if (!accept(name)) continue;
    accept("=") || accept("of");
    if (std::optional<std::string> value = number()) {
      said_of_all_[name == "epsilon" ? "eps" : std::string(name)] = *value;
      return true;
    }
  }
  position_ = start;
  if (accept("on") || accept("over") || accept("along")) {
    bool last = accept("last") || accept("final");
    if (last && (accept("axis") || accept("dim") || accept("dimension"))) {
      said_of_all_["axis"] = "-1";
      return true;
    }
  }
  position_ = start;
  (void)connected;
  return false;
}

Status PhraseParser::stage() {
  skip_fillers();
  // Stages that only set the scene, or work on what there is.
  if (accept("split last dimension in half") || accept("split last dim in half") || accept("split last axis in half") ||
      accept("split input in half") || accept("split x in half") || accept("split in half") || accept("chunk in two") ||
      accept("split last dimension into two halves") || accept("split into two halves") ||
      accept("chunk last dim in two")) {
    halved_ = once(current());
    composed_ = true;
    return {};
  }
  if (!halved_.empty() && (accept("multiply by second") || accept("times second") || accept("multiply with second"))) {
    accept("half");
    current_ = combined(current(), " * ", halved_ + "[..., " + halved_ + ".shape[-1] // 2 :]");
    return {};
  }
  if (accept("mask out future positions") || accept("apply causal mask") || accept("causal mask") ||
      accept("mask future positions") || accept("mask out future") || accept("mask future")) {
    std::string whole = once(current());
    composed_ = true;
    current_ = whole + ".masked_fill(torch.ones(" + whole + ".shape[-2], " + whole +
               ".shape[-1], dtype=torch.bool).triu(1), float('-inf'))";
    return {};
  }
  for (auto [words, reduction] :
       {std::pair("averaged over batch", ".mean()"), std::pair("averaged over all", ".mean()"),
        std::pair("averaged", ".mean()"), std::pair("summed over all", ".sum()"), std::pair("summed", ".sum()"),
        std::pair("average over batch", ".mean()")})
    if (accept(words)) {
      composed_ = true;
      current_ = "(" + current() + ")" + reduction;
      replace_all(current_, kKeep, "");
      return {};
    }
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
    skip_fillers();
    if (accept("them") || accept("by")) {
      KW_TRY(std::string right, power());
      current_ = combined(current(), std::string(" ") + verb.op + " ", right);
      return {};
    }
    KW_TRY(std::string left, power());
    skip_fillers();
    if (!accept("by") && !accept("with")) return unknown();
    KW_TRY(std::string right, power());
    current_ = combined(left, std::string(" ") + verb.op + " ", right);
    return {};
  }
  // "then * (1 + scale) + shift": the formula goes on from what there is.
  if (!current_.empty() && (looking_at("*") || looking_at("/") || looking_at("+"))) {
    std::string op = " " + tokens_[position_++].text + " ";
    KW_TRY(std::string right, op == " + " ? product() : power());
    current_ = combined(current(), op, right);
    while (accept("+") || accept("plus")) {
      KW_TRY(std::string more, product());
      current_ = combined(current_, " + ", more);
    }
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
      {"preds", "x", kMatrix},
      {"pred", "x", kMatrix},
      {"attention scores", "x", kMatrix},
      {"attention logits", "x", kMatrix},
      {"hidden states", "x", kMatrix},
      {"hidden state", "x", kMatrix},
      {"score", "x", kMatrix},
      {"scale", "scale", kRow},
      {"shift", "shift", kRow},
      {"alpha", "alpha", "torch.randn(1)"},
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
  // "the first half": of what is computed so far, along the last axis.
  if (looking_at("first half") || looking_at("second half") || looking_at("other half")) {
    bool first = at().is("first");
    position_ += 2;
    accept("of");
    if (!accept("x")) accept("input");
    std::string whole = halved_.empty() ? (halved_ = once(current())) : halved_;
    return whole + (first ? "[..., : " + whole + ".shape[-1] // 2]" : "[..., " + whole + ".shape[-1] // 2 :]");
  }
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
    for (const std::string& alias : pieces(e.aliases, '|')) {
      size_t n = length_of(alias, position_);
      if (n > longest) longest = n, best = &e;
      for (const std::string& option : pieces(e.options, '|')) {
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
  if (at().is("squared") || at().is("cubed")) {  // "the squared logsumexp": unless a longer name begins so
    std::string power(at().text);
    const WordEntry* longer = match_entry();
    if (position_ == start + 1 || !longer) {
      position_ = start + 1;
      skip_fillers();
      size_t inner = position_;
      if (match_entry() != nullptr) {
        position_ = inner;
        KW_TRY(std::string value, primary());
        composed_ = true;
        if (power == "squared") return "torch.square(" + value + ")";
        value = once(value);
        return "(" + value + " * " + value + " * " + value + ")";
      }
    }
    position_ = start;
  }
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
    if (neutral_clause(e)) {
      if (opened && !accept(")")) return unknown();
      continue;
    }
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
  if (looking_at("(")) {  // "ELU (alpha = 0.5)", "exact (erf) GELU" are modifiers
    size_t open = position_++;
    Entry trial = e;
    bool modifies = (modifier(trial) || neutral_clause(trial)) && (looking_at(")") || looking_at(","));
    position_ = open;
    if (modifies) return {};
  }
  if (accept("(")) {
    do {
      if (!e.operands.empty() && axis_argument(e)) continue;
      KW_TRY(std::string operand, sum());
      e.operands.push_back(operand);
    } while (accept(","));
    if (!accept(")")) return unknown();
    // In a formula a norm has just what it is given: rmsnorm(x) * weight.
    if (e.word->form == WordForm::Norm) e.weight = e.bias = false;
    return {};
  }
  size_t start = position_;
  bool of = accept("of") || accept("applied to") || accept("between") || accept("on") || accept("for") || accept("to");
  if (!of) {
    // "clip x between …", "soft cap the logits at …": an operand right behind the name.
    skip_fillers();
    start = position_;
    if (looking_at("bias") || looking_at("weight") || looking_at("gate") || looking_at("residual")) return {};
    if (!current_.empty() && accept("sum")) return {};  // "then RMSNorm the sum"
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
  // Logits have their classes on the last axis: nothing else is ever reduced of them.
  bool logits = at().is("logits") && e.word->form == WordForm::Reduction && e.dim.empty();
  KW_TRY(std::string first, pair ? power() : product());
  e.operands.push_back(first);
  if (logits && is_name(first)) e.dim = "-1";
  skip_fillers();
  // "cross entropy of x against the labels"
  if (size_t before = position_;
      e.word->form == WordForm::Table && (accept("against") || accept("and") || accept("with"))) {
    skip_fillers();
    if (!accept("labels") && !accept("targets") && !accept("target") && !accept("class labels")) position_ = before;
  }
  if (pair &&
      (accept("and") || accept("with") || accept("against") || accept("vs") || accept("versus") || accept("to"))) {
    KW_TRY(std::string second, power());
    e.operands.push_back(second);
  }
  return {};
}

}  // namespace kw::understand
