// A graph in double precision: every floating value is f64 and no cast between floating types is left, so that what
// runs it computes what the real semantics of the interpreter mean.
#pragma once

#include "ir/graph.h"

namespace kw::tools {

ir::Graph in_double(const ir::Graph& graph);

}  // namespace kw::tools
