#include "understand/decisions/casting.h"

#include <algorithm>
#include <set>

#include "understand/decisions/widen.h"

namespace kw::understand {
namespace {

using ir::NodeId;
using ir::Op;

bool covers_strictly(const std::vector<ir::AxisId>& all, const std::vector<ir::AxisId>& part) {
  return part.size() < all.size() && std::includes(all.begin(), all.end(), part.begin(), part.end());
}

// Whether `statistic` comes from a reduction of something that `value`'s inputs feed, over axes of `value`, through a
// root, a quotient or a power where the statistic is a factor.
bool is_statistic_of(const GraphView& view, NodeId statistic, NodeId value, bool divides) {
  const ir::Graph& graph = view.graph;
  std::set<NodeId> seen;
  std::vector<std::pair<NodeId, bool>> pending = {{statistic, divides}};
  while (!pending.empty()) {
    const auto [node, inverted] = pending.back();
    pending.pop_back();
    if (!seen.insert(node).second) continue;
    if (view.is_reduction(node)) {
      const auto* list = std::get_if<ir::AxisList>(&graph[node].attr);
      const bool over_value = list && std::includes(graph[value].axes.begin(), graph[value].axes.end(),
                                                    list->axes.begin(), list->axes.end());
      const std::vector<int>& a = view.inputs_of(node);
      const std::vector<int>& b = view.inputs_of(value);
      std::vector<int> shared;
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
      if (inverted && over_value && !shared.empty()) return true;
      continue;
    }
    const Op op = graph[node].op;
    const bool now = inverted || op == Op::Rsqrt || op == Op::Div || op == Op::Pow || op == Op::Sqrt;
    for (const NodeId arg : graph[node].args) pending.emplace_back(arg, now);
  }
  return false;
}

bool is_normalised(const GraphView& view, NodeId id) {
  const ir::Graph& graph = view.graph;
  const ir::Node& node = graph[id];
  if (node.op != Op::Mul && node.op != Op::Div) return false;
  if (!node.type.floating() || node.type.weak()) return false;
  for (int side = 0; side < (node.op == Op::Div ? 1 : 2); ++side) {
    const NodeId value = node.args[static_cast<std::size_t>(side)];
    const NodeId statistic = node.args[static_cast<std::size_t>(1 - side)];
    if (covers_strictly(graph[value].axes, graph[statistic].axes) &&
        is_statistic_of(view, statistic, value, node.op == Op::Div))
      return true;
  }
  return false;
}

// The type of the tensor that is normalised: the input with the most axes among those that it is computed from.
ir::Type storage_type(const GraphView& view, NodeId normalised) {
  const ir::Input* widest = nullptr;
  for (const int index : view.inputs_of(normalised)) {
    const ir::Input& input = view.graph.inputs[static_cast<std::size_t>(index)];
    if (input.type.floating() && (!widest || input.dims.size() > widest->dims.size())) widest = &input;
  }
  return widest ? widest->type : ir::Type();
}

// A factor or summand that the normalised value has no part in and that has fewer axes: a weight or a bias.
bool takes_weight(const GraphView& view, NodeId user, NodeId normalised) {
  const ir::Node& node = view.graph[user];
  if (node.op != Op::Mul && node.op != Op::Add && node.op != Op::Sub) return false;
  for (const NodeId arg : node.args) {
    if (view.graph[arg].axes.empty() || view.depends_on(arg, normalised)) continue;
    if (view.graph[arg].axes.size() < view.graph[normalised].axes.size()) return true;
    for (const int index : view.inputs_of(arg))
      if (view.graph.inputs[static_cast<std::size_t>(index)].kind == ir::InputKind::Parameter) return true;
  }
  return false;
}

Casting casting_of(const GraphView& view, NodeId normalised) {
  Casting casting;
  casting.normalised = normalised;
  const ir::Graph& graph = view.graph;
  const ir::Type storage = storage_type(view, casting.normalised);
  const bool wide = is_wider(graph[casting.normalised].type, storage);

  // Behind the normalised value, in order: `before` a rounding, or after one.
  std::vector<bool> before(graph.nodes.size(), false);
  std::vector<bool> after(graph.nodes.size(), false);
  before[static_cast<std::size_t>(casting.normalised)] = true;
  bool weighted_after = false;
  for (std::size_t i = static_cast<std::size_t>(casting.normalised) + 1; i < graph.nodes.size(); ++i) {
    const ir::Node& node = graph.nodes[i];
    const NodeId id = static_cast<NodeId>(i);
    if (ir::info(node.op).kind != ir::OpKind::Pointwise && !view.is_view(id)) continue;
    for (const NodeId arg : node.args) {
      before[i] = before[i] || before[static_cast<std::size_t>(arg)];
      after[i] = after[i] || after[static_cast<std::size_t>(arg)];
    }
    if (before[i] && node.op == Op::Cast && is_wider(graph[node.args[0]].type, node.type)) {
      if (casting.rounded == ir::kNoNode) casting.rounded = id;
      before[i] = false;
      after[i] = true;
      continue;
    }
    if ((before[i] || after[i]) && takes_weight(view, id, casting.normalised)) {
      if (casting.weighted == ir::kNoNode) casting.weighted = id;
      weighted_after = weighted_after || (after[i] && !before[i]);
    }
  }
  if (!wide) return casting;
  casting.mode = weighted_after ? "llama" : "gemma";
  return casting;
}

}  // namespace

std::vector<NodeId> normalised_values(const GraphView& view) {
  std::vector<NodeId> values;
  for (std::size_t i = 0; i < view.graph.nodes.size(); ++i)
    if (is_normalised(view, static_cast<NodeId>(i))) values.push_back(static_cast<NodeId>(i));
  return values;
}

Casting casting_of(const GraphView& view) {
  const std::vector<NodeId> normalised = normalised_values(view);
  return normalised.empty() ? Casting{} : casting_of(view, normalised[0]);
}

bool all_cast(const GraphView& view, const std::string& mode) {
  const std::vector<NodeId> normalised = normalised_values(view);
  if (normalised.empty()) return mode == Casting{}.mode;
  return std::all_of(normalised.begin(), normalised.end(),
                     [&](NodeId node) { return casting_of(view, node).mode == mode; });
}

Result<ir::Graph> recast(const ir::Graph& graph, const std::string& mode) {
  const GraphView view(graph);
  if (all_cast(view, mode)) return graph;
  const std::vector<NodeId> normalised = normalised_values(view);
  if (normalised.empty())
    return fail(ErrorKind::BadInput, "nothing is normalised here, so there is no casting mode to set",
                "`kw set NAME wider=...` keeps values wider");
  const ir::Type storage = storage_type(view, normalised[0]);
  if (mode == "gemma")
    return retyped(
        graph, [](NodeId) { return Width::Wide; }, storage);
  if (mode == "none")
    return retyped(
        graph, [](NodeId) { return Width::Narrow; }, storage);
  // llama: wide up to and with each normalised value, narrow behind it; where another norm follows, that is wide again
  // behind the weight of the first.
  const auto is_behind = [&](NodeId node, NodeId normal) {
    if (node == normal || !view.depends_on(node, normal)) return false;
    const bool leads_on = std::any_of(normalised.begin(), normalised.end(), [&](NodeId next) {
      return next != normal && view.depends_on(next, normal) && (next == node || view.depends_on(next, node));
    });
    if (!leads_on) return true;
    return takes_weight(view, node, normal) &&
           std::find(normalised.begin(), normalised.end(), node) == normalised.end();
  };
  return retyped(
      graph,
      [&](NodeId node) {
        const bool narrow =
            std::any_of(normalised.begin(), normalised.end(), [&](NodeId normal) { return is_behind(node, normal); });
        return narrow ? Width::Narrow : Width::Wide;
      },
      storage);
}

}  // namespace kw::understand
