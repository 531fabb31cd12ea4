#include "rearranged.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <sstream>

#include "ir/canonical.h"

namespace kw::ir {
namespace {

class Rearranger {
 public:
  Rearranger(const Graph& graph, uint32_t seed, Rearrangement what) : graph_(graph), random_(seed), what_(what) {}

  Graph run() {
    Graph& target = builder_.graph();
    target.name = what_.rename ? "renamed" : graph_.name;
    target.source_files = graph_.source_files;
    symbols_ = permutation(graph_.symbols.size());
    axes_ = permutation(graph_.axes.size());
    target.symbols.resize(graph_.symbols.size());
    for (size_t i = 0; i < graph_.symbols.size(); ++i) {
      target.symbols[static_cast<size_t>(symbols_[i])] = {name(graph_.symbols[i].name), graph_.symbols[i].hint};
    }
    target.axes.resize(graph_.axes.size());
    for (size_t i = 0; i < graph_.axes.size(); ++i) {
      target.axes[static_cast<size_t>(axes_[i])] = {name(graph_.axes[i].name), size(graph_.axes[i].size)};
    }
    for (const TypeParameter& type : graph_.type_parameters)
      builder_.type_parameter(name(type.name), type.default_dtype);
    std::vector<NodeId> image(graph_.nodes.size(), kNoNode);
    for (const Input& input : graph_.inputs) {
      Input copy = input;
      for (AxisId& dim : copy.dims) dim = axis(dim);
      image[static_cast<size_t>(input.node)] = builder_.input(std::move(copy));
    }
    place_nodes(image);
    for (const Output& output : graph_.outputs) {
      Output copy = output;
      copy.name = name(output.name);
      copy.node = image[static_cast<size_t>(output.node)];
      for (AxisId& dim : copy.dims) dim = axis(dim);
      builder_.output(std::move(copy));
    }
    for (const SizeConstraint& c : graph_.constraints) builder_.constrain({c.kind, size(c.left), size(c.right)});
    return std::move(builder_).finish();
  }

 private:
  std::vector<int32_t> permutation(size_t count) {
    std::vector<int32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::shuffle(numbers.begin(), numbers.end(), random_);
    return numbers;
  }

  std::string name(const std::string& old) { return what_.rename ? "N" + std::to_string(++renamed_) : old; }
  AxisId axis(AxisId id) const { return id == kUnit ? kUnit : axes_[static_cast<size_t>(id)]; }
  Size size(const Size& old) const {
    return old.substitute([this](SymbolId id) { return Size::symbol(symbols_[static_cast<size_t>(id)]); });
  }

  void place_nodes(std::vector<NodeId>& image) {
    std::vector<NodeId> waiting;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (image[i] == kNoNode) waiting.push_back(static_cast<NodeId>(i));
    }
    while (!waiting.empty()) {
      std::vector<size_t> ready;
      for (size_t i = 0; i < waiting.size(); ++i) {
        const auto& args = graph_[waiting[i]].args;
        if (std::all_of(args.begin(), args.end(), [&](NodeId a) { return image[static_cast<size_t>(a)] != kNoNode; })) {
          ready.push_back(i);
        }
      }
      const size_t chosen = ready[random_() % ready.size()];
      const NodeId id = waiting[chosen];
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(chosen));
      const Node& node = graph_[id];
      std::vector<NodeId> args = node.args;
      for (NodeId& arg : args) arg = image[static_cast<size_t>(arg)];
      if (what_.swap_operands && is_commutative(node.op) && random_() % 2 == 0) std::reverse(args.begin(), args.end());
      image[static_cast<size_t>(id)] = builder_.make(node.op, std::move(args), attribute(node));
      if (auto known = graph_.names.find(id); known != graph_.names.end()) {
        builder_.set_name(image[static_cast<size_t>(id)], name(known->second));
      }
    }
  }

