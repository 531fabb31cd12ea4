// The tier follows from the primitives: pointwise with views (permute, reshape, slice, broadcast) is 1; with reductions
// 2; with anything else 3.
#pragma once

#include "understand/decisions/graph_view.h"

namespace kw::understand {

struct Tier {
  int tier = 1;
  ir::NodeId at = ir::kNoNode;  // the node that made it so; none for tier 1
};

Tier tier_of(const GraphView& view);

}  // namespace kw::understand
