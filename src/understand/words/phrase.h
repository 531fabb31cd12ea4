// The grammar of phrases. One grammar serves formulas and sentences, since people mix them:
//
//   phrase     := stage ((then | followed by | ,) stage)* [return both]
//   stage      := verb operand | expression            add the residual; multiply by y
//   expression := sum [if condition else sum]
//   sum        := product ((+ | plus | - | minus) product)*
//   product    := power ((* | times | / | divided by | gated by) power)*
//   power      := primary (squared | cubed | ^ exponent)*
//   primary    := number | variable | ( expression ) | [modifiers] entry [of operands | (operands)] modifiers
//
// An entry without operands takes what the stages before it computed, at first x. Where the grammar can go two ways
// ("sigmoid of x plus y"), `choose` goes one of them and notes the question.
#pragma once

#include <map>
#include <optional>
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
    std::optional<bool> weight, bias;
    bool keepdim = false;
    bool wide = false;       // computed in fp32
    bool cast_back = false;  // and back to the input's type
    bool stays_wide = false;
    std::optional<bool> weight_in_fp32;  // multiplied before the cast back
  };

  // What a reading that is given up has changed.
  struct Mark {
    size_t position;
    Phrase phrase;
    std::string current, halved, antecedent;
    std::vector<std::string> entry_names;
    bool used_current, composed;
  };
  Mark mark() const {
    return {position_, phrase_, current_, halved_, antecedent_, entry_names_, used_current_, composed_};
  }
  void go_back(const Mark& to);

  // tokens
  const Token& at(size_t ahead = 0) const { return tokens_[std::min(position_ + ahead, tokens_.size() - 1)]; }
  bool accept(std::string_view words);  // several words in a row; articles are gone, fillers stay
  bool accept_any(std::initializer_list<std::string_view> several);
  bool looking_at(std::string_view words) const { return length_of(words, position_) > 0; }
  bool looking_at_any(std::initializer_list<std::string_view> several) const;
  size_t length_of(std::string_view words, size_t from) const;
  void skip_fillers();
  Failure unknown() const;

  // stages
  Result<Phrase> read();
  bool both_are_returned();
  bool connector();
  Status stage();
  Result<bool> verb_stage();
  Result<bool> scene_stage();
  Result<bool> noun_stage();
  Result<bool> cast_stage();
  bool said_of_all();
  void drop_unused();
  bool declaration();

  // expressions
  Result<std::string> expression();
  Result<std::string> sum();
  Result<std::string> product();
  Result<std::string> power();
  Result<std::string> primary();
  std::optional<Result<std::string>> pairing();
  char sum_operator();
  char product_operator();
  std::optional<std::string> number();
  std::optional<std::string> constant();
  std::optional<std::string> epsilon();
  std::optional<std::string> variable();
  size_t length_of_variable() const;

  // entries
  const WordEntry* match_entry();  // the longest alias here, consumed; an option may stand before it ("tanh gelu")
  Result<std::string> entry(Entry e);
  std::optional<Entry> entry_with_modifiers_before();
  Status operands(Entry& e);
  Status call(Entry& e);
  bool keyword_argument(Entry& e);
  Result<std::string> operand(const Entry& e, bool juxtaposed);
  bool modifier(Entry& e);
  bool neutral_clause(Entry& e);
  bool number_modifier(Entry& e);
  bool range_modifier(Entry& e);
  bool axis_modifier(Entry& e);
  bool weight_modifier(Entry& e);
  bool reduction_modifier(Entry& e);
  bool cast_modifier(Entry& e);
  bool option_modifier(Entry& e);
  bool window_modifier(Entry& e);
  std::optional<std::string> axis(const Entry* e);

  // meaning
  Result<std::string> meaning(Entry& e);
  Status fill_axis(Entry& e, std::string& text);
  Status fill_numbers(Entry& e, std::string& text);
  Status fill_operands(Entry& e, std::string& text);
  Status fill_weights(Entry& e, std::string& text);
  void fill_tensors(Entry& e, std::string& text);
  std::string reduced(const Entry& e, std::string text);
  Failure refused(std::string message) const;
  std::string choose(const std::string& subject, std::vector<std::string> choices);
  std::string use(std::string name, std::string made_by);
  std::string once(const std::string& expression);  // a name for it, if it is not one already
  std::string current();
  std::optional<std::string> implied_operand(const Entry& e);
  std::string combined(std::string left, char op, std::string right);

  std::string text_;
  std::vector<Token> tokens_;
  size_t position_ = 0;
  std::map<std::string, std::string> answers_;
  OpenQuestion question_;
  Phrase phrase_;
  std::string current_;
  std::string before_last_;  // what the last stage started from: "return both"
  bool used_current_ = false;
  std::vector<std::string> entry_names_;
  std::string halved_;                              // what "the first half" is a half of
  std::string antecedent_;                          // what "its" speaks of
  std::map<std::string, std::string> said_of_all_;  // numbers and the axis that the end of the phrase gives
  std::set<std::string> used_of_all_;
  std::set<std::string> in_formula_;  // of these, the ones that the formula itself names
  std::string last_dim_;              // the axis that was said last
  bool rows_ = false;                 // "divide each row by …"
  bool again_ = false;
  bool composed_ = false;  // more than one entry alone: the name is the phrase's
  int depth_ = 0;
  size_t furthest_ = 0;  // the token that no reading went beyond
  int rank_ = 2;         // of the inputs, as the axes that were named need it
};

}  // namespace kw::understand
