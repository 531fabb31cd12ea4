// An entry of the lexicon in a phrase: its name, what it is applied to, and what is said about it.
#include <algorithm>

#include "understand/words/expression_text.h"
#include "understand/words/phrase.h"

namespace kw::understand {

const WordEntry* PhraseParser::match_entry() {
  struct Alias {
    std::string words;
    const WordEntry* entry;
    std::vector<std::pair<std::string, const WordEntry*>> options;
  };
  static const std::vector<Alias> kAliases = [] {
    std::vector<Alias> all;
    for (const WordEntry& e : lexicon()) {
      std::vector<std::pair<std::string, const WordEntry*>> options;
      for (const std::string& option : pieces(e.options, '|')) {
        size_t colon = option.find(':');
        options.emplace_back(option.substr(0, colon), find_entry(option.substr(colon + 1)));
      }
      for (const std::string& alias : pieces(e.aliases, '|')) all.push_back({alias, &e, options});
    }
    return all;
  }();
  const WordEntry* best = nullptr;
  size_t longest = 0;
  for (const Alias& alias : kAliases) {
    size_t n = length_of(alias.words, position_);
    if (n > longest) longest = n, best = alias.entry;
    for (const auto& [words, chosen] : alias.options) {
      size_t before = length_of(words, position_);
      size_t after = before ? length_of(alias.words, position_ + before) : 0;
      if (after && before + after > longest) longest = before + after, best = chosen;
    }
  }
  // "sums", "the root": fillers at the end of a name belong to what follows.
  position_ += longest;
  return best;
}

// "row-wise softmax", "unweighted rms norm", "summed squared error": what is said may stand before the name.
std::optional<PhraseParser::Entry> PhraseParser::entry_with_modifiers_before() {
  size_t start = position_;
  Entry plain;
  plain.word = match_entry();
  size_t plain_end = position_;
  bool begins_with_dim = plain.word == nullptr;
  position_ = start;
  if (!begins_with_dim) {
    position_ = plain_end;
    return plain;
  }
  // What follows decides which modifiers there are: each word of the phrase ahead is tried as the beginning of a name.
  for (size_t ahead = 1; ahead <= 6 && start + ahead < tokens_.size(); ++ahead) {
    position_ = start + ahead;
    Entry e;
    e.word = match_entry();
    size_t end = position_;
    if (!e.word) continue;
    position_ = start;
    bool fits = true;
    while (fits && position_ < start + ahead) {
      size_t before = position_;
      if (is_filler(at()) || at().is(",") || at().is("(") || at().is(")")) {
        ++position_;
        continue;
      }
      fits = modifier(e) && position_ <= start + ahead && position_ > before;
    }
    if (fits && position_ == start + ahead) {
      position_ = end;
      return e;
    }
  }
  position_ = start;
  return std::nullopt;
}

Result<std::string> PhraseParser::entry(Entry e) {
  // sin^2(x), sin²(x)
  std::string exponent;
  if (size_t start = position_; (at().is("squared") && at(1).is("(")) || at().is("^")) {
    if (accept("squared"))
      exponent = "2";
    else if (accept("^"))
      if (std::optional<std::string> n = number()) exponent = *n;
    if (exponent.empty() || exponent.starts_with("-") || !looking_at("(")) exponent.clear(), position_ = start;
  }
  KW_CHECK(operands(e));
  while (true) {
    skip_fillers();
    size_t start = position_;
    // A preposition can lead to the modifier ("with eps 1e-5") or belong to it ("over the batch"): the reading that
    // understands more is meant.
    Entry best = e;
    size_t furthest = start;
    for (size_t joiners : {9, 2, 1, 0}) {
      position_ = start;
      Entry trial = e;
      bool opened = false;
      for (size_t n = 0; n < joiners && !opened; ++n) {
        if (!accept_any({"with", "using",   "in",   "where", "having", "and",   ",",   ":",   "via",    "under",
                         "from", "on",      "at",   "(",     "but",    "given", "by",  "for", "taken",  "as",
                         "to",   "between", "over", "along", "across", "whose", "its", "of",  "against"}))
          break;
        opened = tokens_[position_ - 1].is("(");
      }
      skip_fillers();
      if (!modifier(trial) && !neutral_clause(trial)) continue;
      if (opened) {
        bool closed = true;
        while (closed && accept_any({",", "and"})) closed = modifier(trial);
        if (!closed || !accept(")")) continue;
      }
      if (position_ > furthest) furthest = position_, best = trial;
    }
    if (furthest > start) {
      e = best;
      position_ = furthest;
      furthest_ = std::max(furthest_, position_);
      continue;
    }
    position_ = start;
    // Operands may follow the modifiers: "softmax with temperature 2 of x".
    if (e.operands.empty() && looking_at_any({"of", "between", "on", "applied to", "to"})) {
      KW_CHECK(operands(e));
      if (!e.operands.empty()) continue;
    }
    position_ = start;
    break;
  }
  KW_TRY(std::string value, meaning(e));
  if (exponent.empty()) return value;
  composed_ = true;
  if (exponent == "2") return "torch.square(" + without_outer_parentheses(value) + ")";
  return "torch.pow(" + without_outer_parentheses(value) + ", " + exponent + ")";
}

// name=value inside a call
bool PhraseParser::keyword_argument(Entry& e) {
  size_t start = position_;
  size_t equals = position_;
  while (equals < tokens_.size() && equals < position_ + 3 && tokens_[equals].kind == Token::Kind::Word) ++equals;
  if (equals == position_ || !tokens_[std::min(equals, tokens_.size() - 1)].is("=")) return false;
  if (accept_any({"keepdim = true", "keepdims = true"})) return e.keepdim = true;
  if (accept_any({"keepdim = false", "keepdims = false"})) return true;
  if (accept("approximate = none") && e.word->name == "gelu") {
    e.word = find_entry("gelu_erf");
    return true;
  }
  if (accept("approximate = tanh") && e.word->name == "gelu") {
    e.word = find_entry("gelu_tanh");
    return true;
  }
  if (accept_any({"unbiased = true", "correction = 1"}) &&
      (e.word->name == "variance" || e.word->name == "standard_deviation")) {
    e.word = find_entry(e.word->name == "variance" ? "var_unbiased" : "std_unbiased");
    return true;
  }
  if (accept_any({"unbiased = false", "correction = 0"}) &&
      (e.word->name == "variance" || e.word->name == "standard_deviation")) {
    e.word = find_entry(e.word->name == "variance" ? "var_biased" : "std_biased");
    return true;
  }
  position_ = start;
  if (modifier(e) && looking_at_any({")", ","})) return true;
  position_ = start;
  return false;
}

// f(x), f(x, y), f(x, dim=1), f(x, 0.2)
Status PhraseParser::call(Entry& e) {
  size_t wanted = e.word->form == WordForm::Pair || e.word->form == WordForm::Loss ? 2 : 1;
  if (e.word->meaning.find("{z}") != std::string_view::npos) wanted = 3;
  std::vector<std::string> numbers = pieces(e.word->numbers, ' ');
  size_t next_number = 0;
  if (accept(")")) return e.operands.empty() ? Status(unknown()) : Status();
  do {
    if (!e.operands.empty() && keyword_argument(e)) continue;
    bool takes_axis = e.word->form == WordForm::Along || e.word->form == WordForm::Reduction;
    if (size_t start = position_; e.operands.size() >= wanted) {
      std::optional<std::string> n = number();
      if (n && looking_at_any({")", ","})) {
        // max(x, 0) bounds, sum(x, 0) reduces the first axis.
        bool extreme = e.word->name == "amax" || e.word->name == "amin";
        bool whole = n->find_first_of(".e") == std::string::npos;
        bool axis_number = whole && std::abs(std::atoi(n->c_str())) <= 3 && *n != "3";
        bool bounded = e.operands[0].starts_with("torch.clamp(") || e.operands[0].starts_with("torch.max") ||
                       e.operands[0].starts_with("torch.min");
        if (extreme && (*n == "0" || bounded || !axis_number ||
                        choose("what " + *n + " is in " + std::string(e.word->aliases.substr(0, 3)),
                               {"a bound", "an axis"}) == "a bound")) {
          e.numbers["bound"] = *n;
          continue;
        }
        if (takes_axis && whole) {
          e.dim = *n;
          continue;
        }
        if (!takes_axis && next_number < numbers.size()) {
          std::string name = numbers[next_number++];
          e.numbers[name.substr(0, name.find_first_of("=!?"))] = *n;
          continue;
        }
        return unknown();
      }
      position_ = start;
    }
    KW_TRY(std::string argument, expression());
    e.operands.push_back(argument);
  } while (accept(","));
  if (!accept(")")) return unknown();
  // In a formula a norm has just what it is given: rmsnorm(x) * weight.
  if (e.word->form == WordForm::Norm && !e.weight) {
    std::vector<std::string> given(e.operands.begin() + 1, e.operands.end());
    e.weight = !given.empty();
    e.bias = given.size() > 1;
    e.operands.resize(1);
  }
  return {};
}

// What "of" takes: "silu of gate times up" is silu(gate) * up, "log of 1 plus x" is log(1 + x), and "mean of x plus y"
// is a question.
Result<std::string> PhraseParser::operand(const Entry& e, bool juxtaposed) {
  Mark start = mark();
  bool pair = e.word->form == WordForm::Pair || e.word->form == WordForm::Loss;
  if (pair) return power();
  bool parenthesis = looking_at("(");
  std::string name(e.word->name);
  Result<std::string> tight = looking_at_any({"-", "minus", "negative"}) ? power() : primary();
  if (!tight) return tight;
  if (parenthesis && (at().kind == Token::Kind::End || looking_at(","))) return tight;
  size_t behind = position_;
  bool pointwise = e.word->form == WordForm::Pointwise;
  auto wide = [&]() -> Result<std::string> {
    go_back(start);
    return sum();
  };
  skip_fillers();
  if (looking_at_any({"squared", "cubed", "^", "to power", "raised to"})) {
    bool symbol = at().is("^");
    bool total = name == "sum" || name == "mean" || name == "exp" || name == "log";
    bool whole = symbol || total || choose("what " + name + " is of", {"the power", "the value alone"}) == "the power";
    go_back(start);
    if (!whole) return primary();
    Result<std::string> raised = power();
    if (!raised) return raised;
    behind = position_;
    tight = raised;
  }
  bool sums = sum_operator() != 0;
  position_ = behind;
  char product = product_operator();
  bool multiplies = product != 0;
  position_ = behind;
  if (!sums && !multiplies) return tight;
  // log p - log q
  skip_fillers();
  bool symbol = at().kind == Token::Kind::Symbol;
  position_ = behind;
  if (juxtaposed && symbol) return tight;
  if (is_constant(*tight)) return wide();
  if (product == '*' && pointwise) return tight;
  // An epsilon is added inside of whatever it protects.
  size_t plus = position_;
  bool epsilon =
      sum_operator() == '+' && (looking_at_any({"eps", "epsilon"}) ||
                                (at().kind == Token::Kind::Number && at().text.find("e-") != std::string::npos));
  position_ = plus;
  if (epsilon && pointwise) return wide();
  // "the sum of x * y over the last axis": the axis closes what is summed.
  if (e.word->form == WordForm::Reduction || e.word->form == WordForm::Along) {
    Mark here = mark();
    Result<std::string> whole = wide();
    Mark end = mark();
    accept(",");
    bool closed = whole && axis(nullptr).has_value();
    go_back(end);
    if (closed) return whole;
    go_back(here);
  }
  if (choose("what " + name + " is of", {"the first term", "all that follows"}) == "the first term") return tight;
  return wide();
}

Status PhraseParser::operands(Entry& e) {
  bool pair = e.word->form == WordForm::Pair || e.word->form == WordForm::Loss;
  if (looking_at("(")) {  // "ELU (alpha = 0.5)", "exact (erf) GELU" are modifiers
    size_t open = position_++;
    if (const WordEntry* restated = match_entry(); restated && looking_at(")")) {  // "SiLU (swish)"
      if (restated == e.word) return ++position_, Status();
    }
    position_ = open + 1;
    Entry trial = e;
    bool modifies = e.operands.empty() && (modifier(trial) || neutral_clause(trial)) && looking_at_any({")", ","});
    bool method = !e.operands.empty();
    position_ = open;
    if (modifies && !method) return {};
    ++position_;
    return call(e);
  }
  if (!e.operands.empty()) return {};
  size_t start = position_;
  bool of = accept_any({"of", "applied to", "between", "on", "for", "to", "over two", "from"});
  if (!of) {
    // "clip x between …", "soft cap the logits at …": an operand right behind the name.
    skip_fillers();
    start = position_;
    if (looking_at_any({"bias", "weight", "gate", "residual", "mask", "scale", "shift", "gamma", "beta", "alpha",
                        "logits", "skip"}) &&
        !(looking_at("logits") && tokens_[position_ - 1].is("the")))
      if (!(e.word->form != WordForm::Norm && looking_at("logits"))) return {};
    Entry trial = e;
    if (modifier(trial)) {
      position_ = start;
      return {};
    }
    position_ = start;
    if (!current_.empty() && accept_any({"sum", "result"})) return {};  // "then RMSNorm the sum"
    Mark before = mark();
    std::optional<std::string> direct = variable();
    if (!direct || looking_at("=") || (pair && looking_at_any({"reduction"}))) {
      go_back(before);
      return {};
    }
    go_back(before);
    KW_TRY(std::string first, operand(e, true));
    e.operands.push_back(first);
    skip_fillers();
    if (pair && accept_any({"and", ",", "with", "against"})) {
      size_t second_at = position_;
      if (modifier(trial)) {
        position_ = second_at - 1;
        return {};
      }
      position_ = second_at;
      KW_TRY(std::string second, power());
      e.operands.push_back(second);
    }
    return {};
  }
  skip_fillers();
  // "of the last axis", "on logits", "for each row" are modifiers.
  size_t inside = position_;
  for (size_t from : {start, inside}) {
    Entry trial = e;
    position_ = from;
    if (modifier(trial) || neutral_clause(trial)) {
      position_ = start;
      return {};
    }
  }
  position_ = inside;
  if (accept_any({"two inputs", "both inputs", "two tensors", "two", "both"})) {
    skip_fillers();
    accept("inputs");
    skip_fillers();
    return {};
  }
  // Logits have their classes on the last axis: nothing else is ever reduced of them.
  bool logits = at().is("logits") && e.word->form == WordForm::Reduction && e.dim.empty();
  Result<std::string> first = operand(e, false);
  if (!first) return tl::unexpected(first.error());
  e.operands.push_back(*first);
  if (logits && is_name(*first)) e.dim = "-1";
  skip_fillers();
  // "cross entropy of x against the labels"
  bool labelled = e.word->meaning.find("{labels}") != std::string_view::npos || e.word->name == "cross_entropy";
  if (size_t before = position_; labelled && accept_any({"against", "and", "with", "to"})) {
    skip_fillers();
    Entry trial = e;
    if (modifier(trial) ||
        !accept_any({"labels", "targets", "target", "class labels", "label", "y", "class indices", "indices"}))
      position_ = before;
    else if (e.word->name == "cross_entropy" && *first == "x" && tokens_[inside].is("logits"))
      e.word = find_entry("cross_entropy_indices");
    return {};
  }
  if (pair && accept_any({"and", "with", "against", "vs", "versus", "to", ",", "from"})) {
    size_t second_at = position_;
    skip_fillers();
    Entry trial = e;
    if (modifier(trial)) {
      position_ = second_at - 1;
      return {};
    }
    position_ = second_at;
    KW_TRY(std::string second, power());
    e.operands.push_back(second);
  }
  if (e.word->meaning.find("{z}") != std::string_view::npos && accept_any({"and", ","})) {
    accept("and");
    KW_TRY(std::string third, power());
    e.operands.push_back(third);
  }
  return {};
}

}  // namespace kw::understand
