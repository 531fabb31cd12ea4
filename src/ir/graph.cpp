#include "ir/graph.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/infer.h"
#include "ir/without_nodes.h"

namespace kw::ir {
namespace {

class Hasher {
 public:
  void add(uint64_t v) {
    v *= 0x9E3779B97F4A7C15ull;
    state_ = std::rotl(state_ ^ v, 27) * 0x94D049BB133111EBull + 0x2545F4914F6CDD1Dull;
  }
  void add(const std::vector<AxisId>& ids) {
    add(ids.size());
    for (AxisId id : ids) add(static_cast<uint64_t>(id) + 2);
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x853C49E6748FEA9Bull;
};

void add_attr(Hasher& h, std::monostate) { h.add(1); }
void add_attr(Hasher& h, const Literal& a) {
  h.add(a.value.index());
  std::visit(
      [&h](auto v) {
        if constexpr (std::is_same_v<decltype(v), double>)
          h.add(std::bit_cast<uint64_t>(v));
        else
          h.add(static_cast<uint64_t>(v));
      },
      a.value);
}
void add_attr(Hasher& h, const InputRef& a) { h.add(static_cast<uint64_t>(a.index)); }
void add_attr(Hasher& h, const SizeAttr& a) { h.add(a.size.hash()); }
void add_attr(Hasher& h, const AxisList& a) { h.add(a.axes); }
void add_attr(Hasher& h, const CastAttr& a) {
  h.add(a.type.params());
  h.add(static_cast<uint64_t>(a.type.floor()));
}
void add_attr(Hasher& h, const RenameAttr& a) {
  for (auto [from, to] : a.pairs) h.add({from, to});
}
void add_attr(Hasher& h, const SliceAttr& a) {
  h.add({a.from, a.to});
  h.add(a.start.hash());
  h.add(static_cast<uint64_t>(a.step));
}
void add_attr(Hasher& h, const ConcatAttr& a) {
  h.add(a.from);
  h.add(static_cast<uint64_t>(a.to));
}
void add_attr(Hasher& h, const SplitAttr& a) { h.add({a.whole, a.outer, a.inner}); }
void add_attr(Hasher& h, const WindowAttr& a) {
  h.add({a.axis, a.out, a.tap});
  h.add(static_cast<uint64_t>(a.stride));
  h.add(static_cast<uint64_t>(a.dilation));
  h.add(a.pad_before.hash());
  h.add(static_cast<uint64_t>(a.input_dilation));
}
void add_attr(Hasher& h, const SegmentAttr& a) { h.add({a.rows, a.segments, a.offsets}); }
void add_attr(Hasher& h, const ScanAttr& a) { h.add({a.axis, a.reverse, a.exclusive}); }
void add_attr(Hasher& h, const SortAttr& a) { h.add({a.axis, a.descending}); }
void add_attr(Hasher& h, const TopKAttr& a) { h.add({a.axis, a.to, a.largest}); }
void add_attr(Hasher& h, const CombineAttr& a) {
  h.add({a.part, a.axis, a.reverse, a.exclusive});
  for (double v : a.combine->identity) h.add(std::bit_cast<uint64_t>(v));
  for (const Node& node : a.combine->body->nodes) {
    h.add(static_cast<uint64_t>(node.op));
    h.add(hash_of(node.attr));
    h.add(node.args);
  }
}

bool same_combine(const Combine& a, const Combine& b) {
  auto same_node = [](const Node& x, const Node& y) {
    return x.op == y.op && x.type == y.type && x.args == y.args && equal(x.attr, y.attr);
  };
  auto same_output = [](const Output& x, const Output& y) { return x.node == y.node; };
  return std::equal(a.identity.begin(), a.identity.end(), b.identity.begin(), b.identity.end(),
                    [](double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); }) &&
         std::equal(a.body->nodes.begin(), a.body->nodes.end(), b.body->nodes.begin(), b.body->nodes.end(),
                    same_node) &&
         std::equal(a.body->outputs.begin(), a.body->outputs.end(), b.body->outputs.begin(), b.body->outputs.end(),
                    same_output);
}

std::vector<AxisId> axes_of_dims(const std::vector<AxisId>& dims) {
  std::vector<AxisId> axes;
  for (AxisId d : dims)
    if (d != kUnit) axes.push_back(d);
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace

double Literal::number() const {
  return std::visit([](auto v) { return static_cast<double>(v); }, value);
}

bool operator==(const Literal& a, const Literal& b) {
  if (a.value.index() != b.value.index()) return false;
  if (const double* x = std::get_if<double>(&a.value))
    return std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(std::get<double>(b.value));
  return a.value == b.value;
}

bool operator==(const CombineAttr& a, const CombineAttr& b) {
  return a.part == b.part && a.axis == b.axis && a.reverse == b.reverse && a.exclusive == b.exclusive &&
         (a.combine == b.combine || same_combine(*a.combine, *b.combine));
}

bool equal(const Attr& a, const Attr& b) { return a == b; }

size_t hash_of(const Attr& attr) {
  Hasher h;
  h.add(attr.index());
  std::visit([&h](const auto& a) { add_attr(h, a); }, attr);
  return h.value();
}

std::string Graph::size_text(const Size& size) const {
  return size.text([this](SymbolId id) { return symbols[static_cast<size_t>(id)].name; });
}

const Input* Graph::find_input(std::string_view wanted) const {
  for (const Input& input : inputs)
    if (input.name == wanted) return &input;
  return nullptr;
}

std::optional<int64_t> Graph::hinted(const Size& size) const {
  return size.evaluate([this](SymbolId id) { return symbols[static_cast<size_t>(id)].hint; });
}

GraphBuilder::GraphBuilder(Graph start) : graph_(std::move(start)) {
  graph_.origins.resize(graph_.nodes.size());
  for (size_t i = 0; i < graph_.nodes.size(); ++i) interned_.emplace(hash(graph_.nodes[i]), static_cast<NodeId>(i));
}

SymbolId GraphBuilder::symbol(std::string name, std::optional<int64_t> hint) {
  graph_.symbols.push_back({std::move(name), hint});
  return static_cast<SymbolId>(graph_.symbols.size() - 1);
}

AxisId GraphBuilder::axis(std::string name, Size size) {
  graph_.axes.push_back({std::move(name), std::move(size)});
  return static_cast<AxisId>(graph_.axes.size() - 1);
}

AxisId GraphBuilder::axis_like(AxisId model, std::string_view key, Size size) {
  std::string full_key = std::string(key) + ":" + graph_.size_text(size);
  auto [at, is_new] = derived_axes_.try_emplace({model, full_key}, kUnit);
  if (is_new) at->second = axis(model == kUnit ? std::string(key) : graph_.axis(model).name, std::move(size));
  return at->second;
}

Type GraphBuilder::type_parameter(std::string name, DType default_dtype) {
  KW_ASSERT(graph_.type_parameters.size() < 16, "a type is a set of at most 16 parameters");
  graph_.type_parameters.push_back({std::move(name), default_dtype});
  return Type::parameter(static_cast<int>(graph_.type_parameters.size() - 1));
}

NodeId GraphBuilder::input(Input input) {
  KW_ASSERT(!graph_.find_input(input.name), "input names are unique");
  graph_.inputs.push_back(std::move(input));
  NodeId node = make(Op::Input, {}, InputRef{static_cast<int32_t>(graph_.inputs.size() - 1)});
  graph_.inputs.back().node = node;
  return node;
}

void GraphBuilder::output(Output output) {
  KW_ASSERT(axes_of_dims(output.dims) == graph_[output.node].axes, "an output lists each axis of its node once");
  graph_.outputs.push_back(std::move(output));
}

void GraphBuilder::constrain(SizeConstraint constraint) {
  if (constraint.kind == SizeConstraint::Kind::Equal && constraint.left == constraint.right) return;
  for (const SizeConstraint& known : graph_.constraints)
    if (known.kind == constraint.kind && known.left == constraint.left && known.right == constraint.right) return;
  graph_.constraints.push_back(std::move(constraint));
}

size_t GraphBuilder::hash(const Node& node) const {
  Hasher h;
  h.add(static_cast<uint64_t>(node.op));
  h.add(node.args);
  h.add(hash_of(node.attr));
  return h.value();
}

Result<NodeId> GraphBuilder::try_make(Op op, std::vector<NodeId> args, Attr attr) {
  Node node{op, Type(), {}, std::move(args), std::move(attr)};
  size_t key = hash(node);
  auto [first, last] = interned_.equal_range(key);
  for (auto at = first; at != last; ++at) {
    const Node& known = graph_[at->second];
    if (known.op == node.op && known.args == node.args && equal(known.attr, node.attr)) return at->second;
  }
  Result<Inferred> inferred = infer(graph_, node.op, node.args, node.attr, rules_ ? *rules_ : inference_rules());
  if (!inferred) return tl::unexpected(inferred.error());
  node.axes = std::move(inferred->axes);
  node.type = inferred->type;
  NodeId id = static_cast<NodeId>(graph_.nodes.size());
  graph_.nodes.push_back(std::move(node));
  graph_.origins.push_back(origin_);
  interned_.emplace(key, id);
  return id;
}

NodeId GraphBuilder::make(Op op, std::vector<NodeId> args, Attr attr) {
  Result<NodeId> made = try_make(op, std::move(args), std::move(attr));
  KW_ASSERT(made.has_value(), made ? "" : made.error().message.c_str());
  return *made;
}

NodeId GraphBuilder::cast(NodeId x, Type type) {
  return graph_[x].type == type ? x : make(Op::Cast, {x}, CastAttr{type});
}

NodeId GraphBuilder::reduce(Op op, NodeId x, std::vector<AxisId> axes) {
  if (axes.empty()) return x;
  std::sort(axes.begin(), axes.end());
  return make(op, {broadcast(x, axes)}, AxisList{axes});
}

NodeId GraphBuilder::broadcast(NodeId x, std::vector<AxisId> axes) {
  const std::vector<AxisId>& present = graph_[x].axes;
  std::erase_if(axes, [&](AxisId a) { return a == kUnit || std::binary_search(present.begin(), present.end(), a); });
  if (axes.empty()) return x;
  std::sort(axes.begin(), axes.end());
  return make(Op::Broadcast, {x}, AxisList{std::move(axes)});
}

NodeId GraphBuilder::rename(NodeId x, std::vector<std::pair<AxisId, AxisId>> pairs) {
  const std::vector<AxisId>& present = graph_[x].axes;
  std::erase_if(pairs, [&](const auto& p) {
    return p.first == p.second || !std::binary_search(present.begin(), present.end(), p.first);
  });
  if (pairs.empty()) return x;
  std::sort(pairs.begin(), pairs.end());
  return make(Op::Rename, {x}, RenameAttr{std::move(pairs)});
}

void GraphBuilder::set_name(NodeId node, std::string name) { graph_.names.try_emplace(node, std::move(name)); }

Graph GraphBuilder::finish() && {
  std::vector<bool> needed(graph_.nodes.size());
  for (const Output& output : graph_.outputs) needed[static_cast<size_t>(output.node)] = true;
  for (const Input& input : graph_.inputs) needed[static_cast<size_t>(input.node)] = true;
  for (size_t i = graph_.nodes.size(); i-- > 0;)
    if (needed[i])
      for (NodeId arg : graph_.nodes[i].args) needed[static_cast<size_t>(arg)] = true;

  std::vector<NodeId> renumbered(graph_.nodes.size(), kNoNode);
  std::vector<Node> nodes;
  std::vector<Origin> origins;
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (!needed[i]) continue;
    renumbered[i] = static_cast<NodeId>(nodes.size());
    Node node = std::move(graph_.nodes[i]);
    for (NodeId& arg : node.args) arg = renumbered[static_cast<size_t>(arg)];
    nodes.push_back(std::move(node));
    origins.push_back(graph_.origins[i]);
  }
  graph_.nodes = std::move(nodes);
  graph_.origins = std::move(origins);
  for (Output& output : graph_.outputs) output.node = renumbered[static_cast<size_t>(output.node)];
  for (Input& input : graph_.inputs) input.node = renumbered[static_cast<size_t>(input.node)];
  std::map<NodeId, std::string> names;
  for (auto& [node, name] : graph_.names)
    if (renumbered[static_cast<size_t>(node)] != kNoNode)
      names.emplace(renumbered[static_cast<size_t>(node)], std::move(name));
  graph_.names = std::move(names);
  return std::move(graph_);
}

void copy_nodes(const Graph& from, std::span<const NodeId> roots, GraphBuilder& builder,
                std::map<NodeId, NodeId>& replace) {
  std::vector<bool> needed(from.nodes.size());
  for (NodeId root : roots) needed[static_cast<size_t>(root)] = true;
  for (size_t i = from.nodes.size(); i-- > 0;)
    if (needed[i] && !replace.contains(static_cast<NodeId>(i)))
      for (NodeId arg : from.nodes[i].args) needed[static_cast<size_t>(arg)] = true;
  for (size_t i = 0; i < from.nodes.size(); ++i) {
    NodeId id = static_cast<NodeId>(i);
    if (!needed[i] || replace.contains(id)) continue;
    std::vector<NodeId> args = from.nodes[i].args;
    for (NodeId& arg : args) arg = replace.at(arg);
    if (i < from.origins.size()) builder.set_origin(from.origins[i]);
    NodeId copy = builder.make(from.nodes[i].op, std::move(args), from.nodes[i].attr);
    replace.emplace(id, copy);
    if (auto name = from.names.find(id); name != from.names.end()) builder.set_name(copy, name->second);
  }
}

Graph bind_types(const Graph& graph, const std::map<std::string, DType>& bindings) {
  std::vector<DType> dtypes;
  for (const TypeParameter& parameter : graph.type_parameters) {
    auto given = bindings.find(parameter.name);
    dtypes.push_back(given == bindings.end() ? parameter.default_dtype : given->second);
  }
  Graph start = without_nodes(graph);
  start.type_parameters.clear();
  GraphBuilder builder(std::move(start));
  std::map<NodeId, NodeId> image;
  for (Input input : graph.inputs) {
    NodeId old = input.node;
    input.type = Type(input.type.bind(dtypes));
    image[old] = builder.input(std::move(input));
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    NodeId id = static_cast<NodeId>(i);
    if (image.contains(id)) continue;
    const Node& node = graph.nodes[i];
    std::vector<NodeId> args = node.args;
    for (NodeId& arg : args) arg = image.at(arg);
    if (i < graph.origins.size()) builder.set_origin(graph.origins[i]);
    NodeId copy = node.op == Op::Cast ? builder.cast(args[0], Type(node.as<CastAttr>().type.bind(dtypes)))
                                      : builder.make(node.op, std::move(args), node.attr);
    image.emplace(id, copy);
    if (auto name = graph.names.find(id); name != graph.names.end()) builder.set_name(copy, name->second);
  }
  for (Output output : graph.outputs) {
    output.node = image.at(output.node);
    builder.output(std::move(output));
  }
  return std::move(builder).finish();
}

}  // namespace kw::ir
