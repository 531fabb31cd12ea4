#include "ir/canonical_colors.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "ir/canonical.h"
#include "ir/infer.h"

namespace kw::ir {
namespace {

class Coloring {
 public:
  explicit Coloring(const Graph& graph) : graph_(graph) {
    colors_.axes.assign(graph.axes.size(), 1);
    colors_.nodes.assign(graph.nodes.size(), 0);
    for (const Symbol& symbol : graph.symbols) {
      colors_.symbols.push_back(Hash64().add(symbol.hint ? static_cast<uint64_t>(*symbol.hint) + 1 : 0).value());
    }
    number_types();
    find_used();
  }

  GraphColors run() {
    place_on_interface();
    refine();
    // What is left is symmetric (or looks so): choose one, and see what follows.
    while (split_a_tie(colors_.axes, used_axes_) || split_a_tie(colors_.symbols, used_symbols_)) refine();
    return std::move(colors_);
  }

 private:
  void number_types() {
    colors_.types.assign(graph_.type_parameters.size(), -1);
    int next = 0;
    for (const Input& input : graph_.inputs) {
      for (size_t i = 0; i < colors_.types.size(); ++i) {
        if ((input.type.params() >> i & 1) != 0 && colors_.types[i] < 0) colors_.types[i] = next++;
      }
    }
    for (int& number : colors_.types) {
      if (number < 0) number = next++;
    }
  }

