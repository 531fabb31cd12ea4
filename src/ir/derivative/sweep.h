// The reverse sweep: from seeded cotangents down to the operands, one rule per node. `differentiate` runs it on a whole
// graph; the rules of Reduce and Scan run it on the body of their combine.
#pragma once

#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/derivative/rule.h"
#include "ir/graph.h"

namespace kw::ir {

// Nodes by their two operands.
class PairIndex {
 public:
  void add(NodeId a, NodeId b, NodeId node) { nodes_.emplace(key(a, b), node); }
  NodeId find(NodeId a, NodeId b) const {
    auto at = nodes_.find(key(a, b));
    return at == nodes_.end() ? kNoNode : at->second;
  }

 private:
  static uint64_t key(NodeId a, NodeId b) { return static_cast<uint64_t>(a) << 32 | static_cast<uint32_t>(b); }
  std::unordered_map<uint64_t, NodeId> nodes_;
};

class Sweep {
 public:
  // Differentiates the nodes that `builder` holds now with respect to `wanted`; what it makes comes behind them.
  Sweep(GraphBuilder& builder, std::span<const NodeId> wanted, const std::map<Op, DerivativeRule>& override_rules);

  void seed(NodeId node, NodeId cotangent);
  Status run();
  // kNoNode where no seed depends on the node. Its axes are a subset of the node's: an axis that it lacks is one along
  // which it is constant.
  NodeId cotangent(NodeId node) const { return cotangents_[static_cast<size_t>(node)]; }

 private:
  friend class Adjoint;
  bool active(NodeId node) const { return active_[static_cast<size_t>(node)]; }
  const DerivativeRule& rule(Op op) const;
  void accumulate(NodeId node, NodeId contribution);
  void find_groups();
  std::vector<NodeId> cotangents_of_parts(NodeId leader) const;

  GraphBuilder& builder_;
  const std::map<Op, DerivativeRule>& override_rules_;
  NodeId forward_nodes_;            // nodes from here on were made by the sweep
  std::vector<bool> active_;        // a wanted node reaches it along differentiable ops
  std::vector<NodeId> cotangents_;  // per forward node
  // The parts of one Reduce or Scan are several nodes; they are differentiated together, at the first of them.
  std::map<NodeId, std::vector<NodeId>> groups_;  // first part → all parts
  std::vector<bool> follows_;                     // a part that is not the first of its group
  // Forward quotients and products by their operands: exp(x)*(c/s) is c*y where y = exp(x)/s is a forward value.
  PairIndex quotients_;
  PairIndex products_;
};

}  // namespace kw::ir
