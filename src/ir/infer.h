// Axes and type of a node from its op, operands and attribute: the shape rule and the type rule of every primitive. A
// violated rule is the user's error and says what does not fit; the caller adds the place.
#pragma once

#include "ir/graph.h"

namespace kw::ir {

struct Inferred {
  std::vector<AxisId> axes;  // ascending
  Type type;
};

Result<Inferred> infer(const Graph& graph, Op op, std::span<const NodeId> args, const Attr& attr);

// Checks a whole graph: order, arity, attribute kinds, rules, interface. For graphs that come from outside (text, JSON).
Status check(const Graph& graph);

}  // namespace kw::ir
