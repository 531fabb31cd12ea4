#include "ir/partition.h"

#include <algorithm>
#include <set>

#include "ir/max_flow.h"
#include "ir/saved_name.h"
#include "ir/without_nodes.h"

namespace kw::ir {
namespace {

// What every node is to the two passes.
struct Roles {
  std::vector<bool> forward;           // does not depend on a cotangent
  std::vector<bool> is_output;         // a forward output
  std::vector<bool> used_by_backward;  // a forward node that a backward node, or a gradient, takes directly
};

bool is_free(const Node& node) {  // an argument or a constant of both passes
  if (node.type.weak()) return true;
  return node.op == Op::Const || node.op == Op::SizeOf || node.op == Op::Iota;
}

std::vector<bool> ancestors(const Graph& graph, std::vector<bool> of) {
  for (size_t i = graph.nodes.size(); i-- > 0;)
    if (of[i])
      for (NodeId arg : graph.nodes[i].args) of[static_cast<size_t>(arg)] = true;
  return of;
}

std::vector<bool> output_nodes(const Graph& graph, size_t first, size_t last) {
  std::vector<bool> out(graph.nodes.size());
  for (size_t i = first; i < last; ++i) out[static_cast<size_t>(graph.outputs[i].node)] = true;
  return out;
}

// The inputs that `differentiate` added, by node: gradients depend on them and outputs do not, or nothing depends on
// them and they are called after an output.
std::vector<bool> find_cotangents(const Graph& joint, size_t outputs) {
  std::vector<bool> below_outputs = ancestors(joint, output_nodes(joint, 0, outputs));
  std::vector<bool> below_gradients = ancestors(joint, output_nodes(joint, outputs, joint.outputs.size()));
  std::set<std::string> names;
  for (size_t i = 0; i < outputs; ++i) names.insert("d_" + joint.outputs[i].name);
  std::vector<bool> out(joint.nodes.size());
  for (const Input& input : joint.inputs) {
    size_t node = static_cast<size_t>(input.node);
    out[node] = !below_outputs[node] && (below_gradients[node] || names.contains(input.name));
  }
  return out;
}

Roles find_roles(const Graph& joint, int forward_output_count) {
  size_t n = joint.nodes.size(), outputs = static_cast<size_t>(forward_output_count);
  Roles roles{std::vector<bool>(n), output_nodes(joint, 0, outputs), std::vector<bool>(n)};
  std::vector<bool> gradients = output_nodes(joint, outputs, joint.outputs.size());
  std::vector<bool> below_gradients = ancestors(joint, gradients);
  std::vector<bool> cotangents = find_cotangents(joint, outputs);
  for (size_t i = 0; i < n; ++i) {
    const Node& node = joint.nodes[i];
    roles.forward[i] = !cotangents[i] && std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) {
      return roles.forward[static_cast<size_t>(arg)];
    });
    if (!below_gradients[i]) continue;
    if (roles.forward[i]) {
      if (gradients[i]) roles.used_by_backward[i] = true;
      continue;
    }
    for (NodeId arg : node.args)
      if (roles.forward[static_cast<size_t>(arg)]) roles.used_by_backward[static_cast<size_t>(arg)] = true;
  }
  return roles;
}

int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? MaxFlow::kUnlimited : out;
}

bool in_memory(const Graph& joint, const Roles& roles, NodeId node) {
  return joint[node].op == Op::Input || roles.is_output[static_cast<size_t>(node)];
}

int64_t price(const Graph& joint, const Roles& roles, NodeId node, const PartitionOptions& options) {
  return saturating_multiply(bytes_of(joint, node, options), in_memory(joint, roles, node) ? 1 : 2);
}

// The values that the gradients need while the saved ones are given, the saved ones included.
std::vector<bool> needed_from(const Graph& joint, const Partition& partition) {
  std::vector<bool> saved(joint.nodes.size());
  for (const SavedValue& value : partition.saved) saved[static_cast<size_t>(value.node)] = true;
  std::vector<bool> needed =
      output_nodes(joint, static_cast<size_t>(partition.forward_output_count), joint.outputs.size());
  for (size_t i = joint.nodes.size(); i-- > 0;)
    if (needed[i] && !saved[i])
      for (NodeId arg : joint.nodes[i].args) needed[static_cast<size_t>(arg)] = true;
  return needed;
}

