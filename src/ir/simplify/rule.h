// A rewrite rule: pattern → result, under a condition. Pointwise rules are text,
//
//   {"add-zero", "add(x, 0)", "x"}
//
// where x, y, z stand for any value, c and d for constants, and a number for itself; commutative ops match in both
// orders. Rules about attributes (views, casts, reductions) are functions. A rule that would change the type or the
// axes of the value that it replaces does not apply.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ir/graph.h"

namespace kw::ir {

class Rewriter;
using NativeRule = std::optional<NodeId> (*)(Rewriter& rewriter, NodeId node);
// Whether a text rule may apply at this node.
using Condition = bool (*)(const Graph& graph, NodeId node);

struct Rule {
  std::string_view name;
  std::string_view pattern;  // empty for a native rule
  std::string_view result;
  Condition condition = nullptr;
  Op root = Op::Input;  // of a native rule
  NativeRule native = nullptr;
};

std::span<const Rule> rewrite_rules();

// What a native rule builds with: every node it makes is simplified in its turn.
class Rewriter {
 public:
  virtual ~Rewriter() = default;
  virtual NodeId make(Op op, std::vector<NodeId> args, Attr attr = {}) = 0;
  virtual GraphBuilder& builder() = 0;
  const Node& operator[](NodeId id) { return builder()[id]; }
};

}  // namespace kw::ir
