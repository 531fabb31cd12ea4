#include "ir/canonical.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/hash.h"
#include "base/text.h"
#include "ir/canonical_colors.h"
#include "ir/infer.h"
#include "ir/text/print.h"

namespace kw::ir {
namespace {

// Rebuilds a graph in its canonical numbering.
class Renumbering {
 public:
  explicit Renumbering(const Graph& graph)
      : graph_(graph),
        colors_(color(graph)),
        axis_image_(graph.axes.size(), kUnit),
        symbol_image_(graph.symbols.size(), -1),
        node_image_(graph.nodes.size(), kNoNode) {}

  Graph run() {
    builder_.graph().name = graph_.name;
    builder_.graph().source_files = graph_.source_files;
    types();
    inputs();
    for (const Output& output : graph_.outputs) visit(output.node);
    for (const Output& output : graph_.outputs) {
      Output copy = output;
      copy.node = node(output.node);
      for (AxisId& dim : copy.dims) dim = dim == kUnit ? kUnit : axis(dim);
      builder_.output(std::move(copy));
    }
    constraints();
    Graph result = std::move(builder_).finish();
    for (Input& input : result.inputs) {
      input.differentiable = input.differentiable && input.type.floating() && input.kind != InputKind::Scalar;
    }
    return result;
  }

 private:
  void types() {
    std::vector<size_t> order(graph_.type_parameters.size());
    for (size_t i = 0; i < order.size(); ++i) order[static_cast<size_t>(colors_.types[i])] = i;
    for (size_t i : order)
      builder_.type_parameter(graph_.type_parameters[i].name, graph_.type_parameters[i].default_dtype);
  }

  SymbolId symbol(SymbolId id) {
    SymbolId& image = symbol_image_[static_cast<size_t>(id)];
    const Symbol& symbol = graph_.symbols[static_cast<size_t>(id)];
    if (image < 0) image = builder_.symbol(symbol.name, symbol.hint);
    return image;
  }

  Size size(const Size& size) {
    std::vector<SymbolId> symbols = size.symbols();
    by_color(symbols, colors_.symbols);
    for (SymbolId id : symbols) symbol(id);
    return size.substitute([this](SymbolId id) { return Size::symbol(symbol(id)); });
  }

  AxisId axis(AxisId id) {
    AxisId& image = axis_image_[static_cast<size_t>(id)];
    if (image == kUnit) image = builder_.axis(graph_.axis(id).name, size(graph_.axis(id).size));
    return image;
  }

  template <class Id>
  static void by_color(std::vector<Id>& ids, const std::vector<uint64_t>& colors) {
    std::stable_sort(ids.begin(), ids.end(),
                     [&](Id a, Id b) { return colors[static_cast<size_t>(a)] < colors[static_cast<size_t>(b)]; });
  }

  void inputs() {
    for (const Input& input : graph_.inputs) {
      Input copy = input;
      copy.type = renumbered(input.type, colors_.types);
      for (AxisId& dim : copy.dims) dim = dim == kUnit ? kUnit : axis(dim);
      set_origin(input.node);
      node_image_[static_cast<size_t>(input.node)] = builder_.input(std::move(copy));
    }
  }

  void set_origin(NodeId id) {
    const size_t i = static_cast<size_t>(id);
    builder_.set_origin(i < graph_.origins.size() ? graph_.origins[i] : Origin{});
  }

  NodeId node(NodeId id) const { return node_image_[static_cast<size_t>(id)]; }

  // Tensors of the interface first, then what is computed, then numbers: x + eps, ms + 1.
  std::vector<NodeId> ordered_args(const Node& node) const {
    std::vector<NodeId> args = node.args;
    if (!is_commutative(node.op)) return args;
    const auto key = [this](NodeId id) {
      const Node& arg = graph_[id];
      const InputRef* input = std::get_if<InputRef>(&arg.attr);
      const bool scalar = input && graph_.inputs[static_cast<size_t>(input->index)].kind == InputKind::Scalar;
      const int group = arg.op == Op::Const ? 3 : scalar ? 2 : input ? 0 : 1;
      return std::tuple{group, input ? static_cast<uint64_t>(input->index) : colors_.nodes[static_cast<size_t>(id)]};
    };
    std::stable_sort(args.begin(), args.end(), [&](NodeId a, NodeId b) { return key(a) < key(b); });
    return args;
  }