void name_saved(const Graph& joint, Partition& partition) {
  std::set<std::string> taken;
  for (const Input& input : joint.inputs) taken.insert(input.name);
  for (const Output& output : joint.outputs) taken.insert(output.name);
  std::set<std::string> named;  // a name that is made up says nothing where the source uses it for another value
  for (const auto& [_, name] : joint.names) named.insert(name);
  const auto made_up = [&](NodeId node) {
    const std::string word = descriptive_name(joint, node);
    std::string name = word;
    for (int i = 2; named.contains(name) || taken.contains(name); ++i) name = word + "_" + std::to_string(i);
    return name;
  };
  for (SavedValue& value : partition.saved) {
    if (value.as == SavedAs::Input) {
      value.name = joint.inputs[static_cast<size_t>(joint[value.node].as<InputRef>().index)].name;
    } else if (value.as == SavedAs::Output) {
      auto output = std::find_if(joint.outputs.begin(), joint.outputs.end(),
                                 [&](const Output& o) { return o.node == value.node; });
      value.name = output->name;
    } else {
      auto own = joint.names.find(value.node);
      std::string name = own == joint.names.end() ? made_up(value.node) : own->second;
      while (!taken.insert(name).second) name += "_";
      value.name = name;
    }
  }
}

// The node's axes in the order in which the interface first shows them, so that what is saved lies as its source does.
std::vector<AxisId> interface_order(const Graph& joint, const std::vector<AxisId>& axes) {
  std::vector<AxisId> out;
  auto take = [&](const std::vector<AxisId>& dims) {
    for (AxisId dim : dims)
      if (std::binary_search(axes.begin(), axes.end(), dim) && std::find(out.begin(), out.end(), dim) == out.end())
        out.push_back(dim);
  };
  for (const Input& input : joint.inputs) take(input.dims);
  for (const Output& output : joint.outputs) take(output.dims);
  take(axes);
  return out;
}

// A builder over the same axes, symbols and type parameters, without a node.
GraphBuilder empty_like(const Graph& joint) { return GraphBuilder(without_nodes(joint)); }

void copy_outputs(const Graph& joint, const std::vector<Output>& outputs, GraphBuilder& builder,
                  std::map<NodeId, NodeId>& image) {
  std::vector<NodeId> roots;
  for (const Output& output : outputs) roots.push_back(output.node);
  copy_nodes(joint, roots, builder, image);
  for (Output output : outputs) {
    output.node = image.at(output.node);
    builder.output(std::move(output));
  }
}

}  // namespace

bool is_recomputable(const Graph& graph, NodeId id, const PartitionOptions& options) {
  const Node& node = graph[id];
  const Op op = node.op;
  if (op == Op::Random) return options.recompute_random;
  if (op == Op::Gather && graph[node.args[1]].op == Op::Const) return true;  // an element that is known: a view
  switch (info(op).kind) {
    case OpKind::Leaf:
      return op != Op::Input;  // an input is there or it is not
    case OpKind::Pointwise:
    case OpKind::View:
      return true;
    case OpKind::Reduction:
    case OpKind::Scan:
    case OpKind::Indexed:
    case OpKind::Order:
    case OpKind::Contraction:
      return false;
  }
  KW_ASSERT(false, "every kind of op is listed");
}

int64_t bytes_of(const Graph& graph, NodeId node, const PartitionOptions& options) {
  auto size_of = [&](SymbolId symbol) -> std::optional<int64_t> {
    std::optional<int64_t> given = options.size_of ? options.size_of(symbol) : std::nullopt;
    if (!given) given = graph.symbols[static_cast<size_t>(symbol)].hint;
    return given ? given : std::optional(options.default_size);
  };
  std::vector<DType> dtypes;
  for (const TypeParameter& parameter : graph.type_parameters) {
    auto given = options.types.find(parameter.name);
    dtypes.push_back(given == options.types.end() ? parameter.default_dtype : given->second);
  }
  int64_t bytes = info(graph[node].type.bind(dtypes)).bytes;
  for (AxisId axis : graph[node].axes)
    bytes = saturating_multiply(bytes, std::max<int64_t>(0, graph.axis(axis).size.evaluate(size_of).value_or(0)));
  return std::min(bytes, MaxFlow::kUnlimited);
}

