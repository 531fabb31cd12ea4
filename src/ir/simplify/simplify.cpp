#include "ir/simplify/simplify.h"

namespace kw::ir {
namespace {

constexpr Pass kPasses[] = {
    {"resolve sizes", [](const Graph& g, std::span<const Rule>) { return resolve_sizes(g); }},
    {"unify axes", [](const Graph& g, std::span<const Rule>) { return unify_axes(g); }},
    {"rewrite", [](const Graph& g, std::span<const Rule> rules) { return rewrite(g, rules); }},
    {"name axes", [](const Graph& g, std::span<const Rule>) { return name_axes(g); }},
};

}  // namespace

std::span<const Pass> simplify_passes() { return kPasses; }

Graph simplify(const Graph& graph, std::span<const Rule> rules) {
  Graph current = graph;
  for (const Pass& pass : kPasses) current = pass.run(current, rules);
  return current;
}

}  // namespace kw::ir
