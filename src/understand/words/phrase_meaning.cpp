// From an entry and its modifiers to the PyTorch expression that they mean.
#include <algorithm>

#include "understand/words/expression_text.h"
#include "understand/words/phrase.h"

namespace kw::understand {

Result<std::string> PhraseParser::meaning(Entry& e) {
  while (!e.word->choices.empty()) e.word = find_entry(choose(std::string(e.word->name), pieces(e.word->choices, '|')));
  bool square = std::any_of(tokens_.begin(), tokens_.end(), [](const Token& t) {
    return t.kind == Token::Kind::Word && std::isdigit(static_cast<unsigned char>(t.text[0])) &&
           t.text.find('x') != std::string::npos;
  });
  if (e.word->name == "max_pool_square" && !square)
    e.word = find_entry(choose("how many axes the window has", {"max_pool2d", "max_pool1d"}));
  const WordEntry& word = *e.word;
  std::string text(word.meaning);
  entry_names_.emplace_back(word.name);
  if (e.numbers.contains("bound")) {  // max(x, 0)
    if (e.operands.size() != 1) return unknown();
    composed_ = true;
    return "torch.clamp(" + without_outer_parentheses(e.operands[0]) + (word.name == "amax" ? ", min=" : ", max=") +
           e.numbers["bound"] + ")";
  }
  bool extreme = word.name == "maximum" || word.name == "minimum";
  if ((word.name == "amax" || word.name == "amin" || extreme) && e.operands.size() == 2) {  // max(x, y), max(0, x)
    composed_ = true;
    bool most = word.name == "amax" || word.name == "maximum";
    std::string bound = most ? ", min=" : ", max=";
    std::string first = without_outer_parentheses(e.operands[0]), second = without_outer_parentheses(e.operands[1]);
    if (is_number(first)) return "torch.clamp(" + second + bound + first + ")";
    if (is_number(second)) return "torch.clamp(" + first + bound + second + ")";
    return (most ? "torch.maximum(" : "torch.minimum(") + first + ", " + second + ")";
  }
  if (word.name == "where") {
    if (e.operands.size() != 3) return unknown();
    return "torch.where(" + e.operands[0] + ", " + e.operands[1] + ", " + e.operands[2] + ")";
  }
  if (e.operands.size() == 1 && is_constant(e.operands[0])) {  // sqrt(2 / pi)
    bool known = word.name == "sqrt" || word.name == "log" || word.name == "exp";
    if (!known) return refused(std::string(word.name) + " of a number is no tensor");
    return "math." + std::string(word.name) + "(" + without_outer_parentheses(e.operands[0]) + ")";
  }
  KW_CHECK(fill_axis(e, text));
  KW_CHECK(fill_numbers(e, text));
  KW_CHECK(fill_operands(e, text));
  fill_tensors(e, text);
  KW_CHECK(fill_weights(e, text));
  for (const std::string& maker : pieces(word.makers, '|')) {
    std::string name = maker.substr(0, maker.find('='));
    size_t which = name == "x" ? 0 : name == "y" ? 1 : name == "z" ? 2 : 3;
    if (which < e.operands.size()) name = e.operands[which];
    for (auto& [variable, how] : phrase_.variables)
      if (variable == name && maker.find("{kernel}") == std::string::npos) how = maker.substr(maker.find('=') + 1);
  }
  return reduced(e, text);
}

Status PhraseParser::fill_axis(Entry& e, std::string& text) {
  const WordEntry& word = *e.word;
  if (auto said = said_of_all_.find("axis"); e.dim.empty() && said != said_of_all_.end() &&
                                             (text.find("{dim}") != std::string::npos || said->second == "-1") &&
                                             word.form != WordForm::Loss && word.form != WordForm::Pointwise) {
    e.dim = said->second;
    used_of_all_.insert("axis");
  }
  if (word.name == "layer_norm" && e.dim.starts_with("(")) {
    replace_all(text, "({x}.shape[-1],)", e.dim == "(-2, -1)" ? "{x}.shape[-2:]" : "{x}.shape[-3:]");
    rank_ = std::max(rank_, e.dim == "(-2, -1)" ? 3 : 4);
    if (e.weight.value_or(true)) return refused("a weight over several axes has no usual shape");
  }
  if (word.form == WordForm::Loss) {
    bool elementwise = text.find("{labels}") == std::string::npos && text.find("(-1)") == std::string::npos &&
                       text.find("triplet") == std::string::npos && text.find("cosine") == std::string::npos &&
                       e.dim != "rest" && !word.name.starts_with("kl_");
    bool reduces = e.reduction.empty() || e.reduction == "mean" || e.reduction == "sum";
    if (!e.dim.empty() && !(elementwise && reduces)) return refused("this loss is not reduced along one axis");
    return {};
  }
  bool takes_none = text.find("{dim}") == std::string::npos;
  if (takes_none && !e.dim.empty() && e.dim != "-1" && !(word.name == "layer_norm" && e.dim.starts_with("(")))
    return refused(std::string(word.name) + " does not go along axis " + e.dim);
  if (text.find("{dim}") == std::string::npos) return e.keepdim ? Status(unknown()) : Status();
  if (e.dim.empty() && word.form == WordForm::Reduction) {
    bool of_reduced = !e.operands.empty() && e.operands[0].find(kKeep) != std::string::npos;
    // What is reduced already is reduced wholly; what was centered along an axis goes on along it.
    std::string definition = phrase_.statements.empty() ? "" : phrase_.statements.back();
    bool goes_on = e.operands.empty() && !last_dim_.empty() && definition.starts_with(current_ + " = ") &&
                   definition.find("keepdim=True") != std::string::npos;
    e.dim = of_reduced         ? "all"
            : goes_on || rows_ ? (rows_ ? "-1" : last_dim_)
                               : choose("the axis of " + std::string(word.name), {"-1", "all"});
  }
  bool scan = text.find("torch.cum") != std::string::npos || word.name == "logcumsumexp" || word.name == "flip" ||
              word.name == "sort";
  if (e.dim.empty() && scan) e.dim = choose("the axis of " + std::string(word.name), {"-1", "0"});
  if (e.dim.empty()) e.dim = "-1";
  if (e.dim == "all" || e.dim == "rest" || e.dim.starts_with("(")) {
    if (word.form != WordForm::Reduction) {
      if (e.dim != "all" &&
          (text.find("sum({dim}") != std::string::npos || text.find("mean({dim}") != std::string::npos) &&
          text.find("dim={dim}") == std::string::npos && e.dim.starts_with("(")) {
        replace_all(text, "{dim}", e.dim);
        return {};
      }
      return refused(std::string(word.name) + " goes along one axis");
    }
    bool index = text.find("arg") != std::string::npos || text.find("prod(") != std::string::npos;
    if (index && e.dim != "all") return refused(std::string(word.name) + " goes along one axis");
  }
  if (e.dim == "all") {
    if (e.keepdim) return unknown();
    replace_all(text, "({dim})", "()");
    replace_all(text, "({dim}, ", "(");
    if (text.find("{dim}") != std::string::npos) {  // logsumexp and friends: flatten first
      replace_all(text, "{x}", "{x}.flatten()");
      replace_all(text, "{dim}", "0");
    }
    return {};
  }
  if (e.dim == "rest") {
    if (e.keepdim) return unknown();
    replace_all(text, "{x}", "{x}.flatten(1)");
    e.dim = "1";
  }
  if (word.form == WordForm::Reduction) {
    std::string keep = e.keepdim ? ", keepdim=True" : std::string(kKeep);
    replace_all(text, "{dim})", "{dim}" + keep + ")");
    replace_all(text, "{dim}, correction=0)", "{dim}, correction=0" + keep + ")");
    replace_all(text, "{dim}, correction=1)", "{dim}, correction=1" + keep + ")");
  } else if (e.keepdim) {
    return unknown();
  }
  replace_all(text, "{dim}", e.dim);
  last_dim_ = e.dim;
  // The inputs need that many axes.
  int needed = 0;
  for (size_t i = 0; i < e.dim.size(); ++i)
    if (std::isdigit(static_cast<unsigned char>(e.dim[i]))) {
      int axis = e.dim[i] - '0';
      needed = std::max(needed, i > 0 && e.dim[i - 1] == '-' ? axis : axis + 1);
    }
  if (e.dim.starts_with("(")) needed = std::max(needed, 3);
  if (needed > 4) return refused("axis " + e.dim + " is beyond what a phrase speaks of");
  rank_ = std::max(rank_, needed);
  return {};
}

Status PhraseParser::fill_numbers(Entry& e, std::string& text) {
  const WordEntry& word = *e.word;
  if (in_formula_.contains("temperature") ||
      (!e.numbers.contains("temperature") && !said_of_all_.contains("temperature")))
    replace_all(text, " / {temperature}", "");
  if (!e.numbers.contains("scale")) replace_all(text, " * {scale}", "");
  if (word.name == "silu" && e.numbers.contains("beta")) text = "{x} * torch.sigmoid({beta} * {x})";
  if (word.name == "clamp") {
    if (!e.numbers.contains("min") && !e.numbers.contains("max")) return refused("clamp needs a bound");
    std::string low = e.numbers["min"], high = e.numbers["max"];
    text = low.empty()    ? "torch.clamp({x}, max=" + high + ")"
           : high.empty() ? "torch.clamp({x}, min=" + low + ")"
                          : text;
  }
  for (const std::string& n : pieces(word.numbers, ' ')) {
    std::string name = n.substr(0, n.find_first_of("=!?"));
    if (in_formula_.contains(name)) e.numbers.erase(name);
    auto given = e.numbers.find(name);
    if (auto said = said_of_all_.find(name);
        given == e.numbers.end() && said != said_of_all_.end() && !in_formula_.contains(name)) {
      given = e.numbers.emplace(name, said->second).first;
      used_of_all_.insert(name);
    }
    if (given == e.numbers.end() && n.ends_with("!") && word.name != "clamp")
      return bad_input(std::string(word.name) + " needs a number for its " + name, Place{"words", 1, at().column, 0},
                       "add \"with " + name + " 30\", for example");
    std::string fallback = n.substr(std::min(name.size() + 1, n.size()));
    if (given == e.numbers.end() && fallback.starts_with("{")) {  // the stride of a pooling is its window's size
      replace_all(text, "{" + name + "}", fallback);
      continue;
    }
    replace_all(text, "{" + name + "}", given == e.numbers.end() ? fallback : given->second);
  }
  for (const auto& [name, value] : e.numbers) replace_all(text, "{" + name + "}", value);
  // A number that the chosen variant does not take was said in vain.
  for (const auto& [name, value] : e.numbers) {
    bool takes = false;
    for (const std::string& n : pieces(word.numbers, ' ')) takes |= n.substr(0, n.find_first_of("=!?")) == name;
    if (!takes) return refused(std::string(word.name) + " has no " + name);
  }
  return {};
}

// What an entry without operands is of: what was computed so far, or the one tensor that was named.
std::optional<std::string> PhraseParser::implied_operand(const Entry& e) {
  if (!current_.empty() || phrase_.variables.empty()) return current();
  bool along = e.word->form == WordForm::Reduction || e.word->form == WordForm::Along;
  if (phrase_.variables.size() == 1 && along) return phrase_.variables[0].first;
  return std::nullopt;
}

Status PhraseParser::fill_operands(Entry& e, std::string& text) {
  const WordEntry& word = *e.word;
  bool takes_x = text.find("{x}") != std::string::npos, takes_y = text.find("{y}") != std::string::npos;
  bool takes_z = text.find("{z}") != std::string::npos;
  size_t expected = size_t(takes_x) + size_t(takes_y) + size_t(takes_z);
  if (e.operands.size() > expected)
    return refused(std::string(word.name) + " takes " + std::to_string(expected) + " operands, not " +
                   std::to_string(e.operands.size()));
  bool wide = e.wide && word.name.find("rms_norm") == std::string_view::npos;
  std::string first;
  if (takes_x) {
    if (e.operands.empty()) {
      std::optional<std::string> implied = implied_operand(e);
      if (!implied) return refused("what is " + std::string(word.name) + " of?");
      first = *implied;
    } else {
      first = e.operands[0];
    }
    if (first == current_) used_current_ = true;
    if ((count_of(text, "{x}") > 1 || wide) && !is_name(first)) first = once(first);
    if (word.form == WordForm::Reduction && e.dim == "all") replace_all(first, kKeep, "");
    fill_hole(text, "{x}", wide ? first + ".float()" : first);
  }
  if (takes_y) {
    std::string second = e.operands.size() > 1 ? e.operands[1] : use("y", std::string(kMatrix));
    if (e.operands.size() == 1 && e.operands[0] == "y")
      return refused("what is " + std::string(word.name) + " of, beside y?");
    if (count_of(text, "{y}") > 1 && !is_name(second)) second = once(second);
    fill_hole(text, "{y}", wide ? second + ".float()" : second);
  }
  if (takes_z) fill_hole(text, "{z}", e.operands.size() > 2 ? e.operands[2] : use("z", std::string(kMatrix)));
  if (e.wide && e.cast_back && e.stays_wide) return unknown();
  if (e.wide && !e.cast_back && !e.stays_wide) {
    if (choose("the type of the result", {"the input's type", "fp32"}) == "fp32")
      e.stays_wide = true;
    else
      e.cast_back = true;
  }
  if (wide && e.cast_back && word.form != WordForm::Loss) {
    text = parenthesized(text, Binding::Atom) + ".to(" + first + ".dtype)";
    composed_ = true;
  }
  if (e.stays_wide && word.name.find("rms_norm") != std::string_view::npos) {
    replace_all(text, ".to(" + first + ".dtype)", "");
    composed_ = true;
  }
  return {};
}

Status PhraseParser::fill_weights(Entry& e, std::string& text) {
  const WordEntry& word = *e.word;
  bool has_weight = text.find("{w}") != std::string::npos, has_bias = text.find("{b}") != std::string::npos;
  if (word.form == WordForm::Norm && has_weight && !e.weight) {
    // "rmsnorm times the weight" gives its weight itself.
    bool statistics = word.name == "batch_norm_inference" &&
                      std::any_of(tokens_.begin(), tokens_.end(),
                                  [](const Token& t) { return t.is("running") || t.is("stored") || t.is("given"); });
    if (e.numbers.contains("offset") || word.name == "rms_norm_gemma" || word.name == "rms_norm_llama") {
      e.weight = true;
    } else if (statistics) {
      e.weight = e.bias = false;  // what it is given was listed
    } else {
      bool with = choose("whether " + std::string(word.name) + " has a weight", {"with", "without"}) == "with";
      e.weight = with;
      e.bias = with;
      composed_ = true;
    }
  }
  bool layer = word.name == "linear" || word.name == "bilinear" || word.form == WordForm::Window;
  if (has_bias && layer && !e.bias)
    e.bias = choose("whether " + std::string(word.name) + " has a bias", {"with", "without"}) == "with";
  bool weight = e.weight.value_or(word.form != WordForm::Norm);
  bool bias = e.bias.value_or(word.form != WordForm::Norm && word.name != "batch_norm_inference");
  if (word.name == "rms_norm_gemma" && !weight)
    return refused("Gemma's RMSNorm multiplies with its weight: it cannot be without one");
  if (has_weight && word.name == "rms_norm" && weight) {
    if (e.numbers.contains("offset") && e.numbers["offset"] != "0")
      replace_all(text, "{w} * ", "({w} + " + e.numbers["offset"] + ") * ");
    bool asks = e.wide && e.cast_back && !e.weight_in_fp32;
    if (e.weight_in_fp32.value_or(false) ||
        (asks && choose("where the weight is multiplied", {"in the input's type", "in fp32"}) == "in fp32")) {
      replace_all(text, "{w} * (", "({w}.float() * ");
    }
  }
  auto fresh = [&](const std::string& name) {
    std::string free = name;
    for (int n = 2; std::any_of(phrase_.variables.begin(), phrase_.variables.end(),
                                [&](const auto& v) { return v.first == free; });
         ++n)
      free = name + std::to_string(n);
    return free;
  };
  auto maker = [&](std::string_view name) -> std::string {
    for (std::string m : pieces(word.makers, '|'))
      if (m.substr(0, m.find('=')) == name) {
        auto kernel = e.numbers.find("kernel");
        replace_all(m, "{kernel}", kernel == e.numbers.end() ? "3" : kernel->second);
        return m.substr(m.find('=') + 1);
      }
    return std::string(kRow);
  };
  if (has_weight) {
    if (weight)
      replace_all(text, "{w}", use(fresh("w"), maker("w")));
    else if (text.find("{w} * ") != std::string::npos)
      replace_all(text, "{w} * ", "");
    else
      replace_all(text, "{w}", "None");
  }
  if (text.find("{a}") != std::string::npos) replace_all(text, "{a}", use("alpha", std::string(kScalar)));
  if (has_bias) replace_all(text, "{b}", bias ? use(fresh("b"), maker("b")) : "None");
  return {};
}

void PhraseParser::fill_tensors(Entry& e, std::string& text) {
  (void)e;
  struct Tensor {
    std::string_view hole;
    std::string_view name;
    std::string_view made_by;
  };
  constexpr Tensor kTensors[] = {{"{labels}", "labels", "torch.randint(0, cols, (rows,))"},
                                 {"{ids}", "ids", "torch.randint(0, rows, (tokens,))"},
                                 {"{table}", "table", kMatrix},
                                 {"{mean}", "running_mean", kRow},
                                 {"{var}", "running_var", "torch.rand(cols)"},
                                 {"{mask}", "mask", "torch.ones(rows, cols)"},
                                 {"{cos}", "cos", kMatrix},
                                 {"{sin}", "sin", kMatrix},
                                 {"{pos_weight}", "pos_weight", "torch.rand(cols)"},
                                 {"{class_weight}", "class_weight", "torch.rand(cols)"}};
  for (const Tensor& t : kTensors)
    if (text.find(t.hole) != std::string::npos)
      replace_all(text, t.hole, use(std::string(t.name), std::string(t.made_by)));
}

std::string PhraseParser::reduced(const Entry& e, std::string text) {
  const WordEntry& word = *e.word;
  if (word.form != WordForm::Loss) return text;
  std::string reduction = e.reduction;
  if (reduction.empty())
    reduction = word.name.starts_with("kl_")
                    ? choose("how the divergences are reduced", {"batchmean", "mean", "sum", "rows"})
                    : "mean";
  std::string elements = text;
  replace_all(elements, "{reduction}", "none");
  if (!e.dim.empty() && e.dim != "all") {  // "mean squared error along the last axis"
    elements = parenthesized(elements, Binding::Atom);
    std::string keep = e.keepdim ? ", keepdim=True" : std::string(kKeep);
    return elements + (reduction == "sum" ? ".sum(" : ".mean(") + e.dim + keep + ")";
  }
  elements = parenthesized(elements, Binding::Atom);
  if (reduction == "rows") return elements + ".sum(-1)";
  if (reduction == "batchmean") {
    std::string first = e.operands.empty() ? "x" : once(e.operands[0]);
    return elements + ".sum() / " + first + ".shape[0]";
  }
  if (text.find("{reduction}") != std::string::npos) {
    replace_all(text, "{reduction}", reduction);
    return text;
  }
  if (reduction == "mean") return elements + ".mean()";
  if (reduction == "sum") return elements + ".sum()";
  return text;
}

}  // namespace kw::understand
