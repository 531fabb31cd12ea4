#include "understand/words/words.h"

#include "understand/words/phrase.h"

namespace kw::understand {
namespace {

std::string without_outer_parentheses(const std::string& text) {
  if (!text.starts_with("(") || !text.ends_with(")")) return text;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && i + 1 < text.size()) return text;
  }
  return text.substr(1, text.size() - 2);
}

bool mentions(const Phrase& phrase, std::string_view name) {
  for (const auto& [variable, made_by] : phrase.variables)
    if (made_by.find(name) != std::string::npos) return true;
  return false;
}

WordsReading write_source(const Phrase& phrase, std::string_view said) {
  WordsReading out;
  out.name = phrase.name;
  std::string arguments, makers, results;
  for (const auto& [variable, made_by] : phrase.variables) {
    arguments += (arguments.empty() ? "" : ", ") + variable;
    makers += (makers.empty() ? "" : ", ") + made_by;
  }
  for (const std::string& result : phrase.results)
    results += (results.empty() ? "" : ", ") + without_outer_parentheses(result);
  std::string quoted;
  for (char c : said)
    if (c != '\\' && c != '"' && static_cast<unsigned char>(c) >= 0x20) quoted += c;
  out.source = "\"\"\"" + quoted + "\"\"\"\n\nimport torch\nimport torch.nn.functional as F\n\n";
  constexpr std::pair<std::string_view, std::string_view> kSizes[] = {
      {"rows", "4096"}, {"cols", "4096"}, {"tokens", "8192"}, {"out", "4096"}};
  for (auto [size, value] : kSizes)
    if (mentions(phrase, size)) out.source += std::string(size) + " = " + std::string(value) + "\n";
  out.source += "\n\ndef " + phrase.name + "(" + arguments + "):\n";
  for (const std::string& statement : phrase.statements) {
    out.source += "    " + statement + "\n";
    out.meaning += statement + "; ";
  }
  out.source += "    return " + results + "\n\n\ndef get_inputs():\n    return [" + makers + "]\n";
  out.meaning += results;
  return out;
}

Status collect(std::string_view phrase, const std::map<std::string, std::string>& answers, WordsAnswer& answer,
               int depth) {
  PhraseParser parser(phrase, answers);
  Result<Phrase> read = parser.parse();
  if (read) {
    answer.readings.push_back(write_source(*read, phrase));
    return {};
  }
  if (read.error().kind != ErrorKind::NeedsApproval || depth > 3) return tl::unexpected(read.error());
  const OpenQuestion& question = parser.question();
  if (answer.question.empty()) answer.question = question.subject;
  for (const std::string& choice : question.choices) {
    std::map<std::string, std::string> extended = answers;
    extended[question.subject] = choice;
    // A choice that does not fit the rest of the phrase is no choice.
    if (Status fits = collect(phrase, extended, answer, depth + 1);
        !fits && fits.error().kind == ErrorKind::NeedsApproval)
      return fits;
  }
  return {};
}

// "snake: x + sin(x)^2" and "quick gelu, i.e. x * sigmoid(1.702 x)" name a formula: what follows is the meaning.
std::string_view formula_of(std::string_view phrase) {
  for (std::string_view mark : {": ", "i.e. ", "i.e., ", " meaning ", " that is ", ", namely "})
    if (size_t at = phrase.find(mark); at != std::string_view::npos) return phrase.substr(at + mark.size());
  if (size_t comma = phrase.find(", "); comma != std::string_view::npos &&
                                        phrase.find('(', comma) != std::string_view::npos &&
                                        phrase.find_first_of("*/+", comma) != std::string_view::npos)
    return phrase.substr(comma + 2);
  return {};
}

}  // namespace

Result<WordsAnswer> read_words(std::string_view phrase) {
  if (std::string_view formula = formula_of(phrase); !formula.empty() && phrase.size() <= 2000) {
    WordsAnswer answer;
    if (collect(formula, {}, answer, 0) && answer.readings.size() == 1) return answer;
  }
  if (phrase.size() > 2000)
    return bad_input("a description of more than 2000 characters is no phrase", {}, "give a file instead");
  WordsAnswer answer;
  KW_CHECK(collect(phrase, {}, answer, 0));
  if (answer.readings.empty()) return bad_input("no meaning of '" + answer.question + "' fits the rest of the phrase");
  return answer;
}

}  // namespace kw::understand
