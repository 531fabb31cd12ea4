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

// What a rule sees: the operands' inferred facts and the attribute.
struct Site {
  const Graph& graph;
  Op op;
  std::span<const NodeId> args;
  const Attr& attr;
  Type (*promote)(Type, Type);  // PyTorch's

  const Node& arg(size_t i) const { return graph[args[i]]; }
  template <class T>
  const T& as() const {
    return std::get<T>(attr);
  }
  std::string name() const { return std::string(info(op).name); }
  std::string axis_name(AxisId axis) const;
};

using ShapeRule = Result<std::vector<AxisId>> (*)(const Site&);
using TypeRule = Result<Type> (*)(const Site&);

struct InferenceRule {
  ShapeRule shape = nullptr;
  TypeRule type = nullptr;
  size_t attr = 0;  // index of the alternative of Attr that the op takes
};

// The rules of every op, and the promotion that they share. A builder takes others only to show that a wrong row is
// caught.
struct InferenceRules {
  OpTable<InferenceRule> rows;
  Type (*promote)(Type, Type);
};
const InferenceRules& inference_rules();

Result<Inferred> infer(const Graph& graph, Op op, std::span<const NodeId> args, const Attr& attr,
                       const InferenceRules& rules = inference_rules());

// Checks a whole graph: order, arity, attribute kinds, rules, interface. For graphs that come from outside (text,
// JSON).
Status check(const Graph& graph);

// Checks every rule about sizes again with the sizes that a call gives: renames, splits, joins, slices, constraints.
// What `infer` could not know of symbolic sizes, this does. A symbol without a value leaves its rules unchecked.
Status check_sizes(const Graph& graph, const std::function<std::optional<int64_t>(SymbolId)>& value_of);

// The axes that an attribute names, in order and with repetition.
std::vector<AxisId> mentioned_axes(const Attr& attr);

}  // namespace kw::ir
