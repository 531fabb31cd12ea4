// The grammar of phrases. One grammar serves formulas and sentences, since people mix them:
//
//   phrase   := stage ((then | followed by | ,) stage)* [return both]
//   stage    := verb operand | sum                     add the residual; multiply by y
//   sum      := product ((+ | plus | - | minus) product)*
//   product  := power ((* | times | / | divided by | gated by) power)*
//   power    := primary (squared | cubed | ^ number)*
//   primary  := number | variable | ( sum ) | entry [of operands | (operands)] modifiers
//
// An entry without operands takes what the stages before it computed, at first x.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "understand/words/lexicon.h"
#include "understand/words/tokens.h"

namespace kw::understand {

struct Phrase {
  std::string name;
  std::vector<std::pair<std::string, std::string>> variables;  // name → how get_inputs() makes it
  std::vector<std::string> statements;
  std::vector<std::string> results;
};

struct OpenQuestion {
  std::string subject;               // "gelu", "the axis of sum"
  std::vector<std::string> choices;  // answers, each to be forced in turn
};

class PhraseParser {
 public:
  PhraseParser(std::string_view text, std::map<std::string, std::string> answers);
  // On an error of kind NeedsApproval, `question()` says what is open.
  Result<Phrase> parse();
  const OpenQuestion& question() const { return question_; }

 private:
  struct Entry {  // an entry in use, with what its modifiers said
    const WordEntry* word = nullptr;
    std::vector<std::string> operands;
    std::map<std::string, std::string> numbers;
    std::string dim;        // empty: not said; "all": everything
    std::string reduction;  // of a loss
    bool weight = true, bias = true;
  };

  // tokens
  const Token& at(size_t ahead = 0) const { return tokens_[std::min(position_ + ahead, tokens_.size() - 1)]; }
  bool accept(std::string_view words);  // several words in a row; articles are gone, fillers stay
  bool looking_at(std::string_view words) const { return length_of(words, position_) > 0; }
  size_t length_of(std::string_view words, size_t from) const;
  void skip_fillers();
  Failure unknown() const;

  // grammar
  Status stage();
  bool said_of_all(bool connected);
  Result<std::string> sum();
  Result<std::string> product();
  Result<std::string> power();
  Result<std::string> primary();
  Result<std::string> entry(const WordEntry& word);
  Status operands(Entry& e);
  bool axis_argument(Entry& e);
  bool modifier(Entry& e);
  bool neutral_clause(Entry& e);
  bool number_modifier(Entry& e);
  bool range_modifier(Entry& e);
  bool axis_modifier(Entry& e);
  bool weight_modifier(Entry& e);
  bool reduction_modifier(Entry& e);
  bool option_modifier(Entry& e);
  std::optional<std::string> number();
  std::optional<std::string> variable();
  const WordEntry*
  match_entry();  // the longest alias here, consumed; an option may stand before it ("tanh approximated gelu")

  // meaning
  Result<std::string> meaning(Entry& e);
  Failure ask(std::string subject, std::vector<std::string> choices);
  std::string use(std::string name, std::string made_by);
  std::string once(const std::string& expression);  // a name for it, if it is not one already
  std::string current();
  std::string combined(std::string left, std::string_view op, std::string right);

  std::string text_;
  std::vector<Token> tokens_;
  size_t position_ = 0;
  std::map<std::string, std::string> answers_;
  OpenQuestion question_;
  Phrase phrase_;
  std::string current_;
  std::string before_last_;  // what the last stage started from: "return both"
  std::vector<std::string> entry_names_;
  std::string halved_;                              // what "the first half" is a half of
  std::map<std::string, std::string> said_of_all_;  // numbers and the axis that the end of the phrase gives
  std::set<std::string> used_of_all_;
  bool again_ = false;
  std::string open_axis_;  // the first reduction whose axis was not said
  bool composed_ = false;  // more than one entry alone: the name is the phrase's
  int depth_ = 0;
};

}  // namespace kw::understand
