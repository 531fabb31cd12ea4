#include "ir/simplify/pattern.h"

#include <cctype>
#include <charconv>
#include <cmath>

namespace kw::ir {
namespace {

class PatternParser {
 public:
  explicit PatternParser(std::string_view text) : text_(text) {}

  Pattern parse() {
    Pattern p = term();
    KW_ASSERT(at_ == text_.size(), "a rule's pattern ends where its text does");
    return p;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Pattern term() {
    skip_blanks();
    Pattern p;
    if (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-') {
      auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), p.number);
      KW_ASSERT(error == std::errc(), "a rule's number is a number");
      at_ = static_cast<size_t>(end - text_.data());
      p.kind = Pattern::Kind::Number;
      return p;
    }
    size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    std::string_view word = text_.substr(start, at_ - start);
    if (word == "true" || word == "false") {
      p.kind = Pattern::Kind::Boolean;
      p.number = word == "true";
    } else if (take('(')) {
      std::optional<Op> op = op_from_name(word);
      KW_ASSERT(op.has_value(), "a rule names a primitive");
      p.kind = Pattern::Kind::Call;
      p.op = *op;
      do p.args.push_back(term());
      while (take(','));
      KW_ASSERT(take(')'), "a rule's call is closed");
    } else {
      KW_ASSERT(word.size() == 1, "a rule's variable is one letter");
      p.variable = word[0];
      p.kind = word[0] == 'c' || word[0] == 'd' ? Pattern::Kind::Constant : Pattern::Kind::Any;
    }
    skip_blanks();
    return p;
  }
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Pattern parse_pattern(std::string_view text) { return PatternParser(text).parse(); }

bool matches(const Graph& graph, NodeId id, const Pattern& pattern, Match& match) {
  const Node& node = graph[id];
  switch (pattern.kind) {
    case Pattern::Kind::Constant:
      if (node.op != Op::Const) return false;
      [[fallthrough]];
    case Pattern::Kind::Any: {
      auto [at, is_new] = match.try_emplace(pattern.variable, id);
      return is_new || at->second == id;
    }
    case Pattern::Kind::Number:
      return node.op == Op::Const && node.as<Literal>().value.index() != 0 &&
             node.as<Literal>().number() == pattern.number &&
             !std::signbit(node.as<Literal>().number() * (pattern.number == 0 ? 1 : 0));
    case Pattern::Kind::Boolean:
      return node.op == Op::Const && node.as<Literal>().value.index() == 0 &&
             node.as<Literal>().number() == pattern.number;
    case Pattern::Kind::Call:
      break;
  }
  if (node.op != pattern.op || node.args.size() != pattern.args.size()) return false;
  auto in_order = [&](bool swapped) {
    Match trial = match;
    for (size_t i = 0; i < node.args.size(); ++i)
      if (!matches(graph, node.args[i], pattern.args[swapped ? node.args.size() - 1 - i : i], trial)) return false;
    match = std::move(trial);
    return true;
  };
  return in_order(false) || (is_commutative(node.op) && in_order(true));
}

NodeId build(Rewriter& rewriter, const Pattern& pattern, const Match& match) {
  switch (pattern.kind) {
    case Pattern::Kind::Any:
    case Pattern::Kind::Constant:
      return match.at(pattern.variable);
    case Pattern::Kind::Number:
      return pattern.number == std::trunc(pattern.number)
                 ? rewriter.make(Op::Const, {}, Literal{static_cast<int64_t>(pattern.number)})
                 : rewriter.make(Op::Const, {}, Literal{pattern.number});
    case Pattern::Kind::Boolean:
      return rewriter.make(Op::Const, {}, Literal{pattern.number != 0});
    case Pattern::Kind::Call:
      break;
  }
  std::vector<NodeId> args;
  for (const Pattern& arg : pattern.args) args.push_back(build(rewriter, arg, match));
  return rewriter.make(pattern.op, std::move(args));
}

}  // namespace kw::ir