  // Operands before their users, in the order in which they are written; without recursion, for graphs are deep.
  void visit(NodeId root) {
    std::vector<NodeId> open{root};
    while (!open.empty()) {
      const NodeId id = open.back();
      if (node(id) != kNoNode) {
        open.pop_back();
        continue;
      }
      const std::vector<NodeId> args = ordered_args(graph_[id]);
      const size_t depth = open.size();
      for (size_t i = args.size(); i-- > 0;) {
        if (node(args[i]) == kNoNode) open.push_back(args[i]);
      }
      if (open.size() > depth) continue;
      copy(id, args);
      open.pop_back();
    }
  }

  void copy(NodeId id, std::vector<NodeId> args) {
    for (NodeId& arg : args) arg = node(arg);
    const Node& from = graph_[id];
    set_origin(id);
    const NodeId made = builder_.make(from.op, std::move(args), attribute(from));
    node_image_[static_cast<size_t>(id)] = made;
    if (auto name = graph_.names.find(id); name != graph_.names.end()) builder_.set_name(made, name->second);
  }

  // Axes of a set that are new get their numbers in the order of their colours.
  std::vector<AxisId> axis_set(std::vector<AxisId> axes) {
    by_color(axes, colors_.axes);
    for (AxisId& id : axes) id = axis(id);
    std::sort(axes.begin(), axes.end());
    return axes;
  }

  Attr attribute(const Node& node) {
    Attr attr = node.attr;
    const auto map = [this](AxisId& id) { id = axis(id); };
    if (auto* a = std::get_if<AxisList>(&attr)) {
      if (node.op == Op::Random)
        std::for_each(a->axes.begin(), a->axes.end(), map);
      else
        a->axes = axis_set(a->axes);
    } else if (auto* a = std::get_if<SizeAttr>(&attr)) {
      a->size = size(a->size);
    } else if (auto* a = std::get_if<CastAttr>(&attr)) {
      a->type = renumbered(a->type, colors_.types);
    } else if (auto* a = std::get_if<RenameAttr>(&attr)) {
      const auto key = [this](const auto& pair) {
        return std::pair{colors_.axes[static_cast<size_t>(pair.first)], colors_.axes[static_cast<size_t>(pair.second)]};
      };
      std::sort(a->pairs.begin(), a->pairs.end(), [&](const auto& p, const auto& q) { return key(p) < key(q); });
      for (auto& pair : a->pairs) map(pair.first), map(pair.second);
      std::sort(a->pairs.begin(), a->pairs.end());
    } else if (auto* a = std::get_if<SliceAttr>(&attr)) {
      map(a->from), map(a->to);
      a->start = size(a->start);
    } else if (auto* a = std::get_if<ConcatAttr>(&attr)) {
      std::for_each(a->from.begin(), a->from.end(), map);
      map(a->to);
    } else if (auto* a = std::get_if<SplitAttr>(&attr)) {
      map(a->whole), map(a->outer), map(a->inner);
    } else if (auto* a = std::get_if<WindowAttr>(&attr)) {
      map(a->axis), map(a->out), map(a->tap);
      a->pad_before = size(a->pad_before);
    } else if (auto* a = std::get_if<SegmentAttr>(&attr)) {
      map(a->rows), map(a->segments), map(a->offsets);
    } else if (auto* a = std::get_if<ScanAttr>(&attr)) {
      map(a->axis);
    } else if (auto* a = std::get_if<SortAttr>(&attr)) {
      map(a->axis);
    } else if (auto* a = std::get_if<TopKAttr>(&attr)) {
      map(a->axis), map(a->to);
    } else if (auto* a = std::get_if<CombineAttr>(&attr)) {
      map(a->axis);
      a->combine = combine(a->combine);
    }
    return attr;
  }

  std::shared_ptr<const Combine> combine(const std::shared_ptr<const Combine>& from) {
    std::shared_ptr<const Combine>& image = combine_image_[from.get()];
    if (!image) {
      image = std::make_shared<const Combine>(
          Combine{std::make_shared<const Graph>(canonical(*from->body)), from->identity});
    }
    return image;
  }

