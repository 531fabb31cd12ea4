// Formulas and the sentences that spell them out.
#include <algorithm>

#include "understand/words/expression_text.h"
#include "understand/words/phrase.h"

namespace kw::understand {
namespace {

struct Name {
  std::string_view words;
  std::string_view variable;
  std::string_view made_by;
};
constexpr Name kNames[] = {
    {"residual connection", "residual", kMatrix},
    {"residual stream", "residual", kMatrix},
    {"residual input", "residual", kMatrix},
    {"residual", "residual", kMatrix},
    {"skip connection", "residual", kMatrix},
    {"skip", "residual", kMatrix},
    {"gate input", "gate", kMatrix},
    {"gate", "gate", kMatrix},
    {"second input", "y", kMatrix},
    {"second tensor", "y", kMatrix},
    {"second argument", "y", kMatrix},
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
    {"activations", "x", kMatrix},
    {"scores", "x", kMatrix},
    {"score", "x", kMatrix},
    {"log probs", "x", kMatrix},
    {"log probabilities", "x", kMatrix},
    {"probabilities", "x", kMatrix},
    {"scale", "scale", kRow},
    {"shift", "shift", kRow},
    {"alpha", "alpha", kScalar},
    {"prediction", "x", kMatrix},
    {"predicted", "x", kMatrix},
    {"logits", "x", kMatrix},
    {"inputs", "x", kMatrix},
    {"input", "x", kMatrix},
    {"targets", "y", kMatrix},
    {"target", "y", kMatrix},
    {"ground truth", "y", kMatrix},
    {"labels", "y", kMatrix},
    {"label", "y", kMatrix},
    {"bias vector", "bias", kRow},
    {"bias", "bias", kRow},
    {"attention mask", "mask", kMatrix},
    {"additive mask", "mask", kMatrix},
    {"mask", "mask", kMatrix},
    {"weight vector", "weight", kRow},
    {"weights", "weight", kRow},
    {"weight", "weight", kRow},
    {"beta", "beta", kRow},
    {"gamma", "gamma", kRow},
    {"query", "q", kMatrix},
    {"queries", "q", kMatrix},
    {"key", "k", kMatrix},
    {"keys", "k", kMatrix},
    {"w", "w", kRow},
    {"up projection", "up", kMatrix},
    {"up", "up", kMatrix},
    {"other", "y", kMatrix},
};

}  // namespace

Result<std::string> PhraseParser::expression() {
  if (++depth_ > 60) return bad_input("the phrase is nested too deeply");
  KW_TRY(std::string left, sum());
  --depth_;
  Mark start = mark();
  auto compared = [&]() -> std::optional<std::string> {
    for (auto [words, symbol] : {std::pair(">=", ">="), std::pair("<=", "<="), std::pair(">", ">"), std::pair("<", "<"),
                                 std::pair("==", "=="), std::pair("greater than", ">"), std::pair("less than", "<")})
      if (accept(words)) return symbol;
    return std::nullopt;
  };
  if (std::optional<std::string> symbol = compared()) {
    KW_TRY(std::string right, sum());
    composed_ = true;
    return left + " " + *symbol + " " + right;
  }
  // "x if x > 0 else 0.1 * x"
  accept(",");
  if (accept_any({"if", "when", "where", "for"})) {
    Result<std::string> truth = left;
    std::optional<std::string> symbol;
    if (accept_any({"positive", "it is positive"}))
      symbol = "> 0";
    else if (accept_any({"nonnegative", "non negative"}))
      symbol = ">= 0";
    else if (accept("negative"))
      symbol = "< 0";
    else
      truth = sum();
    if (truth && !symbol) symbol = accept("is positive") ? std::optional<std::string>("> 0") : compared();
    if (symbol) {
      Result<std::string> bound = symbol->ends_with("0") ? Result<std::string>("") : sum();
      accept_any({",", ";"});
      accept("and");
      if (bound && accept_any({"else", "otherwise"})) {
        KW_TRY(std::string other, expression());
        accept("otherwise");
        composed_ = true;
        std::string test = *truth + " " + *symbol + (bound->empty() ? "" : " " + *bound);
        return "torch.where(" + test + ", " + without_outer_parentheses(left) + ", " +
               without_outer_parentheses(other) + ")";
      }
    }
  }
  go_back(start);
  return left;
}

char PhraseParser::sum_operator() {
  skip_fillers();
  if (accept_any({"+", "plus", "added to"})) return '+';
  if (accept_any({"-", "minus"})) return '-';
  return 0;
}

char PhraseParser::product_operator() {
  skip_fillers();
  if (accept_any({"*", "times", "multiplied by", "multiplied with", "gated by", "scaled by", "weighted by"}))
    return '*';
  if (accept_any({"/", "divided by"})) return '/';
  if (accept_any({"@", "matmul"})) return '@';
  if (at().is("over")) {  // "x over y", where no axis is meant
    bool operand = at(1).kind == Token::Kind::Number || at(1).is("(") || at(1).is("sqrt") || at(1).is("square") ||
                   (at(1).kind == Token::Kind::Word && at(1).text.size() == 1);
    if (operand) return ++position_, '/';
  }
  return 0;
}

Result<std::string> PhraseParser::sum() {
  KW_TRY(std::string left, product());
  while (true) {
    size_t start = position_;
    char op = sum_operator();
    if (!op) break;
    bool in_words = tokens_[position_ - 1].kind == Token::Kind::Word;
    // "x, minus its mean": the operator's left side is whole.
    antecedent_ = left;
    size_t right_at = position_;
    KW_TRY(std::string first, power());
    bool number_first = is_constant(first);
    size_t behind = position_;
    char product_op = product_operator();
    bool multiplied = product_op != 0 && tokens_[position_ - 1].kind == Token::Kind::Word;
    number_first &= product_op == '*';  // "x plus 0.5 times y"
    // "x minus y divided by z": words have no precedence.
    if (in_words && multiplied && !number_first &&
        choose("what '" + tokens_[behind].text + "' applies to", {"the last term", "everything before it"}) !=
            "the last term") {
      position_ = behind;
      left = combined(left, op, first);
      while (char more = product_operator()) {
        KW_TRY(std::string right, power());
        left = combined(left, more, right);
      }
      continue;
    }
    position_ = right_at;
    antecedent_ = left;
    Mark before = mark();
    KW_TRY(std::string right, product());
    if (in_words && !is_constant(left) && tokens_[position_ - 1].is("squared") &&
        choose("what is squared", {"the last term", "everything before it"}) != "the last term") {
      go_back(before);
      KW_TRY(right, primary());
      if (!accept("squared")) return unknown();
      left = "torch.square(" + combined(left, op, right) + ")";
      continue;
    }
    left = combined(left, op, right);
    if (position_ == start) break;
  }
  return left;
}

Result<std::string> PhraseParser::product() {
  KW_TRY(std::string left, power());
  while (true) {
    char op = product_operator();
    // softmax(q k^T / sqrt(d)) v
    if (!op && at().is("v") && left.find("softmax(") != std::string::npos && left.find(" @ ") != std::string::npos)
      op = '@';
    if (!op && tokens_[position_ ? position_ - 1 : 0].is(")") && looking_at("(") && left.ends_with(")")) op = '*';
    if (!op) break;
    bool in_words = tokens_[position_ - 1].kind == Token::Kind::Word;
    antecedent_ = left;
    Mark before = mark();
    KW_TRY(std::string right, power());
    // "1 over 1 plus exp of minus x": words have no precedence.
    size_t behind = position_;
    bool goes_on = op == '/' && in_words && sum_operator() != 0;
    position_ = behind;
    bool senseless = is_constant(left) && is_constant(right);
    if (goes_on && (senseless || choose("what divides", {"the first term", "all that follows"}) != "the first term")) {
      go_back(before);
      KW_TRY(right, sum());
    }
    // "x divided by y squared"
    if (in_words && !goes_on && !is_constant(left) && tokens_[position_ - 1].is("squared") &&
        choose("what is squared", {"the last term", "everything before it"}) != "the last term") {
      go_back(before);
      KW_TRY(right, primary());
      if (!accept("squared")) return unknown();
      left = "torch.square(" + combined(left, op, right) + ")";
      continue;
    }
    left = combined(left, op, right);
  }
  return left;
}

Result<std::string> PhraseParser::power() {
  if (accept("-") || (looking_at_any({"negative", "minus"}) && [&] {
        // "negative log likelihood" is a name.
        size_t start = position_;
        const WordEntry* word = match_entry();
        bool name = word != nullptr && position_ > start + 1;
        position_ = name ? start : start + 1;
        if (!name && (at().kind == Token::Kind::End || looking_at_any({"of", "(", "then", ",", "squared"}))) {
          position_ = start;
          return false;
        }
        return !name;
      }())) {
    KW_TRY(std::string value, power());
    return "-" + parenthesized(value, Binding::Atom);
  }
  KW_TRY(std::string value, primary());
  while (true) {
    skip_fillers();
    size_t start = position_;
    if (accept("squared")) {
      value = "torch.square(" + without_outer_parentheses(value) + ")";
    } else if (accept("cubed")) {
      std::string name = once(value);
      value = name + " * " + name + " * " + name;
    } else if (accept_any({"to fourth power", "to 4th power"})) {
      value = "torch.pow(" + without_outer_parentheses(value) + ", 4)";
    } else if (accept_any({"to third power", "to 3rd power"})) {
      value = "torch.pow(" + without_outer_parentheses(value) + ", 3)";
    } else if (accept_any({"transposed", "^ t"})) {
      value = parenthesized(value, Binding::Atom) + ".transpose(-1, -2)";
    } else if (accept_any({"^", "to power of", "to power", "raised to power of", "raised to power", "raised to"})) {
      std::string exponent;
      if (std::optional<std::string> n = number()) {
        exponent = *n;
      } else if (accept("(")) {
        KW_TRY(exponent, expression());
        if (!accept(")")) return unknown();
      } else {
        bool negative = accept("-");
        KW_TRY(exponent, primary());
        if (negative) exponent = "-" + parenthesized(exponent, Binding::Atom);
      }
      accept("power");
      if (value == "math.e")
        value = "torch.exp(" + exponent + ")";
      else if (is_constant(value) && is_constant(exponent))
        value = parenthesized(value, Binding::Atom) + "**" + parenthesized(exponent, Binding::Atom);
      else
        value = "torch.pow(" + without_outer_parentheses(value) + ", " + exponent + ")";
    } else if (at().is(".") && at(1).kind == Token::Kind::Word) {  // x.abs()
      ++position_;
      if (accept("t")) {
        value = parenthesized(value, Binding::Atom) + ".transpose(-1, -2)";
        continue;
      }
      const WordEntry* word = match_entry();
      if (!word || !looking_at("(")) {
        position_ = start;
        return unknown();
      }
      Entry e;
      e.word = word;
      e.operands = {value};
      KW_TRY(value, entry(std::move(e)));
    } else {
      break;
    }
    composed_ = true;
  }
  return value;
}

std::optional<std::string> PhraseParser::number() {
  if (at().kind == Token::Kind::Number) {
    if (count_of(at().text, ".") > 1) return std::nullopt;
    std::string digits = tokens_[position_++].text;
    return digits.starts_with(".") ? "0" + digits : digits;
  }
  if (at().is("-") && at(1).kind == Token::Kind::Number) {
    position_ += 2;
    return "-" + tokens_[position_ - 1].text;
  }
  if ((at().is("minus") || at().is("negative")) && (at(1).kind == Token::Kind::Number || at(1).is("one"))) {
    ++position_;
    return "-" + *number();
  }
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"zero", "0"}, {"one", "1"}, {"two", "2"},   {"half", "0.5"}, {"three", "3"},   {"four", "4"},
      {"five", "5"}, {"six", "6"}, {"eight", "8"}, {"ten", "10"},   {"sixteen", "16"}};
  for (auto [word, digits] : kWords)
    if (at().is(word)) {
      ++position_;
      return std::string(digits);
    }
  return std::nullopt;
}

