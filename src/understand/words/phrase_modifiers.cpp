// What is said about an entry: its numbers, range, weights, reduction, casts and variant.
#include <algorithm>

#include "understand/words/phrase.h"

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
    {"leakiness", "slope"},
    {"leaky slope", "slope"},
    {"alpha", "slope"},
    {"epsilon", "eps"},
    {"eps", "eps"},
    {"alpha", "alpha"},
    {"scale", "alpha"},
    {"scale", "scale"},
    {"scale factor", "scale"},
    {"scaling factor", "scale"},
    {"scaling", "scale"},
    {"beta", "beta"},
    {"sharpness", "beta"},
    {"soft cap", "cap"},
    {"softcap", "cap"},
    {"cap", "cap"},
    {"capped", "cap"},
    {"limit", "cap"},
    {"temperature", "temperature"},
    {"temp", "temperature"},
    {"temperature t", "temperature"},
    {"tau", "temperature"},
    {"temperature tau", "temperature"},
    {"t", "temperature"},
    {"weight offset", "offset"},
    {"offset", "offset"},
    {"delta", "delta"},
    {"threshold", "delta"},
    {"beta", "transition"},
    {"threshold", "transition"},
    {"delta", "transition"},
    {"margin", "margin"},
    {"threshold", "threshold"},
    {"cutoff", "threshold"},
    {"lambda", "lambda"},
    {"lambd", "lambda"},
    {"threshold", "lambda"},
    {"minimum", "min"},
    {"min", "min"},
    {"min value", "min"},
    {"minimum of", "min"},
    {"lower bound", "min"},
    {"at least", "min"},
    {"below at", "min"},
    {"from below at", "min"},
    {"lower limit", "min"},
    {"maximum", "max"},
    {"max", "max"},
    {"max value", "max"},
    {"upper bound", "max"},
    {"at most", "max"},
    {"above at", "max"},
    {"from above at", "max"},
    {"upper limit", "max"},
    {"gamma", "gamma"},
    {"focusing parameter", "gamma"},
    {"groups", "groups"},
    {"group", "groups"},
    {"num groups", "groups"},
    {"number of groups", "groups"},
    {"label smoothing", "smoothing"},
    {"smoothing", "smoothing"},
    {"ignore index", "ignore"},
    {"ignoring index", "ignore"},
    {"ignoring label", "ignore"},
    {"coefficient", "coefficient"},
    {"weight", "coefficient"},
    {"weight", "weight"},
    {"p", "p"},
    {"order", "p"},
    {"exponent", "exponent"},
    {"power", "exponent"},
    {"kernel", "kernel"},
    {"kernel size", "kernel"},
    {"window", "kernel"},
    {"window size", "kernel"},
    {"stride", "stride"},
    {"strides", "stride"},
    {"padding", "padding"},
    {"pad", "padding"},
    {"dilation", "dilation"},
    {"replacement", "fill"},
    {"replacement value", "fill"},
    {"k", "k"},
    {"factor", "factor"},
    {"upscale factor", "factor"},
    {"upscale", "factor"},
    {"size", "size"},
    {"quantile", "p"},
    {"shift", "shift"},
    {"diagonal", "diagonal"},
};

// Behind these a bare number is no number of the entry.
constexpr std::string_view kElsewhere[] = {",",    "by", "for", "and", "of", "from",  "to",      "on",
                                           "over", "in", "at",  ":",   "as", "where", "between", "against"};

std::string pair_of(std::string_view one, std::string_view two) {
  std::string out = "(";
  out.append(one).append(", ").append(two).append(")");
  return out;
}

bool takes_number(const WordEntry& word, std::string_view name) {
  for (const std::string& n : pieces(word.numbers, ' '))
    if (n.substr(0, n.find_first_of("=!?")) == name) return true;
  return false;
}

}  // namespace

bool PhraseParser::modifier(Entry& e) {
  return option_modifier(e) || number_modifier(e) || range_modifier(e) || window_modifier(e) || axis_modifier(e) ||
         weight_modifier(e) || reduction_modifier(e) || cast_modifier(e);
}