  void constraints() {
    // The order of facts says nothing, nor does the side of an equality.
    std::vector<SizeConstraint> sorted;
    std::vector<SymbolId> symbols;
    for (const SizeConstraint& constraint : graph_.constraints) {
      for (SymbolId id : constraint.left.symbols()) symbols.push_back(id);
      for (SymbolId id : constraint.right.symbols()) symbols.push_back(id);
    }
    by_color(symbols, colors_.symbols);
    for (SymbolId id : symbols) symbol(id);
    for (const SizeConstraint& constraint : graph_.constraints) {
      SizeConstraint copy{constraint.kind, size(constraint.left), size(constraint.right)};
      if (copy.kind == SizeConstraint::Kind::Equal && copy.right < copy.left) std::swap(copy.left, copy.right);
      sorted.push_back(std::move(copy));
    }
    std::sort(sorted.begin(), sorted.end(), [](const SizeConstraint& a, const SizeConstraint& b) {
      return std::tie(a.kind, a.left, a.right) < std::tie(b.kind, b.left, b.right);
    });
    for (SizeConstraint& constraint : sorted) builder_.constrain(std::move(constraint));
  }

  const Graph& graph_;
  GraphColors colors_;
  GraphBuilder builder_;
  std::vector<AxisId> axis_image_;
  std::vector<SymbolId> symbol_image_;
  std::vector<NodeId> node_image_;
  std::map<const Combine*, std::shared_ptr<const Combine>> combine_image_;
};

std::string numbered(const char* stem, size_t index) { return stem + std::to_string(index + 1); }

// A canonical graph under the names of another, or under numbers where there is none.
Graph with_names(Graph graph, const Graph* names) {
  graph.name = names ? names->name : "op";
  graph.names.clear();
  for (size_t i = 0; i < graph.symbols.size(); ++i) {
    graph.symbols[i].name = names && i < names->symbols.size() ? names->symbols[i].name : numbered("size", i);
  }
  for (size_t i = 0; i < graph.axes.size(); ++i) {
    graph.axes[i].name = names && i < names->axes.size() ? names->axes[i].name : numbered("axis", i);
  }
  for (size_t i = 0; i < graph.type_parameters.size(); ++i) {
    graph.type_parameters[i].name =
        names && i < names->type_parameters.size() ? names->type_parameters[i].name : numbered("T", i);
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    graph.outputs[i].name = names && i < names->outputs.size() ? names->outputs[i].name : numbered("out", i);
  }
  // A combine's inputs are told apart by position alone.
  std::map<const Combine*, std::shared_ptr<const Combine>> renamed;
  for (Node& node : graph.nodes) {
    CombineAttr* attr = std::get_if<CombineAttr>(&node.attr);
    if (!attr) continue;
    std::shared_ptr<const Combine>& image = renamed[attr->combine.get()];
    if (!image) {
      Graph body = with_names(*attr->combine->body, nullptr);
      body.name = "combine";
      for (size_t i = 0; i < body.inputs.size(); ++i) body.inputs[i].name = numbered("in", i);
      image = std::make_shared<const Combine>(
          Combine{std::make_shared<const Graph>(std::move(body)), attr->combine->identity});
    }
    attr->combine = image;
  }
  return graph;
}

}  // namespace

Graph canonical(const Graph& graph) { return Renumbering(graph).run(); }

bool equivalent(const Graph& a, const Graph& b, std::string* difference) {
  const Graph first = canonical(a);
  const std::string left = text::print(with_names(first, &first));
  const std::string right = text::print(with_names(canonical(b), &first));
  if (left == right) return true;
  if (difference) {
    const std::vector<std::string> lefts = split_lines(left), rights = split_lines(right);
    size_t line = 0;
    while (line < lefts.size() && line < rights.size() && lefts[line] == rights[line]) ++line;
    const auto shown = [line](const std::vector<std::string>& lines) {
      return line < lines.size() ? std::string(trim(lines[line])) : std::string("(nothing)");
    };
    *difference = "line " + std::to_string(line + 1) + " of the canonical text differs:\n  first:  " + shown(lefts) +
                  "\n  second: " + shown(rights);
  }
  return false;
}

std::string graph_hash(const Graph& graph) { return sha256_hex(text::print(with_names(canonical(graph), nullptr))); }

}  // namespace kw::ir