  void find_used() {
    live_.assign(graph_.nodes.size(), false);
    for (const Output& output : graph_.outputs) live_[static_cast<size_t>(output.node)] = true;
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      if (!live_[i]) continue;
      for (NodeId arg : graph_.nodes[i].args) live_[static_cast<size_t>(arg)] = true;
    }
    std::set<AxisId> axes;
    std::set<SymbolId> symbols;
    const auto use_size = [&symbols](const Size& size) {
      for (SymbolId symbol : size.symbols()) symbols.insert(symbol);
    };
    for (const Input& input : graph_.inputs) axes.insert(input.dims.begin(), input.dims.end());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!live_[i]) continue;
      const Attr& attr = graph_.nodes[i].attr;
      for (AxisId axis : mentioned_axes(attr)) axes.insert(axis);
      if (const auto* size = std::get_if<SizeAttr>(&attr)) use_size(size->size);
      if (const auto* slice = std::get_if<SliceAttr>(&attr)) use_size(slice->start);
      if (const auto* window = std::get_if<WindowAttr>(&attr)) use_size(window->pad_before);
    }
    axes.erase(kUnit);
    for (AxisId axis : axes) use_size(graph_.axis(axis).size);
    for (const SizeConstraint& constraint : graph_.constraints) {
      use_size(constraint.left);
      use_size(constraint.right);
    }
    used_axes_.assign(axes.begin(), axes.end());
    used_symbols_.assign(symbols.begin(), symbols.end());
  }

  uint64_t& axis(AxisId id) { return colors_.axes[static_cast<size_t>(id)]; }
  uint64_t axis(AxisId id) const { return id == kUnit ? 0 : colors_.axes[static_cast<size_t>(id)]; }

  void place_on_interface() {
    const auto place = [this](uint64_t side, uint64_t index, const std::vector<AxisId>& dims) {
      for (size_t d = 0; d < dims.size(); ++d) {
        if (dims[d] != kUnit) axis(dims[d]) = Hash64().add(axis(dims[d])).add(side).add(index).add(uint64_t{d}).value();
      }
    };
    for (size_t i = 0; i < graph_.inputs.size(); ++i) place(1, i, graph_.inputs[i].dims);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) place(2, i, graph_.outputs[i].dims);
  }

  // A polynomial's value at points that follow from the symbols' colours: equal for equal sizes whatever the numbering.
  uint64_t size_color(const Size& size) const {
    Hash64 hash;
    for (uint64_t salt = 0; salt < 3; ++salt) {
      const auto value = size.evaluate([&](SymbolId id) -> std::optional<int64_t> {
        const uint64_t mixed = Hash64().add(colors_.symbols[static_cast<size_t>(id)]).add(salt).value();
        return static_cast<int64_t>(1000 + mixed % 8999);
      });
      hash.add(value ? static_cast<uint64_t>(*value) : ~uint64_t{0});
    }
    return hash.value();
  }

  uint64_t set_color(const std::vector<AxisId>& axes) const {
    std::vector<uint64_t> colors;
    for (AxisId id : axes) colors.push_back(axis(id));
    std::sort(colors.begin(), colors.end());
    return list_color(colors);
  }
  static uint64_t list_color(const std::vector<uint64_t>& colors) {
    Hash64 hash;
    for (uint64_t color : colors) hash.add(color);
    return hash.value();
  }

  uint64_t combine_color(const Combine& combine) {
    auto [known, is_new] = combine_colors_.try_emplace(&combine, 0);
    if (is_new) {
      Graph body = *combine.body;  // its inputs are told apart by position, not by name
      for (size_t i = 0; i < body.inputs.size(); ++i) body.inputs[i].name = std::to_string(i);
      Hash64 hash;
      hash.add(graph_hash(body));
      for (double value : combine.identity) hash.add(value);
      known->second = hash.value();
    }
    return known->second;
  }

  uint64_t attr_color(const Node& node) {
    Hash64 hash;
    hash.add(uint64_t{node.attr.index()});
    const auto add_axes = [&](std::initializer_list<AxisId> axes) {
      for (AxisId id : axes) hash.add(axis(id));
    };
    const auto add_number = [&hash](auto number) { hash.add(static_cast<uint64_t>(number)); };
    struct Visitor {
      Coloring& self;
      Hash64& hash;
      const decltype(add_axes)& axes;
      const decltype(add_number)& number;
      bool ordered;
      void operator()(std::monostate) const {}
      void operator()(const Literal& a) const {
        number(a.value.index());
        if (const double* real = std::get_if<double>(&a.value))
          hash.add(*real);
        else if (const int64_t* integer = std::get_if<int64_t>(&a.value))
          number(*integer);
        else
          number(std::get<bool>(a.value));
      }
      void operator()(const InputRef& a) const { number(a.index); }
      void operator()(const SizeAttr& a) const { hash.add(self.size_color(a.size)); }
      void operator()(const AxisList& a) const {
        if (!ordered)
          hash.add(self.set_color(a.axes));
        else
          for (AxisId id : a.axes) axes({id});
      }
      void operator()(const CastAttr& a) const {
        const Type type = renumbered(a.type, self.colors_.types);
        number(type.params());
        number(type.floor());
      }
      void operator()(const RenameAttr& a) const {
        std::vector<uint64_t> pairs;
        for (const auto& [from, to] : a.pairs)
          pairs.push_back(Hash64().add(self.axis(from)).add(self.axis(to)).value());
        std::sort(pairs.begin(), pairs.end());
        hash.add(list_color(pairs));
      }
      void operator()(const SliceAttr& a) const {
        axes({a.from, a.to});
        hash.add(self.size_color(a.start));
        number(a.step);
      }
      void operator()(const ConcatAttr& a) const {
        for (AxisId id : a.from) axes({id});
        axes({a.to});
      }
      void operator()(const SplitAttr& a) const { axes({a.whole, a.outer, a.inner}); }
      void operator()(const WindowAttr& a) const {
        axes({a.axis, a.out, a.tap});
        number(a.stride), number(a.dilation), number(a.input_dilation);
        hash.add(self.size_color(a.pad_before));
      }
      void operator()(const SegmentAttr& a) const { axes({a.rows, a.segments, a.offsets}); }
      void operator()(const ScanAttr& a) const {
        axes({a.axis});
        number(a.reverse), number(a.exclusive);
      }
      void operator()(const SortAttr& a) const {
        axes({a.axis});
        number(a.descending);
      }
      void operator()(const TopKAttr& a) const {
        axes({a.axis, a.to});
        number(a.largest);
      }
      void operator()(const CombineAttr& a) const {
        axes({a.axis});
        number(a.part), number(a.reverse), number(a.exclusive);
        hash.add(self.combine_color(*a.combine));
      }
    };
    std::visit(Visitor{*this, hash, add_axes, add_number, node.op == Op::Random}, node.attr);
    return hash.value();
  }

  void hash_nodes() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!live_[i]) continue;
      const Node& node = graph_.nodes[i];
      std::vector<uint64_t> args;
      for (NodeId arg : node.args) args.push_back(colors_.nodes[static_cast<size_t>(arg)]);
      if (is_commutative(node.op)) std::sort(args.begin(), args.end());
      colors_.nodes[i] = Hash64()
                             .add(static_cast<uint64_t>(node.op))
                             .add(attr_color(node))
                             .add(list_color(args))
                             .add(set_color(node.axes))
                             .value();
    }
  }

  // One round: from colours to node hashes and back to finer colours.
  void round() {
    hash_nodes();
    std::vector<std::vector<uint64_t>> around(graph_.axes.size());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!live_[i]) continue;
      const Node& node = graph_.nodes[i];
      for (AxisId id : node.axes) around[static_cast<size_t>(id)].push_back(Hash64().add(colors_.nodes[i]).value());
      const bool is_set = node.op != Op::Random && (std::holds_alternative<AxisList>(node.attr) ||
                                                    std::holds_alternative<RenameAttr>(node.attr));
      uint64_t role = 1;
      for (AxisId id : mentioned_axes(node.attr)) {
        // In a rename the odd roles are old names and the even ones new; in a set all roles are one.
        const uint64_t told = is_set ? (node.op == Op::Rename ? role % 2 : 0) : role;
        around[static_cast<size_t>(id)].push_back(Hash64().add(colors_.nodes[i]).add(told + 1).value());
        ++role;
      }
    }
    std::vector<std::vector<uint64_t>> holders(graph_.symbols.size());
    for (AxisId id : used_axes_) {
      const Size& size = graph_.axis(id).size;
      std::vector<uint64_t>& nodes = around[static_cast<size_t>(id)];
      std::sort(nodes.begin(), nodes.end());
      axis(id) = Hash64().add(axis(id)).add(size_color(size)).add(list_color(nodes)).value();
      for (SymbolId symbol : size.symbols()) {
        holders[static_cast<size_t>(symbol)].push_back(
            Hash64().add(axis(id)).add(uint64_t{size.as_symbol().has_value()}).value());
      }
    }
    for (SymbolId id : used_symbols_) {
      std::vector<uint64_t>& list = holders[static_cast<size_t>(id)];
      std::sort(list.begin(), list.end());
      uint64_t& color = colors_.symbols[static_cast<size_t>(id)];
      color = Hash64().add(color).add(list_color(list)).value();
    }
  }

  size_t distinct() const {
    std::set<uint64_t> axes, symbols;
    for (AxisId id : used_axes_) axes.insert(axis(id));
    for (SymbolId id : used_symbols_) symbols.insert(colors_.symbols[static_cast<size_t>(id)]);
    return axes.size() + symbols.size();
  }

  void refine() {
    constexpr int kFewestRounds = 2;  // the first tells nothing from the interface alone
    size_t before = 0;
    for (int i = 0; i < kFewestRounds || distinct() > before; ++i) {
      before = distinct();
      round();
    }
    hash_nodes();
  }

  template <class Id>
  static bool split_a_tie(std::vector<uint64_t>& colors, const std::vector<Id>& used) {
    std::map<uint64_t, std::vector<Id>> classes;
    for (Id id : used) classes[colors[static_cast<size_t>(id)]].push_back(id);
    for (const auto& [color, members] : classes) {
      if (members.size() < 2) continue;
      colors[static_cast<size_t>(members.front())] = Hash64().add(color).add(uint64_t{7}).value();
      return true;
    }
    return false;
  }

  const Graph& graph_;
  GraphColors colors_;
  std::vector<bool> live_;
  std::vector<AxisId> used_axes_;
  std::vector<SymbolId> used_symbols_;
  std::map<const Combine*, uint64_t> combine_colors_;
};

}  // namespace

Type renumbered(Type type, const std::vector<int>& numbers) {
  if (type.concrete()) return type;
  Type result = Type(type.floor());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if ((type.params() >> i & 1) != 0) result = promote(result, Type::parameter(numbers[i]));
  }
  return result;
}

GraphColors color(const Graph& graph) { return Coloring(graph).run(); }

}  // namespace kw::ir