// Numbers that have names, and sizes of the tensor at hand: pi, sqrt(d).
std::optional<std::string> PhraseParser::constant() {
  size_t start = position_;
  if (accept("pi")) return "math.pi";
  if (at().is("e") && at(1).is("^")) {
    ++position_;
    return "math.e";
  }
  bool root = accept_any({"square root of", "sqrt of", "sqrt ("});
  if (!root && accept("sqrt")) root = true;
  bool open = root && tokens_[position_ - 1].is("(");
  skip_fillers();
  if (accept_any({"d model", "head dim", "head dimension", "hidden size", "hidden dim", "embedding dim",
                  "embedding dimension", "model dim", "model dimension", "number of features", "feature dimension",
                  "d k", "dk", "d head", "dmodel", "head size", "embedding size", "hidden dimension", "d"}) &&
      (!open || accept(")"))) {
    if (!current_.empty() || phrase_.variables.empty()) {
      std::string whole = current_.empty() ? current() : once(current_);
      current_ = whole;
      composed_ = true;
      return root ? whole + ".shape[-1] ** 0.5" : whole + ".shape[-1]";
    }
    std::string whole = phrase_.variables[0].first;
    composed_ = true;
    return root ? whole + ".shape[-1] ** 0.5" : whole + ".shape[-1]";
  }
  position_ = start;
  if (root) {
    accept_any({"square root of", "sqrt of", "sqrt (", "sqrt"});
    std::optional<std::string> n = number();
    if (n && (!open || accept(")"))) return "math.sqrt(" + *n + ")";
  }
  position_ = start;
  return std::nullopt;
}

