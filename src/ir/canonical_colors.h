// Colours of a graph's axes and symbols, and hashes of its nodes, that do not depend on how they are numbered or named:
// two axes have the same colour only if they play the same part in the math. Found by refinement: a node's hash follows
// from its operands and the colours of its axes, an axis's colour from the nodes that have it; repeated until nothing
// new is told apart.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace kw::ir {

struct GraphColors {
  std::vector<uint64_t> axes;
  std::vector<uint64_t> symbols;
  std::vector<uint64_t> nodes;  // 0 for nodes that no output needs
  std::vector<int> types;       // the canonical number of each type parameter
};

// All colours of axes and symbols that the graph uses are different: where only symmetry is left, one of the equal
// choices is made.
GraphColors color(const Graph& graph);

Type renumbered(Type type, const std::vector<int>& numbers);

}  // namespace kw::ir
