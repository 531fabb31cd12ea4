#include "ir/derivative/combine.h"

namespace kw::ir {
namespace {

std::map<NodeId, NodeId> images_of_operands(const Graph& body, std::span<const NodeId> left,
                                            std::span<const NodeId> right) {
  std::map<NodeId, NodeId> image;
  for (size_t i = 0; i < left.size(); ++i) {
    image[body.inputs[i].node] = left[i];
    image[body.inputs[left.size() + i].node] = right[i];
  }
  return image;
}

}  // namespace

std::vector<NodeId> inline_body(GraphBuilder& builder, const Combine& combine, std::span<const NodeId> left,
                                std::span<const NodeId> right) {
  const Graph& body = *combine.body;
  std::map<NodeId, NodeId> image = images_of_operands(body, left, right);
  std::vector<NodeId> roots, out;
  for (const Output& output : body.outputs) roots.push_back(output.node);
  copy_nodes(body, roots, builder, image);
  for (NodeId root : roots) out.push_back(image.at(root));
  return out;
}

Result<std::vector<NodeId>> body_vjp(Adjoint& at, const Combine& combine, std::span<const NodeId> left,
                                     std::span<const NodeId> right, std::span<const NodeId> cotangents) {
  const Graph& body = *combine.body;
  GraphBuilder inner(body);
  std::vector<NodeId> operands;
  for (const Input& input : body.inputs)
    if (input.type.floating()) operands.push_back(input.node);
  Sweep sweep(inner, operands, at.override_rules());
  std::map<NodeId, NodeId> image = images_of_operands(body, left, right);
  for (size_t part = 0; part < cotangents.size(); ++part) {
    if (cotangents[part] == kNoNode) continue;
    Input seed;
    seed.name = "d:" + std::to_string(part);
    seed.type = body[body.outputs[part].node].type;
    NodeId cotangent = inner.input(std::move(seed));
    image[cotangent] = cotangents[part];
    sweep.seed(body.outputs[part].node, cotangent);
  }
  KW_CHECK(sweep.run());

  std::vector<NodeId> roots;
  for (const Input& input : body.inputs)
    if (NodeId root = sweep.cotangent(input.node); root != kNoNode) roots.push_back(root);
  Graph backward = inner.graph();
  backward.names.clear();
  copy_nodes(backward, roots, at.b, image);
  std::vector<NodeId> out;
  for (const Input& input : body.inputs) {
    NodeId root = sweep.cotangent(input.node);
    out.push_back(root == kNoNode ? kNoNode : image.at(root));
  }
  return out;
}

}  // namespace kw::ir
