// From an entry and its modifiers to the PyTorch expression that they mean.
#include "understand/words/phrase.h"

#include <algorithm>

#include "understand/words/expression_text.h"

namespace kw::understand {

// ---- meaning ----
Result<std::string> PhraseParser::meaning(Entry& e) {
  if (!e.word->choices.empty()) {
    auto answer = answers_.find(std::string(e.word->name));
    if (answer == answers_.end()) return ask(std::string(e.word->name), pieces(e.word->choices, '|'));
    e.word = find_entry(answer->second);
  }
  const WordEntry& word = *e.word;
  std::string text(word.meaning);
  entry_names_.emplace_back(word.name);

  if (word.form == WordForm::Reduction || word.form == WordForm::Along) {
    if (auto said = said_of_all_.find("axis"); e.dim.empty() && said != said_of_all_.end()) {
      e.dim = said->second;
      used_of_all_.insert("axis");
    }
    if (e.dim.empty() && word.form == WordForm::Reduction) {
      std::string subject = "the axis of " + std::string(word.name);
      auto answer = answers_.find(subject);
      bool of_reduced = !e.operands.empty() && e.operands[0].find(kKeep) != std::string::npos;
      // The end of the phrase may still say it; what is reduced already is reduced wholly.
      if (answer == answers_.end() && !of_reduced && open_axis_.empty()) open_axis_ = subject;
      e.dim = answer != answers_.end() ? answer->second : of_reduced ? "all" : "-1";
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
  for (const std::string& n : pieces(word.numbers, ' ')) {
    std::string name = n.substr(0, n.find_first_of("=!"));
    auto given = e.numbers.find(name);
    if (auto said = said_of_all_.find(name); given == e.numbers.end() && said != said_of_all_.end()) {
      given = e.numbers.emplace(name, said->second).first;
      used_of_all_.insert(name);
    }
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
    if (word.form == WordForm::Reduction && e.dim == "all") replace_all(x, kKeep, "");
    replace_all(text, "{x}", is_name(x) || text.find("({x}") != std::string::npos ? x : "(" + x + ")");
  }
  if (takes_y) replace_all(text, "{y}", e.operands.size() > 1 ? e.operands[1] : use("y", std::string(kMatrix)));

  // Learnable and further tensors that the meaning names.
  if (text.find("{w}") != std::string::npos && text.find("{mean}") == std::string::npos) {
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
  if (text.find("{b}") != std::string::npos && text.find("{mean}") == std::string::npos)
    replace_all(text, "{b}",
                !e.bias ? "None" : use("b", word.name == "linear" ? "torch.randn(out)" : std::string(kRow)));
  if (text.find("{labels}") != std::string::npos)
    replace_all(text, "{labels}", use("labels", "torch.randint(0, cols, (rows,))"));
  if (text.find("{ids}") != std::string::npos) {
    std::string ids = use("ids", "torch.randint(0, rows, (tokens,))");
    replace_all(text, "{ids}", ids);
    replace_all(text, "{table}", use("table", std::string(kMatrix)));
  }
  if (text.find("{mean}") != std::string::npos) {
    replace_all(text, "{mean}", use("running_mean", std::string(kRow)));
    replace_all(text, "{var}", use("running_var", "torch.rand(cols)"));
    replace_all(text, "{w}", use("w", std::string(kRow)));
    replace_all(text, "{b}", use("b", std::string(kRow)));
  }
  if (text.find("{mask}") != std::string::npos) replace_all(text, "{mask}", use("mask", "torch.ones(rows, cols)"));
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
