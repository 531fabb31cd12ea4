#include "verify/casting.h"

#include <algorithm>
#include <optional>

#include "ir/interpreter/compare.h"
#include "verify/cases.h"

namespace kw::verify {
namespace {

using ir::DType;
using ir::GraphBuilder;
using ir::NodeId;
using ir::Op;

constexpr std::size_t kMostOrders = 24;

bool is_narrow(ir::Type type) { return type.concrete() && (type.floor() == DType::BF16 || type.floor() == DType::F16); }

std::optional<DType> narrow_type(const ir::Graph& graph) {
  for (const ir::Node& node : graph.nodes)
    if (is_narrow(node.type)) return node.type.floor();
  return std::nullopt;
}

std::string called(const ir::Graph& graph, NodeId id) {
  const auto name = graph.names.find(id);
  if (name != graph.names.end()) return name->second;
  std::string text(ir::info(graph[id].op).name);
  const ir::Origin& origin = graph.origins[static_cast<std::size_t>(id)];
  return origin.line > 0 ? text + " (line " + std::to_string(origin.line) + ")" : text;
}

// The graph with `changed` in the place of a node; everything behind it follows, and outputs keep their types.
std::optional<ir::Graph> with(const ir::Graph& graph, NodeId at,
                              const std::function<std::optional<NodeId>(GraphBuilder&)>& change) {
  ir::Graph start = graph;
  start.outputs.clear();
  GraphBuilder builder(std::move(start));
  std::map<NodeId, NodeId> moved;
  const std::optional<NodeId> changed = change(builder);
  if (!changed) return std::nullopt;
  moved[at] = *changed;
  for (NodeId id = at + 1; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const ir::Node& node = graph[id];
    std::vector<NodeId> args = node.args;
    bool follows = false;
    for (NodeId& arg : args)
      if (const auto found = moved.find(arg); found != moved.end()) arg = found->second, follows = true;
    if (!follows) continue;
    const auto made = builder.try_make(node.op, std::move(args), node.attr);
    if (!made) return std::nullopt;
    moved[id] = *made;
  }
  for (const ir::Output& output : graph.outputs) {
    ir::Output copy = output;
    if (const auto found = moved.find(output.node); found != moved.end())
      copy.node = builder.cast(found->second, graph[output.node].type);
    builder.output(std::move(copy));
  }
  return std::move(builder).finish();
}

}  // namespace

std::vector<OtherOrder> other_orders(const ir::Graph& forward) {
  std::vector<OtherOrder> orders;
  const std::optional<DType> narrow = narrow_type(forward);
  if (!narrow) return orders;
  const std::string type(ir::info(*narrow).name);
  for (NodeId id = 0; id < static_cast<NodeId>(forward.nodes.size()) && orders.size() < kMostOrders; ++id) {
    const ir::Node& node = forward[id];
    if (node.op == Op::Input || node.op == Op::Const || node.op == Op::StopGradient || node.args.empty()) continue;
    if (is_narrow(node.type)) {
      const bool is_output = std::any_of(forward.outputs.begin(), forward.outputs.end(),
                                         [&](const ir::Output& output) { return output.node == id; });
      const bool rounds = node.op == Op::Cast ? !is_narrow(forward[node.args[0]].type)
                                              : ir::info(node.op).kind == ir::OpKind::Pointwise;
      if (is_output || !rounds) continue;
      auto graph = with(forward, id, [&](GraphBuilder& builder) -> std::optional<NodeId> {
        if (node.op == Op::Cast) return node.args[0];
        std::vector<NodeId> args;
        for (const NodeId arg : node.args)
          args.push_back(is_narrow(forward[arg].type) ? builder.cast(arg, DType::F32) : arg);
        const auto made = builder.try_make(node.op, std::move(args), node.attr);
        return made ? std::optional(*made) : std::nullopt;
      });
      if (graph) orders.push_back({called(forward, id) + " is not rounded to " + type, std::move(*graph)});
    } else if (node.type.concrete() && node.type.floor() == DType::F32) {
      if (node.op == Op::Cast && is_narrow(forward[node.args[0]].type)) continue;
      auto graph = with(forward, id, [&](GraphBuilder& builder) -> std::optional<NodeId> {
        return builder.cast(builder.cast(id, *narrow), DType::F32);
      });
      if (graph) orders.push_back({called(forward, id) + " is rounded to " + type, std::move(*graph)});
    }
  }
  return orders;
}

Result<CastingEvidence> casting_evidence(const Subject& subject, const kernel::TypeBinding& types,
                                         const ir::Environment& values, const Expected& expected,
                                         const std::map<std::string, std::vector<double>>& got, bool beyond) {
  CastingEvidence evidence;
  const ir::Graph bound = ir::bind_types(subject.forward, types);
  const ir::Environment call = part_for(bound, values);
  for (const OtherOrder& order : other_orders(bound)) {
    ++evidence.orders;
    KW_TRY(const std::vector<ir::Array> other,
           ir::interpret(order.graph, call, {.semantics = ir::Semantics::Rounded, .track_bounds = true}));
    bool apart = false, follows = beyond;
    for (std::size_t i = 0; i < other.size(); ++i) {
      const std::string& name = bound.outputs[i].name;
      const DType type = bound[bound.outputs[i].node].type.floor();
      apart |= !ir::compare(expected.at(name), other[i].values, type).within();
      const auto own = got.find(name);
      follows = follows && own != got.end() && ir::compare(other[i], own->second, type).within();
    }
    evidence.told_apart += apart ? 1 : 0;
    if (apart && follows && evidence.followed.empty()) evidence.followed = order.text;
  }
  return evidence;
}

}  // namespace kw::verify
