// The ground that a pass rebuilds a graph on: what the old graph says of axes, sizes and types, before the first node.
#pragma once

#include "ir/graph.h"

namespace kw::ir {

Graph without_nodes(const Graph& graph);

}  // namespace kw::ir
