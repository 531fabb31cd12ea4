// A pass over a joint graph, operands first, that puts other nodes in the place of some.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace kw::ir {

class Rewriting {
 public:
  Graph run() &&;

 protected:
  explicit Rewriting(const Graph& joint) : joint_(joint), builder_(joint) {}
  ~Rewriting() = default;

  // What stands in the place of a node; nothing where it stays, with what stands in the place of its operands.
  virtual std::optional<NodeId> replaced(NodeId id) = 0;
  NodeId now(NodeId id) const;  // what stands in its place
  bool is_one_along(NodeId v, const std::vector<AxisId>& axes) const;

  const Graph& joint_;
  GraphBuilder builder_;

 private:
  std::map<NodeId, NodeId> now_;
};

}  // namespace kw::ir
