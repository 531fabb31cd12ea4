// The stages of a phrase: "add the residual", "cast to fp32", "multiply x by y", or an expression.
#include <algorithm>

#include "understand/words/expression_text.h"
#include "understand/words/phrase.h"

namespace kw::understand {

Status PhraseParser::stage() {
  skip_fillers();
  if (at().is("first") &&
      !looking_at_any({"first half", "first input", "first tensor", "first axis", "first dim", "first dimension"})) {
    ++position_;
    accept(",");
    skip_fillers();
  }
  if (current_.empty() && position_ > 0 && is_filler(tokens_[position_ - 1]) && accept("for")) skip_fillers();
  // "mean and variance" asks for two results.
  if (position_ > 0 && tokens_[position_ - 1].is("and") && !entry_names_.empty() &&
      find_entry(entry_names_.back())->form == WordForm::Reduction) {
    size_t start = position_;
    const WordEntry* next = match_entry();
    bool second = next && next->form == WordForm::Reduction;
    position_ = start;
    if (second) return refused("two results at once: describe one of them");
  }
  used_current_ = false;
  bool behind_comma = position_ > 0 && (tokens_[position_ - 1].is(",") || tokens_[position_ - 1].is(":"));
  size_t variables = phrase_.variables.size();
  std::string before = current_;
  KW_TRY(bool scene, scene_stage());
  if (scene) return {};
  KW_TRY(bool noun, noun_stage());
  if (noun) return {};
  KW_TRY(bool cast, cast_stage());
  if (cast) return {};
  KW_TRY(bool verb, verb_stage());
  if (verb) return {};
  KW_TRY(std::string value, expression());
  // A later stage that never looks at what was computed computes for nothing: its x may be the result so far.
  if (!before.empty() && !used_current_) {
    std::string restated = without_outer_parentheses(value), known;
    replace_all(restated, kKeep, "");
    if (!phrase_.statements.empty()) known = phrase_.statements.back();
    if (known == before + " = " + restated) return {};  // "z-loss, 1e-4 times …" says it twice
    if (phrase_.variables.size() != variables || before == "x") return unknown();
    // "leaky relu, max(x, 0.1 x)" may say the same twice.
    bool of_input = behind_comma && choose("what x means behind the comma", {"the result", "the input"}) == "the input";
    if (!of_input) {
      std::string renamed;
      for (size_t i = 0; i < value.size(); ++i) {
        auto part = [&](size_t k) {
          return k < value.size() &&
                 (std::isalnum(static_cast<unsigned char>(value[k])) || value[k] == '_' || value[k] == '.');
        };
        bool alone = value[i] == 'x' && !(i > 0 && part(i - 1)) && !(part(i + 1) && value[i + 1] != '.');
        renamed += alone ? before : std::string(1, value[i]);
      }
      if (renamed == value) return unknown();
      value = renamed;
    }
  }
  current_ = value;
  return {};
}

// Stages that only set the scene, or work on what there is.
Result<bool> PhraseParser::scene_stage() {
  if (accept_any({"split last dimension in half",
                  "split last dim in half",
                  "split last axis in half",
                  "split input in half",
                  "split x in half",
                  "split in half",
                  "chunk in two",
                  "split in two",
                  "split last dimension into two halves",
                  "split into two halves",
                  "chunk last dim in two",
                  "split last dim into two halves",
                  "split last dimension in two",
                  "split last dim in two",
                  "split x into two halves",
                  "split x along last dim",
                  "split x in two",
                  "chunk x in two",
                  "split x into two halves along last dim",
                  "split x in half along last dim",
                  "split input in two halves",
                  "split input into two halves",
                  "chunk x into two halves",
                  "split x in half along last axis",
                  "split x into halves",
                  "split into halves"})) {
    halved_ = once(current());
    composed_ = true;
    return true;
  }
  if (!halved_.empty() && accept_any({"multiply by second", "times second", "multiply with second"})) {
    accept("half");
    current_ = combined(current(), '*', halved_ + "[..., " + halved_ + ".shape[-1] // 2 :]");
    return true;
  }
  if (accept_any({"mask out future positions", "apply causal mask", "causal mask", "mask future positions",
                  "mask out future", "mask future", "add causal mask", "causally mask"})) {
    std::string whole = once(current());
    composed_ = true;
    current_ = whole + ".masked_fill(torch.ones(" + whole + ".shape[-2], " + whole +
               ".shape[-1], dtype=torch.bool).triu(1), float('-inf'))";
    return true;
  }
  if (Mark start = mark();
      accept_any({"fill mask with", "mask fill with", "masked fill with", "fill masked positions with",
                  "fill masked entries with", "set masked positions to", "set masked entries to", "mask with",
                  "fill where mask is true with", "fill mask by", "fill masked elements with", "mask fill",
                  "masked fill", "set masked elements to"})) {
    std::string value;
    if (accept_any({"- inf", "-inf", "minus infinity", "negative infinity", "- infinity", "minus inf"}))
      value = "float('-inf')";
    else if (std::optional<std::string> n = number())
      value = *n;
    if (!value.empty()) {
      composed_ = true;
      std::string whole = current();
      current_ = parenthesized(whole, Binding::Atom) + ".masked_fill(" + use("mask", "torch.rand(rows, cols) > 0.5") +
                 ", " + value + ")";
      return true;
    }
    go_back(start);
  }
  for (auto [words, reduction] :
       {std::pair("averaged over batch", ".mean()"), std::pair("average over batch", ".mean()")})
    if (size_t start = position_; accept(words)) {
      if (looking_at_any({"dim", "dimension", "axis"})) {
        position_ = start;
        break;
      }
      composed_ = true;
      current_ = parenthesized(current(), Binding::Atom) + reduction;
      replace_all(current_, kKeep, "");
      return true;
    }
  return false;
}

// "bias add + GELU", "residual add followed by RMSNorm": a step named by a noun.
Result<bool> PhraseParser::noun_stage() {
  Mark start = mark();
  std::optional<std::string> term = length_of_variable() ? variable() : std::nullopt;
  if (!term || !accept_any({"add", "addition", "sum"})) {
    go_back(start);
    return false;
  }
  current_ = combined(current(), '+', *term);
  skip_fillers();
  if (!accept_any({"+", "plus", "with", "and"})) return true;
  if (at().kind == Token::Kind::End) return unknown();
  before_last_ = once(current());
  current_ = before_last_;
  KW_CHECK(stage());
  return true;
}

// "cast to fp32", "cast back": a stage of its own.
Result<bool> PhraseParser::cast_stage() {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {{"fp32", "torch.float32"},
                                                                      {"float32", "torch.float32"},
                                                                      {"single precision", "torch.float32"},
                                                                      {"float", "torch.float32"},
                                                                      {"f32", "torch.float32"},
                                                                      {"full precision", "torch.float32"},
                                                                      {"bf16", "torch.bfloat16"},
                                                                      {"bfloat16", "torch.bfloat16"},
                                                                      {"fp16", "torch.float16"},
                                                                      {"float16", "torch.float16"},
                                                                      {"half precision", "torch.float16"},
                                                                      {"half", "torch.float16"},
                                                                      {"fp64", "torch.float64"},
                                                                      {"float64", "torch.float64"},
                                                                      {"double", "torch.float64"},
                                                                      {"double precision", "torch.float64"}};
  Mark start = mark();
  if (!accept_any({"cast", "casting", "convert", "converted", "upcast", "downcast", "casted", "promote", "round"}))
    return false;
  bool up = tokens_[start.position].is("upcast");
  skip_fillers();
  if (accept("back")) {
    accept_any({"to input dtype", "to input type", "to original dtype", "to original type", "to x dtype",
                "to dtype of x", "to input's dtype", "to dtype of input", "to same dtype", "to original precision",
                "to input precision"});
    if (phrase_.variables.empty()) return unknown();
    current_ = parenthesized(current(), Binding::Atom) + ".to(" + phrase_.variables[0].first + ".dtype)";
    composed_ = true;
    return true;
  }
  std::string value;
  if (std::optional<std::string> named = variable())
    value = *named;
  else
    value = current();
  skip_fillers();
  bool to = accept("to");
  skip_fillers();
  for (auto [words, type] : kTypes)
    if (to && accept(words)) {
      current_ = parenthesized(value, Binding::Atom) +
                 (type == "torch.float32" ? ".float()" : ".to(" + std::string(type) + ")");
      composed_ = true;
      return true;
    }
  if (up && !to) {
    current_ = parenthesized(value, Binding::Atom) + ".float()";
    return true;
  }
  go_back(start);
  return false;
}

Result<bool> PhraseParser::verb_stage() {
  struct Verb {
    std::string_view words;
    char op;
  };
  size_t start = position_;
  // "softmax, subtracting the max" says how, not what comes next.
  bool gerund = at().text.ends_with("ing") && at().kind == Token::Kind::Word;
  if (gerund && !current_.empty() && !tokens_[position_ - 1].is("then") &&
      looking_at_any({"adding", "subtracting", "multiplying", "dividing", "scaling"}))
    return unknown();
  // "multiply by y", "times y": what there is stands on the left.
  constexpr Verb kVerbs[] = {
      {"multiply by", '*'},    {"multiply it by", '*'}, {"multiply with", '*'}, {"multiplied by", '*'},
      {"multiplying by", '*'}, {"scale by", '*'},       {"scaling by", '*'},    {"scaled by", '*'},
      {"gate with", '*'},      {"gate by", '*'},        {"gated by", '*'},      {"times", '*'},
      {"divide by", '/'},      {"divided by", '/'},     {"dividing by", '/'},   {"minus", '-'},
      {"plus", '+'},           {"shift by", '+'},       {"shifted by", '+'},    {"scale and shift by", 'a'}};
  const Verb* longest = nullptr;
  size_t length = 0;
  for (const Verb& verb : kVerbs)
    if (size_t n = length_of(verb.words, position_); n > length) longest = &verb, length = n;
  // An entry can begin with a verb: "divide by the sum".
  auto named_longer = [&](size_t n) {
    const WordEntry* word = match_entry();
    bool longer = word != nullptr && position_ > start + n;
    position_ = start;
    return longer;
  };
  if (longest && longest->words == "minus" && current_.empty()) longest = nullptr;  // "minus x" negates
  if (longest && longest->op != 'a' && !named_longer(length)) {
    position_ += length;
    skip_fillers();
    std::string left = antecedent_ = current();
    bool fraction = at().kind == Token::Kind::Number && at(1).is("/");  // "scale by 1 / sqrt(d)"
    bool whole = longest->op == '+' || longest->op == '-' || fraction;
    KW_TRY(std::string right, whole ? product() : power());
    current_ = combined(left, longest->op, right);
    // The formula goes on: "then * (1 + scale) + shift".
    while (char more = sum_operator()) {
      KW_TRY(right, product());
      current_ = combined(current_, more, right);
    }
    return true;
  }
  // "add y", "add y to x", "add x and y", "subtract y from x", "multiply x by y", "divide x by its norm"
  constexpr Verb kTransitive[] = {{"divide", '/'}, {"dividing", '/'}, {"multiply", '*'},    {"multiplying", '*'},
                                  {"scale", '*'},  {"add", '+'},      {"adding", '+'},      {"added", '+'},
                                  {"sum", '+'},    {"subtract", '-'}, {"subtracting", '-'}, {"gate", '*'}};
  for (const Verb& verb : kTransitive) {
    if (!looking_at(verb.words) || named_longer(1)) continue;
    bool noun = verb.words == "sum" || verb.words == "gate" || verb.words == "scale";
    ++position_;
    skip_fillers();
    if (verb.words == "sum" && !(at().kind == Token::Kind::Word && at().text.size() == 1 && at(1).is("and"))) {
      position_ = start;
      continue;
    }
    Mark inside = mark();
    Result<std::string> first = product();
    if (!first) {
      if (!noun) return tl::unexpected(first.error());
      go_back(inside);
      position_ = start;
      continue;
    }
    skip_fillers();
    bool sums = verb.op == '+' || verb.op == '-';
    std::string joined;
    if (size_t joint = position_; verb.op == '+' && accept_any({"to", "and", "with"})) {
      bool to = tokens_[joint].is("to");
      skip_fillers();
      if (to || (current_.empty() && length_of_variable())) {
        KW_TRY(std::string second, product());
        current_ = to ? combined(second, '+', *first) : combined(*first, '+', second);
        return true;
      }
      position_ = joint;  // "add 1 and take the log" goes on to the next stage
    }
    if (verb.op == '-' && accept("from")) {
      KW_TRY(std::string left, product());
      current_ = combined(left, '-', *first);
      return true;
    }
    if (sums) {
      current_ = combined(current(), verb.op, *first);
      return true;
    }
    if (verb.words == "scale" && accept_any({"to unit norm", "to unit length", "to unit l2 norm"})) {
      current_ = "F.normalize(" + *first + ", p=2.0, dim=-1)";
      composed_ = true;
      return true;
    }
    if (!accept_any({"by", "with"}) && !(verb.op == '*' && verb.words.starts_with("multipl") && accept("and"))) {
      if (!noun) return unknown();
      go_back(inside);
      position_ = start;
      continue;
    }
    antecedent_ = *first;
    bool fraction = at().kind == Token::Kind::Number && at(1).is("/");
    KW_TRY(std::string right, fraction ? product() : power());
    current_ = combined(*first, verb.op, right);
    return true;
  }
  // "* (1 + scale) + shift" goes on from what there is.
  if (!current_.empty() && looking_at_any({"*", "/", "+"})) {
    char op = tokens_[position_++].text[0];
    std::string left = current();
    KW_TRY(std::string right, op == '+' ? product() : power());
    current_ = combined(left, op, right);
    while (char more = sum_operator()) {
      KW_TRY(right, product());
      current_ = combined(current_, more, right);
    }
    return true;
  }
  return false;
}

}  // namespace kw::understand
