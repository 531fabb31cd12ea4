#include <algorithm>
#include <numeric>
#include <set>

#include "ir/infer.h"
#include "ir/simplify/simplify.h"
#include "ir/without_nodes.h"

namespace kw::ir {
namespace {

// The graph with every axis replaced by `axis_image` (by index) and every size by `size_image`.
class Relabeling {
 public:
  Relabeling(const Graph& graph, std::vector<AxisId> axis_image, std::function<Size(const Size&)> size_image)
      : graph_(graph), axis_image_(std::move(axis_image)), size_image_(std::move(size_image)) {}

  Graph run() {
    Graph start = without_nodes(graph_);
    for (Axis& axis : start.axes) axis.size = size_image_(axis.size);
    std::vector<SizeConstraint> constraints = std::move(start.constraints);
    start.constraints.clear();
    GraphBuilder builder(std::move(start));
    for (SizeConstraint& c : constraints) builder.constrain({c.kind, size_image_(c.left), size_image_(c.right)});

    std::vector<NodeId> image(graph_.nodes.size(), kNoNode);
    for (Input input : graph_.inputs) {
      NodeId old = input.node;
      input.dims = map(input.dims);
      builder.set_origin(graph_.origins[static_cast<size_t>(old)]);
      image[static_cast<size_t>(old)] = builder.input(std::move(input));
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (image[i] != kNoNode) continue;
      const Node& node = graph_.nodes[i];
      std::vector<NodeId> args = node.args;
      for (NodeId& arg : args) arg = image[static_cast<size_t>(arg)];
      builder.set_origin(graph_.origins[i]);
      Attr attr = node.op == Op::Random ? Attr(AxisList{map(node.as<AxisList>().axes)})  // their order is its meaning
                                        : std::visit([this](const auto& a) -> Attr { return relabel(a); }, node.attr);
      image[i] = node.op == Op::Rename ? builder.rename(args[0], std::get<RenameAttr>(attr).pairs)
                                       : builder.make(node.op, std::move(args), std::move(attr));
    }
    for (const auto& [node, name] : graph_.names) builder.set_name(image[static_cast<size_t>(node)], name);
    for (Output output : graph_.outputs) {
      output.node = image[static_cast<size_t>(output.node)];
      output.dims = map(output.dims);
      builder.output(std::move(output));
    }
    return std::move(builder).finish();
  }

 private:
  AxisId map(AxisId a) const { return a == kUnit ? a : axis_image_[static_cast<size_t>(a)]; }
  std::vector<AxisId> map(std::vector<AxisId> axes) const {
    for (AxisId& a : axes) a = map(a);
    return axes;
  }
  Attr relabel(const AxisList& a) const {
    std::vector<AxisId> axes = map(a.axes);
    std::sort(axes.begin(), axes.end());
    return AxisList{std::move(axes)};
  }
  Attr relabel(const RenameAttr& a) const {
    RenameAttr out;
    for (auto [from, to] : a.pairs) out.pairs.emplace_back(map(from), map(to));
    std::sort(out.pairs.begin(), out.pairs.end());
    return out;
  }
  Attr relabel(const SliceAttr& a) const { return SliceAttr{map(a.from), map(a.to), size_image_(a.start), a.step}; }
  Attr relabel(const ConcatAttr& a) const { return ConcatAttr{map(a.from), map(a.to)}; }
  Attr relabel(const SplitAttr& a) const { return SplitAttr{map(a.whole), map(a.outer), map(a.inner)}; }
  Attr relabel(WindowAttr a) const {
    a.axis = map(a.axis), a.out = map(a.out), a.tap = map(a.tap), a.pad_before = size_image_(a.pad_before);
    return a;
  }
  Attr relabel(const SegmentAttr& a) const { return SegmentAttr{map(a.rows), map(a.segments), map(a.offsets)}; }
  Attr relabel(ScanAttr a) const {
    a.axis = map(a.axis);
    return a;
  }
  Attr relabel(SortAttr a) const {
    a.axis = map(a.axis);
    return a;
  }
  Attr relabel(TopKAttr a) const {
    a.axis = map(a.axis), a.to = map(a.to);
    return a;
  }
  Attr relabel(CombineAttr a) const {
    a.axis = map(a.axis);
    return a;
  }
  Attr relabel(const SizeAttr& a) const { return SizeAttr{size_image_(a.size)}; }
  Attr relabel(std::monostate) const { return {}; }
  Attr relabel(const Literal& a) const { return a; }
  Attr relabel(const InputRef& a) const { return a; }
  Attr relabel(const CastAttr& a) const { return a; }

