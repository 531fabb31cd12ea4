// Do two readers agree? The static reader leaves open what an exported graph has fixed (sizes, scalars, element types),
// so both graphs are compared at the user's own configuration, simplified. A difference means that one of them
// misreads.
#pragma once

#include <string>

#include "ir/graph.h"

namespace kw::understand {

// The graph with its type parameters bound to their defaults, its sizes to their hints and its scalars to their
// defaults. A size or scalar without a value stays as it is. `seed` stays an input: it is no part of the configuration.
ir::Graph at_own_configuration(const ir::Graph& graph);

// Empty if both mean the same, else the first difference.
std::string difference_between(const ir::Graph& a, const ir::Graph& b);

}  // namespace kw::understand