// "+ eps" in a formula whose eps is said beside it or at its end.
std::optional<std::string> PhraseParser::epsilon() {
  size_t start = position_;
  bool temperature = at().is("temperature");
  if (!accept_any({"eps", "epsilon", "temperature"})) return std::nullopt;
  accept_any({"=", "of"});
  if (at().kind == Token::Kind::Number) return number();
  for (size_t i = position_; i + 1 < tokens_.size(); ++i) {
    bool named = temperature ? tokens_[i].is("temperature") : tokens_[i].is("eps") || tokens_[i].is("epsilon");
    if (!named) continue;
    size_t value = i + 1;
    while (tokens_[value].is("=") || tokens_[value].is("of") || tokens_[value].is("is")) ++value;
    if (tokens_[value].kind != Token::Kind::Number) continue;
    std::string key = temperature ? "temperature" : "eps";
    used_of_all_.insert(key);
    in_formula_.insert(key);
    said_of_all_[key] = tokens_[value].text;
    return tokens_[value].text;
  }
  position_ = start;
  return std::nullopt;
}

std::optional<std::string> PhraseParser::variable() {
  // "the first half": of what is computed so far, along the last axis.
  if (looking_at_any({"first half", "second half", "other half"})) {
    bool first = at().is("first");
    position_ += 2;
    accept("of");
    if (!accept("x")) accept("input");
    std::string whole = halved_.empty() ? (halved_ = once(current())) : halved_;
    used_current_ = true;
    return whole + (first ? "[..., : " + whole + ".shape[-1] // 2]" : "[..., " + whole + ".shape[-1] // 2 :]");
  }
  size_t longest = length_of_variable();
  if (!longest) return std::nullopt;
  // "alpha * x with alpha = 0.5"
  if (auto value = said_of_all_.find("the number " + at().text); longest == 1 && value != said_of_all_.end()) {
    used_of_all_.insert(value->first);
    ++position_;
    return value->second;
  }
  for (const Name& n : kNames)
    if (length_of(n.words, position_) == longest) {
      position_ += longest;
      return use(std::string(n.variable), std::string(n.made_by));
    }
  return use(tokens_[position_++].text, std::string(kMatrix));
}

