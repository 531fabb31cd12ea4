// Axes and type of a node from its op, operands and attribute: the shape rule and the type rule of every primitive. A
// violated rule is the user's error and says what does not fit; the caller adds the place.
#pragma once

#include <functional>

#include "ir/graph.h"

namespace kw::ir {

struct Inferred {
  std::vector<AxisId> axes;  // ascending
  Type type;
};

Result<Inferred> infer(const Graph& graph, Op op, std::span<const NodeId> args, const Attr& attr);

// Checks a whole graph: order, arity, attribute kinds, rules, interface. For graphs that come from outside (text,
// JSON).
Status check(const Graph& graph);

// Checks every rule about sizes again with the sizes that a call gives: renames, splits, joins, slices, constraints.
// What `infer` could not know of symbolic sizes, this does. A symbol without a value leaves its rules unchecked.
Status check_sizes(const Graph& graph, const std::function<std::optional<int64_t>(SymbolId)>& value_of);

// The axes that an attribute names, in order and with repetition.
std::vector<AxisId> mentioned_axes(const Attr& attr);

}  // namespace kw::ir
