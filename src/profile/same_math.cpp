#include "profile/same_math.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/canonical.h"
#include "ir/derivative/derivative.h"
#include "ir/interpreter/interpreter.h"
#include "ir/simplify/simplify.h"

namespace kw::profile {
namespace {

using ir::Array;
using ir::Graph;
using Values = std::map<std::string, Array>;

constexpr double kTolerance = 1e-8;  // exact arithmetic in fp64: what another order of operations leaves

constexpr std::int64_t kMostElements = std::int64_t{1} << 18;  // of one value: a check at reading must stay quick

std::optional<std::int64_t> size_at(const Graph& graph, ir::AxisId axis, const SizeOf& sizes) {
  if (axis == ir::kUnit) return 1;
  return graph.axis(axis).size.evaluate([&](ir::SymbolId id) -> std::optional<std::int64_t> {
    const auto found = sizes.find(graph.symbols[static_cast<std::size_t>(id)].name);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  });
}

bool is_small(const Graph& graph, const SizeOf& sizes) {
  for (const ir::Node& node : graph.nodes) {
    double count = 1;
    for (const ir::AxisId axis : node.axes) count *= static_cast<double>(size_at(graph, axis, sizes).value_or(-1));
    if (!(count >= 0 && count <= static_cast<double>(kMostElements))) return false;
  }
  return true;
}

// A tensor of numbers that look arbitrary and stay inside the domain of logarithms and roots; indices are 0 and 1.
std::optional<Array> made_up(const Graph& graph, const ir::Input& input, const SizeOf& sizes, unsigned seed) {
  Array array;
  std::int64_t count = 1;
  for (const ir::AxisId axis : input.dims) {
    const std::optional<std::int64_t> size = size_at(graph, axis, sizes);
    if (!size || *size < 0) return std::nullopt;
    array.shape.push_back(*size);
    count *= *size;
    if (count > kMostElements) return std::nullopt;
  }
  unsigned state = 2463534242u + 977u * seed;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    const double fraction = static_cast<double>(state >> 8) / (1 << 24);
    array.values.push_back(input.type.floating() ? 0.15 + 0.7 * fraction : std::floor(2 * fraction));
  }
  return array;
}

std::optional<Values> inputs_for(const Graph& graph, const SizeOf& sizes) {
  Values values;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ir::Input& input = graph.inputs[i];
    if (input.kind == ir::InputKind::Scalar && input.default_value) continue;
    std::optional<Array> array = made_up(graph, input, sizes, static_cast<unsigned>(i));
    if (!array) return std::nullopt;
    values[input.name] = *std::move(array);
  }
  return values;
}

// The outputs by name; nothing if the graph cannot be run so.
std::optional<Values> run(const Graph& graph, const Values& inputs, const SizeOf& sizes) {
  if (!is_small(graph, sizes)) return std::nullopt;
  ir::Environment call;
  for (const ir::Input& input : graph.inputs)
    if (const auto found = inputs.find(input.name); found != inputs.end()) call.inputs.insert(*found);
  for (const ir::Symbol& symbol : graph.symbols)
    if (const auto found = sizes.find(symbol.name); found != sizes.end()) call.sizes.insert(*found);
  Result<std::vector<Array>> outputs = ir::interpret(graph, call);
  if (!outputs) return std::nullopt;
  Values values;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) values[graph.outputs[i].name] = std::move((*outputs)[i]);
  return values;
}

std::optional<std::string> compare(const Values& expected, const Values& found, std::string_view prefix) {
  for (const auto& [name, array] : expected) {
    if (!name.starts_with(prefix)) continue;
    const auto other = found.find(name);
    if (other == found.end()) continue;
    if (other->second.values.size() != array.values.size()) return fmt::format("'{}' has another shape", name);
    for (std::size_t i = 0; i < array.values.size(); ++i) {
      const double a = array.values[i];
      const double b = other->second.values[i];
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      if (!(std::abs(a - b) <= kTolerance * std::max({1.0, std::abs(a), std::abs(b)})))
        return fmt::format("at a small shape '{}' is {:.6g} where it should be {:.6g}", name, b, a);
    }
  }
  return std::nullopt;
}

Graph without_saved(const Graph& forward, std::size_t outputs) {
  Graph op = forward;
  op.outputs.resize(std::min(op.outputs.size(), outputs));
  return op;
}

}  // namespace

std::optional<std::string> forward_difference(const Graph& read, const Graph& forward, const SizeOf& sizes) {
  if (ir::equivalent(ir::simplify(read), ir::simplify(without_saved(forward, read.outputs.size()))))
    return std::nullopt;
  const std::optional<Values> inputs = inputs_for(read, sizes);
  if (!inputs) return std::nullopt;
  const std::optional<Values> expected = run(read, *inputs, sizes);
  const std::optional<Values> found = run(forward, *inputs, sizes);
  if (!expected) return std::nullopt;
  if (!found)
    return is_small(forward, sizes) ? std::optional<std::string>("it cannot be run where the math as read can")
                                    : std::nullopt;
  return compare(*expected, *found, "");
}

std::optional<std::string> backward_difference(const Graph& read, const Graph& forward, const Graph& backward,
                                               const SizeOf& sizes) {
  const Result<Graph> joint = ir::differentiate(read);
  if (!joint) return "the math as read has no derivative: " + joint.error().message;
  std::optional<Values> inputs = inputs_for(*joint, sizes);
  if (!inputs) return std::nullopt;
  const std::optional<Values> expected = run(*joint, *inputs, sizes);
  const std::optional<Values> saved = run(forward, *inputs, sizes);
  if (!expected || !saved) return std::nullopt;
  inputs->insert(saved->begin(), saved->end());
  const std::optional<Values> found = run(backward, *inputs, sizes);
  if (!found)
    return is_small(backward, sizes) ? std::optional<std::string>("it cannot be run where the derivative can")
                                     : std::nullopt;
  return compare(*expected, *found, "grad_");
}

}  // namespace kw::profile