// Clauses that say nothing new about an entry: where the inputs come from, or which model made it known.
bool PhraseParser::neutral_clause(Entry& e) {
  size_t start = position_;
  bool by_model = accept_any({"like in", "as in", "as used in", "used in", "used by", "from", "of", "in"}) ||
                  tokens_[position_ ? position_ - 1 : 0].is("in") || tokens_[position_ ? position_ - 1 : 0].is("as");
  if (by_model && e.word->form != WordForm::Norm) {
    while (is_filler(at())) ++position_;
    if (accept_any({"mobilenetv3", "mobilenet", "mobilenet v3", "bert", "gpt 2", "gpt2", "transformers", "transformer",
                    "llama", "primer", "clip", "yolov4", "pytorch", "vit", "efficientnet", "resnet", "torch"})) {
      while (is_filler(at())) ++position_;
      return true;
    }
  }
  position_ = start;
  if (e.word->form == WordForm::Pair || e.word->form == WordForm::Loss) {
    if (accept_any({"gate and up come in two separate", "gate and up are two separate", "gate ,",
                    "gate and up are separate", "gate and up given separately", "two inputs", "two separate inputs",
                    "both given", "two separate", "gate and up separate", "gate and up separately",
                    "separate gate and up", "gate and up inputs"})) {
      accept_any({"inputs", "tensors"});
      skip_fillers();
      return true;
    }
  }
  if (e.word->form == WordForm::Norm && accept_any({"nchw", "nchw input", "4d input", "channels first"})) {
    skip_fillers();
    return true;
  }
  if (e.word->form == WordForm::Window && accept_any({"nchw", "nchw input", "images", "2d feature maps"})) return true;
  if (e.word->name.starts_with("prelu") && accept("channels last")) return true;
  if (e.word->name.starts_with("rope") &&
      accept_any({"given cos and sin", "cos and sin", "cos / sin", "given cos / sin", "precomputed cos and sin",
                  "cos and sin given", "cos , sin", "cos and sin tables", "precomputed cos / sin",
                  "given cos and sin tables"}))
    return true;
  if (e.word->name.find("softmax") != std::string_view::npos &&
      accept_any({"subtracting max", "max subtraction", "max subtracted", "subtracting row max", "subtracting maximum",
                  "subtracting its max", "after subtracting max", "subtracting max first", "max subtracted first",
                  "subtracting max for stability", "stabilized by subtracting max"}))
    return true;
  if (e.word->name == "embedding" &&
      accept_any({"ids", "token ids", "indices", "table", "embedding table", "weight matrix", "embedding matrix",
                  "ids and table", "ids in table", "table and ids", "token ids in table", "ids in embedding table",
                  "indices in table", "ids from table", "given ids"}))
    return true;
  if (e.word->name == "masked_mean" && accept("mask 1 for real tokens")) return true;
  if (e.word->meaning.ends_with(".sum(-1)") && accept_any({"one number per row", "per row"})) return true;
  if (e.word->name.find("hinge") != std::string_view::npos &&
      accept_any({"labels in { -1 , +1 }", "labels in { - 1 , + 1 }", "labels in -1 , 1", "labels -1 and 1",
                  "labels + 1 and - 1", "labels in { -1 , 1 }", "targets in { -1 , 1 }", "targets -1 and 1",
                  "labels of -1 and 1", "labels -1 or 1", "labels - 1 and 1", "labels in - 1 and 1",
                  "targets - 1 and 1", "labels - 1 or 1", "labels in { - 1 , 1 }", "targets in { - 1 , 1 }",
                  "targets in { - 1 , + 1 }"}))
    return true;
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
  // What led to this variant may be said again: "exact (erf) GELU".
  for (const WordEntry& base : lexicon())
    for (std::string_view rest = base.options; !rest.empty();) {
      size_t bar = std::min(rest.find('|'), rest.size());
      std::string_view option = rest.substr(0, bar);
      if (option.substr(option.find(':') + 1) == e.word->name)
        if (size_t n = length_of(option.substr(0, option.find(':')), position_); n > longest)
          longest = n, chosen = e.word->name;
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
  if (!longest) return false;
  position_ += longest;
  e.word = find_entry(chosen);
  accept_any({"style", "variant", "version", "form", "mode", "convention"});
  return true;
}

bool PhraseParser::number_modifier(Entry& e) {
  size_t start = position_;
  if (e.word->name == "focal") {  // an alpha settles which focal loss it is
    if (at().is("alpha")) e.word = find_entry("focal_alpha");
    if (at().is("gamma")) {
      ++position_;
      accept_any({"=", "of"});
      if (std::optional<std::string> value = number()) {
        e.numbers["gamma"] = *value;
        return true;
      }
      position_ = start;
    }
  }
  if (takes_number(*e.word, "offset")) {
    accept_any(
        {"scaled by", "multiplied by", "times", "*", "scale", "multiplying by", "weight", "weighted by", "scaling by"});
    bool open = accept("(");
    bool offset = accept_any({"unit offset", "one plus weight", "1 + w", "1 + weight", "1 plus weight", "1 plus w",
                              "one plus w", "1 + gamma", "weight + 1", "w + 1", "weight plus one", "weight plus 1",
                              "one plus gamma", "1 + scale", "+ 1 weight", "+ 1"});
    if (offset && (!open || accept(")"))) {
      e.numbers.insert_or_assign("offset", std::string(1, '1'));
      e.weight = true;
      accept_any({"scale", "scaling", "weight"});
      return true;
    }
    position_ = start;
    // "times the weight", "scaled by gamma"
    if (accept_any({"scaled by", "multiplied by", "times", "*", "weighted by", "scaled with"}) &&
        accept_any({"learned weight", "learnable weight", "weight vector", "weight", "w", "gamma", "learned gain",
                    "gain", "learned scale", "learnable gain", "learnable scale"})) {
      e.weight = true;
      accept("vector");
      return true;
    }
    position_ = start;
  }
  for (bool longest_first : {true, false}) {
    if (!longest_first) break;
    const NumberName* best = nullptr;
    size_t longest = 0;
    for (const NumberName& n : kNumberNames)
      if (takes_number(*e.word, n.number))
        if (size_t length = length_of(n.words, start); length > longest) best = &n, longest = length;
    if (best) {
      position_ = start + longest;
      while (accept_any({"=", "of", ":", "is", "set to", "equal to", "at", "to"})) {
      }
      bool bracket = accept("(");
      if (std::optional<std::string> value = number()) {
        if (bracket && accept(",")) {
          std::optional<std::string> second = number();
          if (!second) return position_ = start, false;
          *value = pair_of(*value, *second);
        }
        if (bracket && !accept(")")) return position_ = start, false;
        e.numbers[std::string(best->number)] = *value;
        if (best->number == "slope")
          accept_any({"on negative side", "for negative inputs", "for negative values", "for negative x",
                      "on negative part", "below zero"});
        return true;
      }
      if (best->number == "kernel" && at().kind == Token::Kind::Word &&
          std::isdigit(static_cast<unsigned char>(at().text[0]))) {
        position_ = start + longest;
        return window_modifier(e);
      }
    }
    position_ = start;
    if (std::optional<std::string> value = number()) {  // "a 0.1 slope", "4 groups"
      for (const NumberName& n : kNumberNames)
        if (takes_number(*e.word, n.number) && accept(n.words)) {
          e.numbers[std::string(n.number)] = *value;
          return true;
        }
    }
  }
  position_ = start;
  // "soft capping at 30", "soft cap 30": the only number that the entry must be given, or takes at all.
  std::vector<std::string> numbers = pieces(e.word->numbers, ' ');
  bool alone = numbers.size() == 1 && (e.word->form == WordForm::Pointwise || numbers[0].ends_with("!"));
  bool required = !numbers.empty() && numbers[0].ends_with("!") && !e.word->numbers.starts_with("min");
  if (alone || required) {
    std::string name = numbers[0].substr(0, numbers[0].find_first_of("=!?"));
    // "scale elu by 2", "elu, 2 times …", "elu - 1" speak of something else.
    bool apart = start > 0 && std::any_of(std::begin(kElsewhere), std::end(kElsewhere),
                                          [&](std::string_view word) { return tokens_[start - 1].is(word); });
    if (required && start > 0 &&
        (tokens_[start - 1].is("at") || tokens_[start - 1].is("to") || tokens_[start - 1].is("of")))
      apart = false;
    if (required && accept_any({"at", "to", "of", "="})) apart = false;
    bool digits = at().kind == Token::Kind::Number;
    if (std::optional<std::string> value = number();
        value && digits && !apart && !e.numbers.contains(name) && !looking_at_any({"*", "/", "x", "times"})) {
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
  accept_any({"at", "between", "to range", "range", "from", "to", "into", "in", "within"});
  accept("range");
  accept("interval");
  bool bracket = accept_any({"[", "("});
  std::optional<std::string> low = number();
  bool joined = accept_any({"and", "to", ","});
  std::optional<std::string> high = number();
  if (bracket && !accept_any({"]", ")"})) low.reset();
  if (low && joined && high) {
    e.numbers["min"] = *low;
    e.numbers["max"] = *high;
    return true;
  }
  position_ = start;
  return false;
}

// "3x3", "2 by 2": a window's size.
bool PhraseParser::window_modifier(Entry& e) {
  if (!takes_number(*e.word, "kernel") && !takes_number(*e.word, "size")) return false;
  std::string which = takes_number(*e.word, "kernel") ? "kernel" : "size";
  size_t start = position_;
  accept_any({"kernel", "kernel size", "of size", "window", "window of", "to", "size", "windows of"});
  const std::string& text = at().text;
  if (size_t cross = text.find('x'); at().kind == Token::Kind::Word && cross != std::string::npos && cross > 0 &&
                                     std::isdigit(static_cast<unsigned char>(text[0]))) {
    std::string one = text.substr(0, cross), two = text.substr(cross + 1);
    if (which == "kernel" && e.word->form == WordForm::Window) {
      e.numbers[which] = one == two ? one : pair_of(one, two);
      ++position_;
      accept_any({"kernel", "kernels", "window", "windows", "kernel size", "output"});
      return true;
    }
  }
  position_ = start;
  if (e.word->form == WordForm::Window &&
      accept_any({"no padding", "without padding", "nonoverlapping", "non overlapping", "unpadded", "valid padding"}))
    return true;
  return false;
}

bool PhraseParser::weight_modifier(Entry& e) {
  bool table = e.word->meaning.find("{b}") != std::string_view::npos;
  if (e.word->form != WordForm::Norm && !table) return false;
  bool has_bias = e.word->meaning.find("{b}") != std::string_view::npos || e.word->meaning.empty();
  if (has_bias &&
      accept_any({"without bias", "no bias", "without bias term", "bias free", "without shift", "bias less", "biasless",
                  "without any bias", "weight but no bias", "weight only", "weight without bias", "weight and no bias",
                  "scale but no shift", "weight , no bias", "no bias term", "only weight", "bias = false"})) {
    e.bias = false;
    if (!e.weight) e.weight = true;
    accept("term");
    return true;
  }
  if (accept_any({"without weight and bias",
                  "without weight or bias",
                  "without weights",
                  "without weight",
                  "no weight",
                  "without affine",
                  "no affine",
                  "affine free",
                  "not affine",
                  "without elementwise affine",
                  "without learnable parameters",
                  "without learnable weight",
                  "without learnable weights",
                  "without parameters",
                  "parameter free",
                  "non affine",
                  "nonaffine",
                  "without scale and shift",
                  "unweighted",
                  "without gain",
                  "without scale",
                  "without learnable scale",
                  "no learnable parameters",
                  "without any weight",
                  "no learnable weight",
                  "weightless",
                  "no weight or bias",
                  "no weight and bias",
                  "no weight and no bias",
                  "no parameters",
                  "without any parameters",
                  "without scale or shift",
                  "no scale or shift",
                  "no scale",
                  "no gain",
                  "parameterless",
                  "without affine parameters",
                  "without learned parameters",
                  "no learned parameters",
                  "affine = false",
                  "elementwise affine = false",
                  "no elementwise affine",
                  "no affine transform",
                  "without learned scale",
                  "without affine transform",
                  "without any affine",
                  "no scale and shift",
                  "without learnable affine",
                  "no learnable affine",
                  "without trainable parameters",
                  "no weights",
                  "weight free",
                  "not weighted",
                  "no trainable parameters",
                  "without weight and without bias",
                  "no affine params",
                  "without affine params"})) {
    e.weight = e.bias = false;
    while (accept_any({"parameters", "params", "parameter", "transform", "transformation", "weight", "terms"})) {
    }
    return true;
  }
  size_t start = position_;
  accept_any({"learnable", "learned", "trainable", "affine", "elementwise", "per channel", "per feature"});
  if (has_bias && accept_any({"weight + bias", "weight and bias", "scale and shift", "gain and bias",
                              "affine parameters", "gamma and beta", "scale and bias", "weights and biases",
                              "weights and bias", "weight bias", "gain and shift", "weight , bias", "w and b",
                              "weight and a bias", "parameters", "affine transform", "transform"})) {
    e.weight = e.bias = true;
    return true;
  }
  position_ = start;
  if (accept_any({"learnable affine", "elementwise affine", "affine transform", "affine"})) {
    e.weight = true;
    e.bias = has_bias;
    accept_any({"transform", "parameters"});
    return true;
  }
  accept_any({"learnable", "learned", "trainable", "per channel", "per feature"});
  if (has_bias && accept_any({"bias", "bias term", "bias vector"})) {
    e.bias = true;
    if (!e.weight) e.weight = true;
    return true;
  }
  if (e.word->form == WordForm::Norm && accept_any({"weight", "scale", "gain", "gamma", "w", "weights"})) {
    if (looking_at("=")) {
      position_ = start;
      return false;
    }
    accept("vector");
    accept("parameter");
    e.weight = true;
    return true;
  }
  position_ = start;
  if (e.word->form == WordForm::Norm && accept("weighted")) return (e.weight = true).has_value();
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
                              {"batch mean reduction", "batchmean"},
                              {"reduction batchmean", "batchmean"},
                              {"reduction = batchmean", "batchmean"},
                              {"mean over batch", "?batch"},
                              {"averaged over batch", "?batch"},
                              {"mean reduction", "mean"},
                              {"mean reduced", "mean"},
                              {"reduction mean", "mean"},
                              {"reduction = mean", "mean"},
                              {"averaged over all", "mean"},
                              {"averaged over everything", "mean"},
                              {"averaged", "mean"},
                              {"average", "mean"},
                              {"mean over all", "mean"},
                              {"mean", "mean"},
                              {"reduced by mean", "mean"},
                              {"reduced with mean", "mean"},
                              {"sum reduction", "sum"},
                              {"sum reduced", "sum"},
                              {"reduction sum", "sum"},
                              {"reduction = sum", "sum"},
                              {"summed over all", "sum"},
                              {"summed over everything", "sum"},
                              {"summed over batch", "sum"},
                              {"summed", "sum"},
                              {"sum", "sum"},
                              {"sum over all", "sum"},
                              {"summing", "sum"},
                              {"reduced by sum", "sum"},
                              {"reduced by summing", "sum"},
                              {"no reduction", "none"},
                              {"without reduction", "none"},
                              {"unreduced", "none"},
                              {"not reduced", "none"},
                              {"reduction none", "none"},
                              {"reduction = none", "none"},
                              {"none reduction", "none"},
                              {"elementwise", "none"},
                              {"element wise", "none"},
                              {"per element", "none"},
                              {"for each element", "none"},
                              {"per sample", "?sample"}};
  size_t longest = 0;
  const Words* best = nullptr;
  for (const Words& w : kWords)
    if (size_t n = length_of(w.words, position_); n > longest) longest = n, best = &w;
  if (!best) return false;
  size_t start = position_;
  position_ += longest;
  while (is_filler(at())) ++position_;
  if (looking_at_any({"of", "over"}) || best->reduction == "?sample") {  // "mean of …" begins something else
    position_ = start;
    return false;
  }
  e.reduction = best->reduction == "?batch" && e.word->name.starts_with("cross_entropy") ? "mean"
                : best->reduction == "?batch" ? choose("what is averaged", {"mean", "batchmean"})
                                              : std::string(best->reduction);
  return true;
}

// "in fp32", "computed in float32 and cast back"
bool PhraseParser::cast_modifier(Entry& e) {
  size_t start = position_;
  accept_any({"in", "computed in", "with", "using", "accumulated in", "done in", "evaluated in", "internally in"});
  if (accept_any({"fp32", "float32", "full precision", "single precision", "f32", "fp32 accumulation", "fp32 math",
                  "float32 math", "fp32 precision", "float32 precision", "fp32 internally", "fp32 compute"})) {
    e.wide = true;
    return true;
  }
  position_ = start;
  accept_any({"and", "then"});
  if (e.wide && accept_any({"cast back", "casting back", "cast result back", "cast output back", "converted back",
                            "cast down again", "casted back", "convert back", "downcast", "back", "rounded back",
                            "downcast back", "cast it back", "result cast back", "output cast back"})) {
    accept_any({"to input dtype", "to input type", "to original dtype", "to original type", "to dtype of x",
                "to x dtype", "to input's dtype", "to input precision", "to dtype of input", "to bf16", "to bfloat16",
                "to fp16", "to half", "at end", "to same dtype", "to original precision"});
    e.cast_back = true;
    for (std::string_view when : {"before", "after"}) {
      if (!accept(when)) continue;
      accept_any({"multiplying by", "scaling by", "applying", "multiplying with", "multiplication by",
                  "multiplication with", "scaling with"});
      if (!accept_any({"weight", "weights", "scale", "gain", "gamma", "weight multiplication", "scaling", "w"}))
        return position_ = start, false;
      e.weight = true;
      e.weight_in_fp32 = when == "after";
    }
    return true;
  }
  if (e.wide &&
      accept_any({"fp32 output", "keep fp32", "stays fp32", "output stays fp32", "result stays fp32",
                  "keeping fp32 output", "returned in fp32", "return fp32", "output in fp32", "output fp32"})) {
    e.stays_wide = true;
    return true;
  }
  position_ = start;
  return false;
}

}  // namespace kw::understand
