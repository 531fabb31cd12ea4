// The joint graph that passes are made from: the derivative, simplified, with the means that are known left out.
#pragma once

#include "base/result.h"
#include "ir/graph.h"

namespace kw::ir {

Result<Graph> joint_graph(const Graph& forward);

}  // namespace kw::ir
