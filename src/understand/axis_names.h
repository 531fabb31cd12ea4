// Names of axes for people: a reader makes axes as it goes (cols4, #1_0); the profile shows them by the size that they
// have.
#pragma once

#include "ir/graph.h"

namespace kw::understand {

// An axis whose size is a lone symbol takes the symbol's name, the first to be met plainly and the next with a number;
// an axis that a reader could not name is called after the input that brings it (weight_0). Names are for display
// alone: the math stays what it is.
void name_axes(ir::Graph& graph);

}  // namespace kw::understand
