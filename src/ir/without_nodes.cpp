#include "ir/without_nodes.h"

namespace kw::ir {

Graph without_nodes(const Graph& graph) {
  Graph ground = graph;
  ground.nodes.clear();
  ground.origins.clear();
  ground.names.clear();
  ground.inputs.clear();
  ground.outputs.clear();
  return ground;
}

}  // namespace kw::ir
