// Shapes to test: hostile ones (1, primes, one over a power of two, empty, longer than a block) that the op's own
// constraints allow. Shapes to measure: the user's own and its neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "profile/profile.h"

namespace kw::understand {

using Sizes = std::vector<std::int64_t>;  // by SymbolId

// Whether the op can be computed at these sizes: constraints hold, no axis is negative, views stay inside.
bool is_possible(const ir::Graph& graph, const Sizes& sizes);

// The first possible sizes at or a little above the wanted ones; nothing if there are none near.
std::optional<Sizes> nearest_possible(const ir::Graph& graph, const Sizes& wanted);

std::vector<profile::Shape> test_shapes(const ir::Graph& graph);
std::vector<profile::Shape> measured_shapes(const ir::Graph& graph);

}  // namespace kw::understand
