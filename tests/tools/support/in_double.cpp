#include "in_double.h"

#include <memory>

namespace kw::tools {
namespace {

using namespace ir;

Type doubled(Type type) { return type.floating() && !type.weak() ? Type(DType::F64) : type; }

// Reads integers as f64 where the op would read them as PyTorch's default type.
NodeId as_real(GraphBuilder& b, NodeId x) {
  Type type = b[x].type;
  return type.floating() || type.weak() ? x : b.cast(x, DType::F64);
}

}  // namespace

Graph in_double(const Graph& graph) {
  Graph start = graph;
  start.nodes.clear();
  start.origins.clear();
  start.names.clear();
  start.inputs.clear();
  start.outputs.clear();
  start.type_parameters.clear();
  GraphBuilder b(std::move(start));
  std::map<NodeId, NodeId> image;
  for (Input input : graph.inputs) {
    NodeId old = input.node;
    input.type = doubled(input.type);
    image[old] = b.input(std::move(input));
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    NodeId id = static_cast<NodeId>(i);
    if (image.contains(id)) continue;
    const Node& node = graph.nodes[i];
    std::vector<NodeId> args = node.args;
    for (NodeId& arg : args) arg = image.at(arg);
    Attr attr = node.attr;
    if (auto* combine = std::get_if<CombineAttr>(&attr)) {
      Combine body{std::make_shared<Graph>(in_double(*combine->combine->body)), combine->combine->identity};
      combine->combine = std::make_shared<Combine>(std::move(body));
    }
    if (node.op == Op::Cast) {
      image[id] = b.cast(args[0], doubled(node.as<CastAttr>().type));
      continue;
    }
    if (info(node.op).kind == OpKind::Pointwise && node.type.floating())
      for (size_t k = node.op == Op::Select ? 1 : 0; k < args.size(); ++k) args[k] = as_real(b, args[k]);
    NodeId made = b.make(node.op, std::move(args), std::move(attr));
    image[id] = node.op == Op::Random ? b.cast(made, DType::F64) : made;
  }
  for (Output output : graph.outputs) {
    output.node = image.at(output.node);
    b.output(std::move(output));
  }
  return std::move(b).finish();
}

}  // namespace kw::tools
