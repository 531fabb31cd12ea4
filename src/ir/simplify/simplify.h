// Simplification: the same math, with the same roundings, in its plainest form. It never moves, adds or removes a
// rounding (1/sqrt(x) does not become rsqrt(x)), so the simplified graph has the oracle of the graph as it was read.
//
// The passes, in order:
//   resolve sizes   sizes that must be equal become one size, so that the axes below can be compared
//   unify axes      axes that the reader only renamed into each other become one axis, so that patterns see through
//   rewrite         the table of rules, bottom-up to a fixed point
//   name axes       an axis is called after its size, for display: what was merged above leaves one name
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/simplify/rule.h"

namespace kw::ir {

Graph simplify(const Graph& graph, std::span<const Rule> rules = rewrite_rules());

struct Pass {
  std::string_view name;
  Graph (*run)(const Graph&, std::span<const Rule>);
};
std::span<const Pass> simplify_passes();

// Substitutes symbols by the sizes that constraints equate them with; the earlier symbol stays.
Graph resolve_sizes(const Graph& graph);

// Merges axes that occur in a Rename and never meet in any node; the earlier axis stays. What cannot be merged (a
// tensor multiplied with its own transposition) stays a Rename.
Graph unify_axes(const Graph& graph);

// Applies the rules bottom-up until none applies.
Graph rewrite(const Graph& graph, std::span<const Rule> rules);

// Calls every axis whose size is a lone symbol after that symbol, the first of several without a number. Display only.
Graph name_axes(const Graph& graph);

}  // namespace kw::ir
