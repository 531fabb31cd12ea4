#include "understand/decisions/graph_view.h"

#include <algorithm>
#include <array>
#include <set>

#include "schedule/layout.h"

namespace kw::understand {

using ir::NodeId;
using ir::Op;
using ir::OpKind;

GraphView::GraphView(const ir::Graph& g)
    : graph(g), users_(g.nodes.size()), inputs_(g.nodes.size()), is_output_(g.nodes.size(), false) {
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    std::set<int> inputs;
    if (g.nodes[i].op == Op::Input) {
      const int index = g.nodes[i].as<ir::InputRef>().index;
      if (g.inputs[static_cast<std::size_t>(index)].kind != ir::InputKind::Scalar) inputs.insert(index);
    }
    for (const NodeId arg : g.nodes[i].args) {
      std::vector<NodeId>& users = users_[static_cast<std::size_t>(arg)];
      if (users.empty() || users.back() != static_cast<NodeId>(i)) users.push_back(static_cast<NodeId>(i));
      inputs.insert(inputs_[static_cast<std::size_t>(arg)].begin(), inputs_[static_cast<std::size_t>(arg)].end());
    }
    inputs_[i].assign(inputs.begin(), inputs.end());
  }
  for (const ir::Output& output : g.outputs) is_output_[static_cast<std::size_t>(output.node)] = true;
}

bool GraphView::depends_on(NodeId node, NodeId source) const {
  if (node == source) return true;
  if (node < source) return false;
  std::vector<bool> reached(graph.nodes.size(), false);
  reached[static_cast<std::size_t>(source)] = true;
  for (NodeId i = source + 1; i <= node; ++i)
    for (const NodeId arg : graph[i].args)
      if (reached[static_cast<std::size_t>(arg)]) reached[static_cast<std::size_t>(i)] = true;
  return reached[static_cast<std::size_t>(node)];
}

bool GraphView::is_reduction(NodeId node) const {
  return ir::info(graph[node].op).kind == OpKind::Reduction && !schedule::drops_unit_axes(graph, graph[node]);
}

bool GraphView::is_view(NodeId node) const {
  switch (graph[node].op) {
    case Op::Broadcast:
    case Op::Rename:
    case Op::Slice:
    case Op::Split:
    case Op::Merge:
      return true;
    case Op::Gather:
      return schedule::reads_by_number(graph, graph[node]);
    default:
      return schedule::drops_unit_axes(graph, graph[node]);
  }
}

bool GraphView::is_number(NodeId node) const { return graph[node].type.weak() && graph[node].axes.empty(); }

NodeId GraphView::behind_casts(NodeId node) const {
  while (graph[node].op == Op::Cast || is_view(node)) node = graph[node].args[0];
  return node;
}

bool is_wider(ir::Type wide, ir::Type narrow) {
  if (!wide.floating() || !narrow.floating() || wide.weak() || narrow.weak()) return false;
  static constexpr auto kHalves = [] {
    std::array<ir::DType, 16> dtypes{};
    dtypes.fill(ir::DType::BF16);
    return dtypes;
  }();
  const ir::DType a = wide.bind(kHalves);
  const ir::DType b = narrow.bind(kHalves);
  return a != b && ir::promote(a, b) == a;
}

}  // namespace kw::understand
