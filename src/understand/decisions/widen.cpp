#include "understand/decisions/widen.h"

#include <algorithm>

#include "ir/without_nodes.h"
#include "understand/decisions/graph_view.h"

namespace kw::understand {
namespace {

using ir::Graph;
using ir::GraphBuilder;
using ir::Node;
using ir::NodeId;
using ir::Op;
using ir::Type;

bool is_real_tensor(const Node& node) { return node.type.floating() && !node.type.weak(); }
bool is_float_cast(const Graph& graph, const Node& node) {
  return node.op == Op::Cast && is_real_tensor(node) && is_real_tensor(graph[node.args[0]]);
}

// Rebuilds a graph node by node with other types. `rebuild` gives the image of a node, its operands' images at hand.
template <class Rebuild>
Result<Graph> rebuilt(const Graph& graph, Rebuild rebuild) {
  GraphBuilder builder(ir::without_nodes(graph));
  std::vector<NodeId> image(graph.nodes.size(), ir::kNoNode);
  for (const ir::Input& input : graph.inputs) {
    const auto node = static_cast<std::size_t>(input.node);
    builder.set_origin(graph.origins[node]);
    image[node] = builder.input(input);
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (image[i] != ir::kNoNode) continue;
    builder.set_origin(graph.origins[i]);
    std::vector<NodeId> args = graph.nodes[i].args;
    for (NodeId& arg : args) arg = image[static_cast<std::size_t>(arg)];
    KW_TRY(image[i], rebuild(builder, static_cast<NodeId>(i), std::move(args)));
  }
  for (const auto& [node, name] : graph.names) builder.set_name(image[static_cast<std::size_t>(node)], name);
  for (ir::Output output : graph.outputs) {
    const Type type = graph[output.node].type;
    output.node = image[static_cast<std::size_t>(output.node)];
    if (is_real_tensor(builder[output.node])) output.node = builder.cast(output.node, type);
    builder.output(std::move(output));
  }
  return std::move(builder).finish();
}

}  // namespace

Result<Graph> retyped(const Graph& graph, const std::function<Width(NodeId)>& width_of, Type storage) {
  return rebuilt(graph, [&](GraphBuilder& builder, NodeId id, std::vector<NodeId> args) -> Result<NodeId> {
    const Node& node = graph[id];
    if (is_float_cast(graph, node)) return args[0];
    const bool wide = width_of(id) == Width::Wide;
    const bool real = is_real_tensor(node);
    for (NodeId& arg : args)
      if (is_real_tensor(builder[arg])) {
        const Type own = builder[arg].type;
        // A narrow operand is its own storage type; a wide one is rounded to the storage type of what is normalised.
        if (wide) arg = builder.cast(arg, ir::opmath(own));
        if (!wide && is_wider(own, storage) && builder[arg].op != Op::Input) arg = builder.cast(arg, storage);
      }
    KW_TRY(const NodeId made, builder.try_make(node.op, std::move(args), node.attr));
    if (real && !wide && is_wider(builder[made].type, storage)) return builder.cast(made, storage);
    return made;
  });
}

std::vector<NodeId> rounded_values(const Graph& graph) {
  const GraphView view(graph);
  std::vector<NodeId> values;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeId id = static_cast<NodeId>(i);
    const Node& node = graph.nodes[i];
    if (node.op == Op::Input || !is_real_tensor(node) || view.is_view(id) || view.users(id).empty()) continue;
    if (!is_wider(ir::opmath(node.type), node.type)) continue;  // f32 already: eager rounds nothing away
    if (node.op == Op::Cast && !is_wider(graph[node.args[0]].type, node.type)) continue;
    values.push_back(id);
  }
  return values;
}

Result<Graph> widened(const Graph& graph, const std::vector<NodeId>& values) {
  const GraphView view(graph);
  const auto is_widened = [&](NodeId id) { return std::find(values.begin(), values.end(), id) != values.end(); };
  return rebuilt(graph, [&](GraphBuilder& builder, NodeId id, std::vector<NodeId> args) -> Result<NodeId> {
    const Node& node = graph[id];
    if (is_widened(id) && is_float_cast(graph, node)) return args[0];  // the rounding that is left out
    bool changed = is_widened(id);
    for (std::size_t i = 0; i < args.size(); ++i)
      changed =
          changed || (is_real_tensor(graph[node.args[i]]) && !(builder[args[i]].type == graph[node.args[i]].type));
    if (!changed || node.op == Op::Cast) return builder.try_make(node.op, std::move(args), node.attr);
    for (NodeId& arg : args)
      if (is_real_tensor(builder[arg])) arg = builder.cast(arg, ir::opmath(builder[arg].type));
    KW_TRY(const NodeId made, builder.try_make(node.op, std::move(args), node.attr));
    if (!is_real_tensor(node)) return made;
    return is_widened(id) || view.is_view(id) ? made : builder.cast(made, node.type);  // a view rounds nothing
  });
}

}  // namespace kw::understand
