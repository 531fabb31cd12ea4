#include "ir/derivative/derivative.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/derivative/sweep.h"

namespace kw::ir {
namespace {

bool carries_gradient(Type type) { return type.floating() && !type.weak(); }

bool listed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool wanted(const Input& input, const DerivativeOptions& options) {
  if (options.inputs) return listed(*options.inputs, input.name);
  return carries_gradient(input.type) && input.differentiable &&
         (input.kind == InputKind::Tensor || input.kind == InputKind::Parameter);
}

bool seeded(const Graph& forward, const Output& output, const DerivativeOptions& options) {
  if (options.outputs) return listed(*options.outputs, output.name);
  return carries_gradient(forward[output.node].type) && !output.updates;
}

// Every name that the options give exists and can carry a gradient.
Status check_options(const Graph& forward, const DerivativeOptions& options) {
  if (options.declared)
    return bad_input("a declared backward is not supported yet", std::nullopt,
                     "write the straight-through form with stop_gradient in the forward math");
  for (const std::string& name : options.inputs.value_or(std::vector<std::string>{})) {
    const Input* input = forward.find_input(name);
    if (!input) return bad_input("no input is called " + name + ", so it has no gradient");
    if (!carries_gradient(input->type))
      return bad_input("the input " + name + " has no gradient: it is not a floating tensor");
  }
  for (const std::string& name : options.outputs.value_or(std::vector<std::string>{})) {
    auto at = std::find_if(forward.outputs.begin(), forward.outputs.end(),
                           [&](const Output& output) { return output.name == name; });
    if (at == forward.outputs.end()) return bad_input("no output is called " + name + ", so it has no cotangent");
    if (!carries_gradient(forward[at->node].type))
      return bad_input("the output " + name + " has no cotangent: it is not a floating tensor");
  }
  return {};
}

// Wide values that the forward uses for nothing but a result in a narrower type, with the result as the backward reads
// it: rounded.
std::map<NodeId, NodeId> read_rounded(const Graph& forward, GraphBuilder& builder) {
  std::map<NodeId, NodeId> uses, rounded;
  for (const Node& node : forward.nodes)
    for (NodeId arg : node.args) ++uses[arg];
  for (const Output& output : forward.outputs) ++uses[output.node];
  for (const Output& output : forward.outputs) {
    const Node& result = forward[output.node];
    if (result.op != Op::Cast || result.type.concrete() || output.updates) continue;
    NodeId wide = result.args[0];
    if (forward[wide].type != opmath(result.type) || forward[wide].type == result.type || uses[wide] != 1) continue;
    rounded[wide] = builder.cast(output.node, forward[wide].type);
  }
  return rounded;
}

// A name that neither the interface nor a value has yet.
std::string fresh(std::string name, std::set<std::string>& taken) {
  while (!taken.insert(name).second) name += "_";
  return name;
}

}  // namespace

Result<Graph> differentiate(const Graph& forward, const DerivativeOptions& options) {
  KW_CHECK(check_options(forward, options));
  GraphBuilder builder(forward);
  const std::map<NodeId, NodeId> rounded = read_rounded(forward, builder);
  const size_t forward_nodes = builder.graph().nodes.size();
  std::set<std::string> taken;
  for (const Input& input : forward.inputs) taken.insert(input.name);
  for (const Output& output : forward.outputs) taken.insert(output.name);
  for (const auto& [node, name] : forward.names) taken.insert(name);

  std::vector<NodeId> with_respect_to;
  for (const Input& input : forward.inputs)
    if (wanted(input, options)) with_respect_to.push_back(input.node);
  Sweep sweep(builder, with_respect_to, options.override_rules);
  for (const Output& output : forward.outputs) {
    if (!seeded(forward, output, options)) continue;
    Input cotangent;
    cotangent.name = fresh("d_" + output.name, taken);
    cotangent.type = forward[output.node].type;
    cotangent.dims = output.dims;
    cotangent.differentiable = false;
    sweep.seed(output.node, builder.input(std::move(cotangent)));
  }
  KW_CHECK(sweep.run());

  for (const auto& [node, name] : forward.names) {
    NodeId cotangent = sweep.cotangent(node);
    if (cotangent == kNoNode || builder[cotangent].op == Op::Input || taken.contains("d_" + name)) continue;
    if (builder.graph().names.contains(cotangent)) continue;
    builder.set_name(cotangent, fresh("d_" + name, taken));
  }
  for (const Input& input : forward.inputs) {
    if (!wanted(input, options)) continue;
    NodeId gradient = sweep.cotangent(input.node);
    if (gradient == kNoNode) gradient = builder.cast(builder.constant(0.0), input.type);
    gradient = builder.broadcast(gradient, input.dims);
    builder.output({fresh("grad_" + input.name, taken), gradient, input.dims, std::nullopt});
  }
  const auto read = [&](NodeId& node) {
    if (const auto found = rounded.find(node); found != rounded.end()) node = found->second;
  };
  std::vector<Node>& nodes = builder.graph().nodes;
  for (size_t i = forward_nodes; i < nodes.size(); ++i) std::for_each(nodes[i].args.begin(), nodes[i].args.end(), read);
  return std::move(builder).finish();
}

}  // namespace kw::ir