size_t PhraseParser::length_of_variable() const {
  size_t longest = 0;
  for (const Name& n : kNames) longest = std::max(longest, length_of(n.words, position_));
  if (longest) return longest;
  // A value is a tensor of its own beside a gate or a key; elsewhere the word says nothing.
  if (at().is("value"))
    return std::any_of(tokens_.begin(), tokens_.end(), [](const Token& t) { return t.is("gate") || t.is("key"); });
  return at().kind == Token::Kind::Word && at().text.size() == 1 &&
         std::string_view("abcghkmpqrsuvxyz").find(at().text[0]) != std::string_view::npos;
}

// Sums and products of two named things, and the larger of them.
std::optional<Result<std::string>> PhraseParser::pairing() {
  struct Pairing {
    std::string_view words;
    char op;
  };
  constexpr Pairing kPairings[] = {{"difference between", '-'},
                                   {"difference of", '-'},
                                   {"product of", '*'},
                                   {"product between", '*'},
                                   {"sum of", '+'},
                                   {"ratio of", '/'},
                                   {"quotient of", '/'},
                                   {"ratio between", '/'},
                                   {"average of", 'm'},
                                   {"mean of", 'm'},
                                   {"maximum of", 'M'},
                                   {"max of", 'M'},
                                   {"larger of", 'M'},
                                   {"minimum of", 'n'},
                                   {"min of", 'n'},
                                   {"smaller of", 'n'},
                                   {"maximum between", 'M'},
                                   {"minimum between", 'n'},
                                   {"max between", 'M'},
                                   {"min between", 'n'},
                                   {"greater of", 'M'}};
  Mark start = mark();
  for (const Pairing& p : kPairings) {
    if (!accept(p.words)) continue;
    skip_fillers();
    Result<std::string> left = power();
    skip_fillers();
    if (left && accept_any({"and", "to"})) {
      skip_fillers();
      bool names_one = at().kind != Token::Kind::End && !looking_at_any({"then", "return", "take", "apply", "compute"});
      Mark before = mark();
      Result<std::string> right = names_one ? power() : Result<std::string>(unknown());
      if (right) {
        composed_ = true;
        // "the sum of x and y squared" could square the sum.
        if (tokens_[position_ - 1].is("squared") &&
            choose("what is squared", {"the last term", "everything before it"}) != "the last term") {
          go_back(before);
          right = primary();
          if (!right) return right;
        }
        if (p.op == 'm') return "0.5 * (" + combined(*left, '+', *right) + ")";
        if (p.op == 'M' || p.op == 'n') {
          std::string bound = p.op == 'M' ? "min=" : "max=";
          if (is_number(*right)) return "torch.clamp(" + *left + ", " + bound + *right + ")";
          if (is_number(*left)) return "torch.clamp(" + *right + ", " + bound + *left + ")";
          return std::string(p.op == 'M' ? "torch.maximum(" : "torch.minimum(") + *left + ", " + *right + ")";
        }
        return "(" + combined(*left, p.op, *right) + ")";
      }
    }
    // "sum of squares" is something else
    go_back(start);
  }
  return std::nullopt;
}