  const Graph& graph_;
  std::vector<AxisId> axis_image_;
  std::function<Size(const Size&)> size_image_;
};

std::vector<AxisId> identity_axes(const Graph& graph) {
  std::vector<AxisId> image(graph.axes.size());
  std::iota(image.begin(), image.end(), 0);
  return image;
}

// Every axis that a node touches: its own, its operands', its attribute's.
std::set<AxisId> touched(const Graph& graph, const Node& node) {
  std::set<AxisId> axes(node.axes.begin(), node.axes.end());
  for (NodeId arg : node.args) axes.insert(graph[arg].axes.begin(), graph[arg].axes.end());
  for (AxisId a : mentioned_axes(node.attr)) axes.insert(a);
  return axes;
}

}  // namespace

Graph resolve_sizes(const Graph& graph) {
  std::map<SymbolId, Size> value;
  auto resolve = [&value](const Size& size) {
    Size current = size;
    for (size_t round = 0; round <= value.size(); ++round) {
      Size next = current.substitute([&](SymbolId id) -> std::optional<Size> {
        auto at = value.find(id);
        return at == value.end() ? std::nullopt : std::optional(at->second);
      });
      if (next == current) break;
      current = next;
    }
    return current;
  };
  for (const SizeConstraint& c : graph.constraints) {
    if (c.kind != SizeConstraint::Kind::Equal) continue;
    Size left = resolve(c.left), right = resolve(c.right);
    if (left == right) continue;
    std::optional<SymbolId> a = left.as_symbol(), b = right.as_symbol();
    auto occurs = [](SymbolId s, const Size& in) {
      std::vector<SymbolId> all = in.symbols();
      return std::find(all.begin(), all.end(), s) != all.end();
    };
    if (a && b)
      value.emplace(std::max(*a, *b), Size::symbol(std::min(*a, *b)));
    else if (a && !occurs(*a, right) && !right.constant())
      value.emplace(*a, right);
    else if (b && !occurs(*b, left) && !left.constant())
      value.emplace(*b, left);
  }
  if (value.empty()) return graph;
  return Relabeling(graph, identity_axes(graph), resolve).run();
}

Graph unify_axes(const Graph& graph) {
  std::vector<AxisId> image = identity_axes(graph);
  std::vector<std::set<AxisId>> sets;
  std::vector<const Node*> renames;
  for (const Node& node : graph.nodes) {
    if (node.op == Op::Rename) renames.push_back(&node);
    sets.push_back(touched(graph, node));
  }
  if (renames.empty()) return graph;
  auto root = [&image](AxisId a) {
    while (image[static_cast<size_t>(a)] != a) a = image[static_cast<size_t>(a)];
    return a;
  };
  for (const Node* rename : renames)
    for (auto [from, to] : rename->as<RenameAttr>().pairs) {
      AxisId a = root(from), b = root(to);
      if (a == b || !(graph.axis(a).size == graph.axis(b).size)) continue;
      // The two may meet only where this very identification is made: in a Rename of one to the other.
      bool meet = false;
      for (size_t i = 0; i < sets.size() && !meet; ++i) {
        bool has_a = false, has_b = false;
        const Node& node = graph.nodes[i];
        if (node.op == Op::Rename) {
          // Before the renaming an operand has one of them, after it the other; together only if either side has both.
          auto has_both = [&](const std::vector<AxisId>& axes) {
            bool x = false, y = false;
            for (AxisId axis : axes) x |= root(axis) == a, y |= root(axis) == b;
            return x && y;
          };
          bool crossed = false;  // a swap would be lost
          for (auto [p, q] : node.as<RenameAttr>().pairs)
            for (auto [p2, q2] : node.as<RenameAttr>().pairs) crossed |= root(p) == a && root(p2) == b;
          meet = crossed || has_both(node.axes) || has_both(graph[node.args[0]].axes);
          continue;
        }
        for (AxisId axis : sets[i]) has_a |= root(axis) == a, has_b |= root(axis) == b;
        meet = has_a && has_b;
      }
      for (const Input& input : graph.inputs) {
        bool has_a = false, has_b = false;
        for (AxisId axis : input.dims)
          if (axis != kUnit) has_a |= root(axis) == a, has_b |= root(axis) == b;
        meet |= has_a && has_b;
      }
      if (!meet) image[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
    }
  for (size_t i = 0; i < image.size(); ++i) image[i] = root(static_cast<AxisId>(i));
  if (image == identity_axes(graph)) return graph;
  return Relabeling(graph, std::move(image), [](const Size& s) { return s; }).run();
}

Graph name_axes(const Graph& graph) {
  Graph named = graph;
  std::vector<AxisId> order;  // the interface first, as a reader of the math meets them
  std::vector<bool> seen(graph.axes.size());
  auto meet = [&](AxisId a) {
    if (a == kUnit || seen[static_cast<size_t>(a)]) return;
    seen[static_cast<size_t>(a)] = true;
    order.push_back(a);
  };
  for (const Input& input : graph.inputs)
    for (AxisId a : input.dims) meet(a);
  for (const Node& node : graph.nodes) {
    for (AxisId a : node.axes) meet(a);
    for (AxisId a : mentioned_axes(node.attr)) meet(a);
  }
  std::set<std::string> taken;
  for (AxisId a : order)
    if (!graph.axis(a).size.as_symbol()) taken.insert(graph.axis(a).name);
  for (AxisId a : order) {
    Axis& axis = named.axes[static_cast<size_t>(a)];
    std::optional<SymbolId> symbol = axis.size.as_symbol();
    if (!symbol) continue;
    const std::string& base = graph.symbols[static_cast<size_t>(*symbol)].name;
    std::string name = base;
    for (int i = 2; !taken.insert(name).second; ++i) name = base + "_" + std::to_string(i);
    axis.name = name;
  }
  // Axes that nothing has any more give their names up.
  for (size_t i = 0; i < named.axes.size(); ++i)
    if (!seen[i]) named.axes[i].name = "unused" + std::to_string(i);
  return named;
}

}  // namespace kw::ir
