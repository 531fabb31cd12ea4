#include "understand/words/words.h"

#include "understand/words/expression_text.h"
#include "understand/words/phrase.h"

namespace kw::understand {
namespace {

bool mentions(const Phrase& phrase, std::string_view name) {
  for (const auto& [variable, made_by] : phrase.variables)
    if (made_by.find(name) != std::string::npos) return true;
  return false;
}

WordsReading write_source(const Phrase& phrase, std::string_view said) {
  WordsReading out;
  out.name = phrase.name;
  std::string arguments, makers, results, body;
  for (const auto& [variable, made_by] : phrase.variables) {
    arguments += (arguments.empty() ? "" : ", ") + variable;
    makers += (makers.empty() ? "" : ", ") + made_by;
  }
  for (const std::string& result : phrase.results)
    results += (results.empty() ? "" : ", ") + without_outer_parentheses(result);
  for (const std::string& statement : phrase.statements) {
    body += "    " + statement + "\n";
    out.meaning += statement + "; ";
  }
  body += "    return " + results + "\n";
  out.meaning += results;
  std::string quoted;
  for (char c : said)
    if (c != '\\' && c != '"' && static_cast<unsigned char>(c) >= 0x20) quoted += c;
  out.source = "\"\"\"" + quoted + "\"\"\"\n\n";
  if (body.find("math.") != std::string::npos) out.source += "import math\n\n";
  out.source += "import torch\nimport torch.nn.functional as F\n\n";
  constexpr std::pair<std::string_view, std::string_view> kSizes[] = {
      {"batch", "8"},   {"heads", "16"},  {"channels", "64"}, {"height", "56"}, {"width", "56"}, {"inner", "4096"},
      {"rows", "4096"}, {"cols", "4096"}, {"tokens", "8192"}, {"out", "4096"},  {"planes", "8"}, {"blocks", "4"}};
  for (auto [size, value] : kSizes)
    if (mentions(phrase, size)) out.source += std::string(size) + " = " + std::string(value) + "\n";
  out.source += "\n\ndef " + phrase.name + "(" + arguments + "):\n" + body + "\n\ndef get_inputs():\n    return [" +
                makers + "]\n";
  return out;
}

// Every reading of the phrase: one for each way to answer what it leaves open.
Status collect(std::string_view phrase, const std::map<std::string, std::string>& answers, WordsAnswer& answer,
               int depth) {
  PhraseParser parser(phrase, answers);
  Result<Phrase> read = parser.parse();
  if (read) {
    WordsReading reading = write_source(*read, phrase);
    for (const WordsReading& known : answer.readings)
      if (known.meaning == reading.meaning) return {};
    answer.readings.push_back(std::move(reading));
    return {};
  }
  if (read.error().kind != ErrorKind::NeedsApproval || depth > 5) return tl::unexpected(read.error());
  const OpenQuestion& question = parser.question();
  bool any = false;
  Status first_refusal;
  for (const std::string& choice : question.choices) {
    std::map<std::string, std::string> extended = answers;
    extended[question.subject] = choice;
    // A choice that does not fit the rest of the phrase is no choice.
    Status fits = collect(phrase, extended, answer, depth + 1);
    any |= fits.has_value();
    if (!fits && first_refusal) first_refusal = fits;
  }
  if (any && answer.question.empty()) answer.question = question.subject;
  return any ? Status() : first_refusal;
}

// "snake: x + sin(x)^2" and "quick gelu, i.e. x * sigmoid(1.702 x)" name a formula: what follows is the meaning.
std::string_view defined_formula(std::string_view phrase) {
  for (std::string_view mark :
       {": ", "i.e. ", "i.e., ", " meaning ", " that is ", ", namely ", " defined as ", " computed as "})
    if (size_t at = phrase.find(mark); at != std::string_view::npos) return phrase.substr(at + mark.size());
  return {};
}

bool is_formula(std::string_view text) { return text.find_first_of("(*/+^") != std::string_view::npos; }

// "off-by-one softmax, exp(x) / (1 + sum(exp(x)))": a name that nobody knows, and its formula.
std::string_view formula_behind_comma(std::string_view phrase) {
  size_t comma = phrase.find(", ");
  if (comma == std::string_view::npos) return {};
  std::string_view rest = phrase.substr(comma + 2);
  bool formula = rest.find('(') != std::string_view::npos && rest.find_first_of("*/+") != std::string_view::npos;
  return formula ? rest : std::string_view();
}

}  // namespace

Result<WordsAnswer> read_words(std::string_view phrase) {
  if (phrase.size() > 2000)
    return bad_input("a description of more than 2000 characters is no phrase", {}, "give a file instead");
  if (std::string_view formula = defined_formula(phrase); !formula.empty()) {
    WordsAnswer answer;
    // A loss is one number: "hinge loss: mean of max(0, 1 - x * y)".
    std::string_view name = phrase.substr(0, static_cast<size_t>(formula.data() - phrase.data()));
    std::map<std::string, std::string> answers;
    if (name.find("loss") != std::string_view::npos || name.find("error") != std::string_view::npos)
      answers = {{"the axis of mean", "all"}, {"the axis of sum", "all"}};
    if (collect(formula, answers, answer, 0) && (answer.readings.size() == 1 || is_formula(formula))) return answer;
  }
  WordsAnswer answer;
  Status read = collect(phrase, {}, answer, 0);
  if (std::string_view formula = formula_behind_comma(phrase); !read && !formula.empty()) {
    WordsAnswer named;
    std::string_view name = phrase.substr(0, phrase.find(", "));
    bool known = collect(name, {}, answer, 0).has_value();
    if (!known && collect(formula, {}, named, 0) && named.readings.size() == 1) return named;
  }
  KW_CHECK(read);
  return answer;
}

}  // namespace kw::understand
