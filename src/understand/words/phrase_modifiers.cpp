// What may follow a name: its numbers, range, axis, weights, reduction and variant.
#include "understand/words/phrase.h"

#include <algorithm>

namespace kw::understand {
namespace {

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
    {"groups", "groups"},
    {"num groups", "groups"},
    {"label smoothing", "smoothing"},
    {"smoothing", "smoothing"},
    {"coefficient", "coefficient"},
    {"weight", "weight"},
};

bool takes_number(const WordEntry& word, std::string_view name) {
  for (const std::string& n : pieces(word.numbers, ' '))
    if (n.substr(0, n.find_first_of("=!")) == name) return true;
  return false;
}

}  // namespace

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

// Clauses that say nothing new about an entry: where the inputs come from, or which model made it known.
bool PhraseParser::neutral_clause(Entry& e) {
  size_t start = position_;
  if (e.word->form == WordForm::Pointwise && (accept("like in") || accept("in"))) {
    bool named = false;
    while (at().kind == Token::Kind::Word && !is_filler(at()) && !at().is("then") && !at().is("and"))
      named = true, ++position_;
    if (named) return true;
    position_ = start;
  }
  if (e.word->form == WordForm::Pair) {
    for (std::string_view words :
         {"gate and up come in two separate", "gate and up are two separate", "gate and up are separate",
          "gate and up given separately", "gate", "two inputs", "two separate inputs", "both given"})
      if (accept(words)) {
        accept("inputs");
        skip_fillers();
        return true;
      }
  }
  if (e.word->form == WordForm::Norm && (accept("nchw") || accept("nchw input"))) {
    skip_fillers();
    return true;
  }
  if (e.word->name.starts_with("prelu") && accept("channels last")) return true;
  if (e.word->name == "masked_mean" && accept("mask 1 for real tokens")) return true;
  if (e.word->meaning.ends_with(".sum(-1)") && (accept("one number per row") || accept("per row"))) return true;
  position_ = start;
  return false;
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
  if (e.word->name == "focal") {  // an alpha settles which focal loss it is
    if (at().is("alpha")) e.word = find_entry("focal_alpha");
    if (at().is("gamma")) {
      ++position_;
      accept("=") || accept("of");
      if (std::optional<std::string> value = number()) {
        e.numbers["gamma"] = *value;
        return true;
      }
      position_ = start;
    }
  }
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
        if (n.number == "slope")
          accept("on negative side") || accept("for negative inputs") || accept("for negative values");
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
      accept("each row") || accept("every row") || accept("for every row") || accept("of every row") ||
      accept("one number per row") || accept("per token") || accept("row by row") || accept("across columns") ||
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
      if (accept("keys")) dim = "-1";
      constexpr std::pair<std::string_view, std::string_view> kAxes[] = {
          {"last", "-1"},       {"final", "-1"},   {"innermost", "-1"}, {"trailing", "-1"},  {"feature", "-1"},
          {"features", "-1"},   {"hidden", "-1"},  {"class", "-1"},     {"embedding", "-1"}, {"vocab", "-1"},
          {"vocabulary", "-1"}, {"first", "0"},    {"leading", "0"},    {"batch", "0"},      {"second", "1"},
          {"channel", "1"},     {"sequence", "1"}, {"time", "1"}};
      for (auto [word, value] : kAxes)
        if (dim.empty() && accept(word)) {
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
      accept("affine free") || accept("not affine") || accept("without elementwise affine") ||
      accept("without learnable parameters") || accept("without learnable weight") ||
      accept("without learnable weights") || accept("without parameters") || accept("parameter free") ||
      accept("non affine") || accept("without scale and shift") || accept("unweighted") || accept("without gain") ||
      accept("without scale") || accept("without learnable scale") || accept("no learnable parameters") ||
      accept("without any weight") || accept("no learnable weight")) {
    e.weight = e.bias = false;
    while (accept("parameters") || accept("params") || accept("parameter") || accept("transform") ||
           accept("transformation")) {
    }
    return true;
  }
  if (accept("affine weight + bias") || accept("affine weight and bias") || accept("weight + bias") ||
      accept("weight and bias") || accept("scale and shift") || accept("gain and bias") ||
      accept("affine parameters") || accept("elementwise affine") || accept("affine")) {
    return has_bias;
  }
  if (has_bias && accept("bias")) return true;
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
                              {"mean over all", "mean"},
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

}  // namespace kw::understand
