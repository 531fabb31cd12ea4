// Questions that several decisions ask about a graph: who uses a value, what it depends on, where it is wider than what
// it came from.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace kw::understand {

class GraphView {
 public:
  explicit GraphView(const ir::Graph& graph);

  const ir::Graph& graph;
  const std::vector<ir::NodeId>& users(ir::NodeId node) const { return users_[static_cast<std::size_t>(node)]; }
  bool is_output(ir::NodeId node) const { return is_output_[static_cast<std::size_t>(node)]; }
  // Whether `node` is computed from `source`, itself included.
  bool depends_on(ir::NodeId node, ir::NodeId source) const;
  // Indices of the tensor inputs (not scalars) that a node is computed from, ascending.
  const std::vector<int>& inputs_of(ir::NodeId node) const { return inputs_[static_cast<std::size_t>(node)]; }
  // A reduction that joins elements, not one that only drops axes of size one.
  bool is_reduction(ir::NodeId node) const;
  bool is_view(ir::NodeId node) const;  // an address change: permute, reshape, slice, broadcast
  // Whether every value of the node is far from the others' reach: Const, SizeOf or computed from such alone.
  bool is_number(ir::NodeId node) const;
  // The value behind casts and views.
  ir::NodeId behind_casts(ir::NodeId node) const;

 private:
  std::vector<std::vector<ir::NodeId>> users_;
  std::vector<std::vector<int>> inputs_;
  std::vector<bool> is_output_;
};

// Whether `wide` holds more than `narrow` when every type parameter is bf16, which is where a cast matters: f32 and
// T|f32 are wider than T, whatever the user's own T is.
bool is_wider(ir::Type wide, ir::Type narrow);

}  // namespace kw::understand