  Attr attribute(const Node& node) const {
    Attr attr = node.attr;
    const auto map = [this](AxisId& id) { id = axis(id); };
    struct Visitor {
      const Rearranger& self;
      const decltype(map)& to;
      bool ordered;
      void operator()(AxisList& a) const {
        for (AxisId& id : a.axes) to(id);
        if (!ordered) std::sort(a.axes.begin(), a.axes.end());
      }
      void operator()(SizeAttr& a) const { a.size = self.size(a.size); }
      void operator()(RenameAttr& a) const {
        for (auto& pair : a.pairs) to(pair.first), to(pair.second);
        std::sort(a.pairs.begin(), a.pairs.end());
      }
      void operator()(SliceAttr& a) const { to(a.from), to(a.to), a.start = self.size(a.start); }
      void operator()(ConcatAttr& a) const {
        for (AxisId& id : a.from) to(id);
        to(a.to);
      }
      void operator()(SplitAttr& a) const { to(a.whole), to(a.outer), to(a.inner); }
      void operator()(WindowAttr& a) const { to(a.axis), to(a.out), to(a.tap), a.pad_before = self.size(a.pad_before); }
      void operator()(SegmentAttr& a) const { to(a.rows), to(a.segments), to(a.offsets); }
      void operator()(ScanAttr& a) const { to(a.axis); }
      void operator()(SortAttr& a) const { to(a.axis); }
      void operator()(TopKAttr& a) const { to(a.axis), to(a.to); }
      void operator()(CombineAttr& a) const {
        to(a.axis);
        if (!self.what_.rename) return;
        Graph body = rearranged(*a.combine->body, 1, {.rename = true});
        for (Input& input : body.inputs) input.name += "_renamed";
        a.combine = std::make_shared<const Combine>(Combine{std::make_shared<const Graph>(body), a.combine->identity});
      }
      void operator()(std::monostate&) const {}
      void operator()(Literal&) const {}
      void operator()(InputRef&) const {}
      void operator()(CastAttr&) const {}
    };
    std::visit(Visitor{*this, map, node.op == Op::Random}, attr);
    return attr;
  }

  const Graph& graph_;
  std::mt19937 random_;
  Rearrangement what_;
  GraphBuilder builder_;
  std::vector<int32_t> symbols_, axes_;
  int renamed_ = 0;
};

// A canonical graph as text that hides nothing and has nothing to do with the text form.
std::string dump(const Graph& graph) {
  std::ostringstream out;
  const auto type = [&](Type t) { out << " type " << t.params() << "/" << static_cast<int>(t.floor()); };
  const auto list = [&](const std::vector<AxisId>& ids) {
    out << " [";
    for (AxisId id : ids) out << " " << id;
    out << " ]";
  };
  out << "graph " << graph.name << "\n";
  for (const Symbol& s : graph.symbols) out << "symbol " << s.name << " " << s.hint.value_or(-1) << "\n";
  for (const Axis& a : graph.axes) out << "axis " << a.name << " " << graph.size_text(a.size) << "\n";
  for (const TypeParameter& t : graph.type_parameters)
    out << "type " << t.name << static_cast<int>(t.default_dtype) << "\n";
  const auto literal = [&](const Literal& value) { out << " literal " << hash_of(Attr(value)); };
  for (const Input& input : graph.inputs) {
    out << "input " << input.name << " kind " << static_cast<int>(input.kind) << " grad " << input.differentiable;
    type(input.type), list(input.dims);
    if (input.default_value) literal(*input.default_value);
    out << " node " << input.node << "\n";
  }
  for (const SizeConstraint& c : graph.constraints) {
    out << "fact " << static_cast<int>(c.kind) << " " << graph.size_text(c.left) << " " << graph.size_text(c.right)
        << "\n";
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    out << "node " << i << " " << info(node.op).name << " attr " << node.attr.index() << " " << hash_of(node.attr);
    type(node.type), list(node.axes), list(node.args);
    const NodeId id = static_cast<NodeId>(i);
    auto named = graph.names.find(id);
    std::string name = named == graph.names.end() ? "" : named->second;
    for (const Output& output : graph.outputs) {
      if (output.node == id && name.empty()) name = output.name;
    }
    if (node.op != Op::Const && node.op != Op::Input) out << " name " << name;
    if (const auto* combine = std::get_if<CombineAttr>(&node.attr))
      out << " combine {\n" << dump(*combine->combine->body) << "}";
    out << "\n";
  }
  for (const Output& output : graph.outputs) {
    out << "output " << output.name << " node " << output.node << " updates " << output.updates.value_or("-");
    list(output.dims);
    out << "\n";
  }
  return out.str();
}

}  // namespace

Graph rearranged(const Graph& graph, uint32_t seed, Rearrangement what) { return Rearranger(graph, seed, what).run(); }

::testing::AssertionResult same(const Graph& a, const Graph& b) {
  const std::string left = dump(canonical(a)), right = dump(canonical(b));
  if (left == right) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "the graphs differ\n--- first\n" << left << "--- second\n" << right;
}

}  // namespace kw::ir
