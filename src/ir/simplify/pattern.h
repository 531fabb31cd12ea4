// Text patterns of the rewrite table: parsing, matching against a graph, and building the result.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/simplify/rule.h"

namespace kw::ir {

struct Pattern {
  enum class Kind : uint8_t { Any, Constant, Number, Boolean, Call } kind = Kind::Any;
  char variable = 'x';  // Any, Constant
  double number = 0;    // Number, Boolean
  Op op = Op::Input;    // Call
  std::vector<Pattern> args;
};

// Asserts on malformed text: rules are part of the program.
Pattern parse_pattern(std::string_view text);

using Match = std::map<char, NodeId>;
// Extends `match`; commutative ops are tried in both orders.
bool matches(const Graph& graph, NodeId node, const Pattern& pattern, Match& match);
NodeId build(Rewriter& rewriter, const Pattern& pattern, const Match& match);

}  // namespace kw::ir
