// In which order a value's axes lie in memory when it is computed where its operands lie: inputs by their dims,
// everything else by the operand that has the most axes. It says which reductions run along contiguous memory.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace kw::schedule {

// Per node, its axes outermost first.
std::vector<std::vector<ir::AxisId>> memory_order(const ir::Graph& graph);

// Whether `axes` are the innermost of `order`.
bool is_innermost(const std::vector<ir::AxisId>& order, const std::vector<ir::AxisId>& axes);

// A reduction over nothing but axes of size one moves no data: it only drops them.
bool drops_unit_axes(const ir::Graph& graph, const ir::Node& node);

// Reading one known place of an axis, weight[0], is an address, not a search.
bool reads_by_number(const ir::Graph& graph, const ir::Node& node);

// A scatter in which every element of the base has at most one value sent to it: each is computed by itself.
bool scatters_apart(const ir::Graph& graph, const ir::Node& node);

}  // namespace kw::schedule