Result<std::string> PhraseParser::primary() {
  skip_fillers();
  if (std::optional<std::string> named = constant()) return *named;
  if (std::optional<std::string> eps = epsilon()) return *eps;
  if (accept("twice")) {
    KW_TRY(std::string value, power());
    return combined("2.0", '*', value);
  }
  if (at().kind == Token::Kind::Number || (at().is("half") && !looking_at_any({"half rotated", "half split"}))) {
    std::optional<std::string> digits = number();
    if (!digits) return unknown();
    // "1.702 x" is a product, and so is "half the square of x".
    bool half = tokens_[position_ - 1].is("half");
    if (half) {
      accept("of");
      KW_TRY(std::string value, power());
      return combined("0.5", '*', value);
    }
    if (at().kind == Token::Kind::Word && at().text.size() == 1 && !at().is("d"))
      if (std::optional<std::string> v = variable()) {
        if (accept("squared")) return combined(*digits, '*', "torch.square(" + *v + ")");
        if (accept("^")) {
          std::optional<std::string> exponent = number();
          if (!exponent) return unknown();
          return combined(*digits, '*', "torch.pow(" + *v + ", " + *exponent + ")");
        }
        return "(" + *digits + " * " + *v + ")";
      }
    if (at().is("(") && tokens_[position_ - 1].kind == Token::Kind::Number &&
        at().column == tokens_[position_ - 1].column + static_cast<int>(tokens_[position_ - 1].text.size())) {
      KW_TRY(std::string factor, primary());  // 2(x + y)
      return combined(*digits, '*', factor);
    }
    return *digits;
  }
  if (accept("(")) {
    KW_TRY(std::string inner, expression());
    if (!accept(")")) return unknown();
    return "(" + without_outer_parentheses(inner) + ")";
  }
  if (accept("|")) {
    KW_TRY(std::string inner, expression());
    if (!accept("|")) return unknown();
    composed_ = true;
    return "torch.abs(" + without_outer_parentheses(inner) + ")";
  }
  size_t start = position_;
  if (accept_any({"each row", "every row", "rows of x", "each row of x", "every row of x"})) {
    rows_ = true;
    return current();
  }
  if (accept("one over")) {
    KW_TRY(std::string value, power());
    return combined("1.0", '/', value);
  }
  if (accept_any({"one minus", "one plus"})) {
    char op = tokens_[position_ - 1].is("minus") ? '-' : '+';
    KW_TRY(std::string value, product());
    return "(" + combined("1.0", op, value) + ")";
  }
  if (std::optional<Result<std::string>> pair = pairing()) return *pair;
  bool its = accept_any({"its", "their"});
  skip_fillers();
  if (at().is("squared") || at().is("cubed")) {  // "the squared logsumexp": unless a longer name begins so
    std::string power(at().text);
    Mark here = mark();
    const WordEntry* longer = match_entry();
    if (position_ == here.position + 1 || !longer) {
      position_ = here.position + 1;
      skip_fillers();
      size_t inner = position_;
      bool named = match_entry() != nullptr;
      position_ = inner;
      if (named || at().kind == Token::Kind::Word) {
        Result<std::string> value = primary();
        if (value) {
          composed_ = true;
          if (power == "squared") return "torch.square(" + without_outer_parentheses(*value) + ")";
          std::string name = once(*value);
          return "(" + name + " * " + name + " * " + name + ")";
        }
      }
    }
    go_back(here);
  }
  size_t here = position_;
  std::optional<Entry> e = entry_with_modifiers_before();
  size_t named = position_ - here;
  position_ = here;
  if (e && !its && length_of_variable() >= named) e.reset();  // "the attention scores"
  if (e) {
    position_ += named;
    if (its) {
      if (antecedent_.empty()) antecedent_ = current();
      e->operands = {antecedent_};
      used_current_ = true;
    }
    return entry(std::move(*e));
  }
  if (its) return unknown();
  position_ = start;
  if (std::optional<std::string> v = variable()) {
    // "(a x)": two letters in a row are a product inside a formula.
    if (v->size() == 1 || *v == "alpha" || *v == "beta") {
      bool letter =
          at().kind == Token::Kind::Word && at().text.size() == 1 && (at(1).is(")") || at(1).is("+") || at(1).is("-"));
      bool matrix = at().kind == Token::Kind::Word && at().text.size() == 1 &&
                    ((at(1).is("^") && at(2).is("t")) || at(1).is("transposed") || (at(1).is(".") && at(2).is("t")));
      if (matrix) {
        KW_TRY(std::string second, power());
        return combined(*v, '@', second);
      }
      if (letter)
        if (std::optional<std::string> second = variable()) return "(" + *v + " * " + *second + ")";
    }
    return *v;
  }
  if (std::optional<std::string> digits = number()) return *digits;
  return unknown();
}

}  // namespace kw::understand