Partition partition(const Graph& joint, int forward_output_count, const PartitionOptions& options) {
  Roles roles = find_roles(joint, forward_output_count);
  size_t n = joint.nodes.size();
  // Node i is the edge 2i → 2i + 1. Its capacity counts bytes first, tensors that are written second, tensors third.
  int64_t per_written = static_cast<int64_t>(n) + 1, per_byte = per_written * per_written;
  int source = static_cast<int>(2 * n), sink = source + 1;
  MaxFlow net(sink + 1);
  for (size_t i = 0; i < n; ++i) {
    const Node& node = joint.nodes[i];
    if (!roles.forward[i] || is_free(node)) continue;
    int in = static_cast<int>(2 * i), out = in + 1;
    NodeId id = static_cast<NodeId>(i);
    int64_t capacity = saturating_multiply(price(joint, roles, id, options), per_byte);
    int64_t written = in_memory(joint, roles, id) ? 0 : per_written;
    net.edge(in, out, std::min(capacity, MaxFlow::kUnlimited / 2 / per_written) + written + 1);
    if (roles.used_by_backward[i]) net.edge(out, sink, MaxFlow::kUnlimited);
    if (!is_recomputable(joint, id, options)) {
      net.edge(source, in, MaxFlow::kUnlimited);
      continue;
    }
    for (NodeId arg : node.args)
      if (!is_free(joint[arg])) net.edge(2 * arg + 1, in, MaxFlow::kUnlimited);
  }
  net.run(source, sink);

  Partition out{forward_output_count, {}, {}, 0};
  for (size_t i = 0; i < n; ++i) {
    int in = static_cast<int>(2 * i);
    if (!roles.forward[i] || is_free(joint.nodes[i]) || net.reaches_sink(in) || !net.reaches_sink(in + 1)) continue;
    NodeId id = static_cast<NodeId>(i);
    SavedAs as = joint[id].op == Op::Input ? SavedAs::Input
                 : roles.is_output[i]      ? SavedAs::Output
                                           : SavedAs::Intermediate;
    out.saved.push_back({id, as, bytes_of(joint, id, options), {}});
    out.moved_bytes += price(joint, roles, id, options);
  }
  name_saved(joint, out);
  std::vector<bool> needed = needed_from(joint, out);
  for (const SavedValue& value : out.saved) needed[static_cast<size_t>(value.node)] = false;
  for (size_t i = 0; i < n; ++i)
    if (needed[i] && roles.forward[i] && !is_free(joint.nodes[i])) out.recomputed.push_back(static_cast<NodeId>(i));
  return out;
}

Graph forward_with_saved(const Graph& joint, const Partition& partition) {
  size_t count = static_cast<size_t>(partition.forward_output_count);
  std::vector<Output> outputs(joint.outputs.begin(), joint.outputs.begin() + partition.forward_output_count);
  for (const SavedValue& value : partition.saved)
    if (value.as == SavedAs::Intermediate)
      outputs.push_back({value.name, value.node, interface_order(joint, joint[value.node].axes), std::nullopt});
  std::vector<bool> cotangents = find_cotangents(joint, count);
  GraphBuilder builder = empty_like(joint);
  std::map<NodeId, NodeId> image;
  for (const Input& input : joint.inputs)
    if (!cotangents[static_cast<size_t>(input.node)]) image[input.node] = builder.input(input);
  copy_outputs(joint, outputs, builder, image);
  return std::move(builder).finish();
}

Graph backward_graph(const Graph& joint, const Partition& partition) {
  std::vector<bool> needed = needed_from(joint, partition);
  GraphBuilder builder = empty_like(joint);
  std::map<NodeId, NodeId> image;
  for (const SavedValue& value : partition.saved) {
    Input input;
    if (value.as == SavedAs::Input) {
      input = joint.inputs[static_cast<size_t>(joint[value.node].as<InputRef>().index)];
    } else {
      input.name = value.name;
      input.type = joint[value.node].type;
      input.dims = interface_order(joint, joint[value.node].axes);
      for (const Output& output : joint.outputs)
        if (value.as == SavedAs::Output && output.name == value.name) input.dims = output.dims;
    }
    input.differentiable = false;
    image[value.node] = builder.input(std::move(input));
  }
  for (const Input& input : joint.inputs)
    if (needed[static_cast<size_t>(input.node)] && !image.contains(input.node))
      image[input.node] = builder.input(input);  // a scalar or a cotangent
  copy_outputs(joint, std::vector<Output>(joint.outputs.begin() + partition.forward_output_count, joint.outputs.end()),
               builder, image);
  return std::move(builder).finish();
}

}  // namespace kw::ir
