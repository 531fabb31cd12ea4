// The same values by fewer instructions, bit for bit: powers of two change places, which is exact.
#pragma once

#include "ir/graph.h"

namespace kw::act {

ir::Graph in_shorter_forms(const ir::Graph& graph);

}  // namespace kw::act
