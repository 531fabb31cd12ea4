#include "understand/decisions/memory_use.h"

#include <map>
#include <set>
#include <tuple>

namespace kw::understand {
namespace {

using ir::Node;
using ir::NodeId;
using ir::Op;
using ir::OpKind;

bool is_weight(const ir::Graph& graph, NodeId node) {
  if (graph[node].op != Op::Input) return false;
  const ir::InputKind kind = graph.inputs[static_cast<std::size_t>(graph[node].as<ir::InputRef>().index)].kind;
  return kind == ir::InputKind::Parameter || kind == ir::InputKind::Buffer || kind == ir::InputKind::Scalar;
}

// The gradient of a linear operation needs none of its operands.
bool is_linear(const GraphView& view, NodeId id) {
  const Node& node = view.graph[id];
  switch (node.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Neg:
    case Op::Cast:
    case Op::Sum:
    case Op::Mean:
    case Op::StopGradient:
      return true;
    case Op::Mul:
    case Op::Div:
      return view.is_number(node.args[1]) || (node.op == Op::Mul && view.is_number(node.args[0]));
    default:
      return ir::info(node.op).kind == OpKind::View || ir::info(node.op).kind == OpKind::Leaf;
  }
}

NodeId storage_of(const GraphView& view, NodeId node) {
  while (view.is_view(node)) node = view.graph[node].args[0];
  return node;
}

std::int64_t bytes_of(const ir::Graph& graph, const std::set<NodeId>& nodes) {
  std::int64_t bytes = 0;
  for (const NodeId node : nodes) bytes += ir::bytes_of(graph, node);
  return bytes;
}

}  // namespace

std::set<NodeId> kept_by_eager(const ir::Graph& read) {
  const GraphView view(read);
  using Call = std::tuple<std::int32_t, std::int32_t, std::int32_t>;
  const auto call_of = [&](NodeId id) -> Call {
    const ir::Origin& origin = read.origins[static_cast<std::size_t>(id)];
    return {origin.file, origin.line, origin.line == 0 ? -1 - id : origin.column};
  };
  std::map<Call, bool> linear;
  for (std::size_t i = 0; i < read.nodes.size(); ++i) {
    if (ir::info(read.nodes[i].op).kind == OpKind::Leaf) continue;
    bool& all = linear.emplace(call_of(static_cast<NodeId>(i)), true).first->second;
    all = all && is_linear(view, static_cast<NodeId>(i));
  }
  std::set<NodeId> kept;
  for (std::size_t i = 0; i < read.nodes.size(); ++i) {
    const Node& node = read.nodes[i];
    if (ir::info(node.op).kind == OpKind::Leaf || linear[call_of(static_cast<NodeId>(i))]) continue;
    for (const NodeId arg : node.args) {
      const bool inside =
          ir::info(read[arg].op).kind != OpKind::Leaf && call_of(arg) == call_of(static_cast<NodeId>(i));
      if (inside || view.is_number(arg) || view.inputs_of(arg).empty()) continue;
      const NodeId storage = storage_of(view, arg);
      if (!is_weight(read, storage)) kept.insert(storage);
    }
  }
  return kept;
}

profile::Memory memory_use(const Derived& math) {
  profile::Memory memory;
  std::set<NodeId> interface;
  for (const ir::Input& input : math.read.inputs)
    if (!is_weight(math.read, input.node)) interface.insert(input.node);
  for (const ir::Output& output : math.read.outputs) interface.insert(output.node);
  memory.forward_peak = bytes_of(math.read, interface);
  memory.eager_forward_peak = memory.forward_peak;
  if (!math.differentiable) return memory;

  for (const ir::SavedValue& saved : math.partition.saved) {
    if (is_weight(math.joint, saved.node)) continue;
    memory.kept += saved.bytes;
    if (saved.as == ir::SavedAs::Intermediate) memory.forward_peak += saved.bytes;
  }
  std::set<NodeId> gradients;
  for (const ir::Output& output : math.backward_pass.outputs) gradients.insert(output.node);
  for (const ir::Input& input : math.backward_pass.inputs)
    if (input.name.starts_with("d_")) gradients.insert(input.node);
  memory.backward_peak = memory.kept + bytes_of(math.backward_pass, gradients);

  const std::set<NodeId> eager = kept_by_eager(math.read);
  memory.eager_kept = bytes_of(math.read, eager);
  interface.insert(eager.begin(), eager.end());
  memory.eager_forward_peak = bytes_of(math.read, interface);
  memory.eager_backward_peak = memory.eager_kept + bytes_of(math.backward_pass, gradients);
  return memory;
}

}  // namespace kw::understand
