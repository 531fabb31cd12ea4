#include "act/loop/values.h"

#include <algorithm>
#include <set>

#include "act/loop/index.h"
#include "ir/infer.h"

namespace kw::act {
namespace {

using ir::AxisId;
using ir::Node;
using ir::NodeId;
using ir::Op;

using Coordinates = std::map<AxisId, Index>;

class ValueLowering {
 public:
  explicit ValueLowering(const ir::Graph& graph) : graph_(graph), arithmetic_(out_.axes) {}

  Result<LoweredValues> run() {
    choose_axes();
    for (const ir::Input& input : graph_.inputs) add_input(input);
    for (const ir::Output& output : graph_.outputs) {
      Coordinates at;
      std::vector<Index> address;
      for (AxisId a : output.dims) {
        address.push_back(a == ir::kUnit ? size_index(0) : position_[static_cast<size_t>(a)]);
        if (a != ir::kUnit) at[a] = position_[static_cast<size_t>(a)];
      }
      KW_TRY(ValueId value, lower(output.node, at, kNoValue));
      out_.buffers.push_back({Buffer::Role::Output, output.name, graph_[output.node].type, shape(output.dims)});
      out_.outputs.push_back({static_cast<BufferId>(out_.buffers.size() - 1), std::move(address), value});
    }
    return std::move(out_);
  }

 private:
  // Every graph axis gets a position in terms of loop axes. An axis that a view splits is walked as its two parts, so
  // that a group is a range of loop axes: c is g*(c/g) + k.
  void choose_axes() {
    position_.assign(graph_.axes.size(), size_index(0));
    std::vector<bool> known(graph_.axes.size());
    std::map<AxisId, std::pair<AxisId, AxisId>> parts;
    for (const Node& node : graph_.nodes)
      if (node.op == Op::Split || node.op == Op::Merge) {
        const ir::SplitAttr& s = node.as<ir::SplitAttr>();
        parts.try_emplace(s.whole, s.outer, s.inner);
      }
    std::set<AxisId> visiting;
    auto place = [&](auto&& self, AxisId a) -> void {
      if (known[static_cast<size_t>(a)]) return;
      auto split = parts.find(a);
      if (split != parts.end() && visiting.insert(a).second) {
        self(self, split->second.first);
        self(self, split->second.second);
        if (!known[static_cast<size_t>(a)]) {
          const ir::Size& inner = graph_.axis(split->second.second).size;
          position_[static_cast<size_t>(a)] =
              arithmetic_.add(arithmetic_.mul(position_[static_cast<size_t>(split->second.first)], size_index(inner)),
                              position_[static_cast<size_t>(split->second.second)]);
          known[static_cast<size_t>(a)] = true;
        }
        return;
      }
      out_.axes.push_back({graph_.axis(a).name, graph_.axis(a).size, {a}});
      position_[static_cast<size_t>(a)] = axis_index(static_cast<LoopAxisId>(out_.axes.size() - 1));
      known[static_cast<size_t>(a)] = true;
    };
    // In the order of the interface, so that the last axis of the first tensor is the last loop axis.
    for (const ir::Input& input : graph_.inputs)
      for (AxisId a : input.dims)
        if (a != ir::kUnit) place(place, a);
    for (const ir::Output& output : graph_.outputs)
      for (AxisId a : output.dims)
        if (a != ir::kUnit) place(place, a);
    for (const Node& node : graph_.nodes) {
      for (AxisId a : node.axes) place(place, a);
      for (AxisId a : ir::mentioned_axes(node.attr)) place(place, a);
    }
  }

  std::vector<ir::Size> shape(const std::vector<AxisId>& dims) const {
    std::vector<ir::Size> sizes;
    for (AxisId a : dims) sizes.push_back(a == ir::kUnit ? ir::Size(1) : graph_.axis(a).size);
    return sizes;
  }

  void add_input(const ir::Input& input) {
    if (input.kind == ir::InputKind::Scalar) {
      out_.scalars.emplace_back(input.name, input.type);
      buffer_of_.push_back(-1);
      return;
    }
    out_.buffers.push_back({Buffer::Role::Input, input.name, input.type, shape(input.dims)});
    buffer_of_.push_back(static_cast<BufferId>(out_.buffers.size() - 1));
  }

  ValueId add(Value value, NodeId node) {
    std::sort(value.axes.begin(), value.axes.end());
    value.axes.erase(std::unique(value.axes.begin(), value.axes.end()), value.axes.end());
    if (node != ir::kNoNode) {
      value.origin = graph_.origins[static_cast<size_t>(node)];
      if (auto name = graph_.names.find(node); name != graph_.names.end()) value.name = name->second;
    }
    out_.values.push_back(std::move(value));
    return static_cast<ValueId>(out_.values.size() - 1);
  }

  ValueId map(Op op, std::vector<ValueId> args, ir::Type type, NodeId node) {
    std::vector<LoopAxisId> axes;
    for (ValueId a : args)
      axes.insert(axes.end(), out_.values[static_cast<size_t>(a)].axes.begin(),
                  out_.values[static_cast<size_t>(a)].axes.end());
    return add({Map{op, std::move(args)}, type, std::move(axes), "", {}}, node);
  }

  ValueId index_value(const Index& index, NodeId node = ir::kNoNode) {
    for (size_t i = 0; i < out_.values.size(); ++i)
      if (const IndexValue* known = std::get_if<IndexValue>(&out_.values[i].what); known && known->index == index)
        return static_cast<ValueId>(i);
    return add({IndexValue{index}, ir::DType::I64, axes_of(index), "", {}}, node);
  }

  ValueId both(ValueId a, ValueId b) {
    return a == kNoValue ? b : b == kNoValue ? a : map(Op::And, {a, b}, ir::DType::Bool, ir::kNoNode);
  }

  // 0 <= index < n as a bool; kNoValue where a bound needs no test.
  ValueId within(const Index& index, const ir::Size& n, bool from_below, bool from_above) {
    ValueId i = index_value(index), inside = kNoValue;
    if (from_below) inside = map(Op::Le, {index_value(size_index(0)), i}, ir::DType::Bool, ir::kNoNode);
    if (from_above) inside = both(inside, map(Op::Lt, {i, index_value(size_index(n))}, ir::DType::Bool, ir::kNoNode));
    return inside;
  }

  // The value of `node` at `at` (its axes' positions); `guard` says where it is wanted at all.
  Result<ValueId> lower(NodeId id, const Coordinates& at, ValueId guard) {
    const Node& node = graph_[id];
    Coordinates own;
    for (AxisId a : node.axes) own.emplace(a, at.at(a));
    auto key = std::make_tuple(id, describe(own), guard);
    if (auto known = memo_.find(key); known != memo_.end()) return known->second;
    if (++depth_ > 4000) return bad_input("the math is nested too deeply to be lowered");
    Result<ValueId> value = lower_new(id, node, own, guard);
    --depth_;
    if (value) memo_.emplace(std::move(key), *value);
    return value;
  }

  std::string describe(const Coordinates& at) const {
    std::string out;
    for (const auto& [axis, index] : at) out += std::to_string(axis) + "=" + describe(index) + ";";
    return out;
  }
  std::string describe(const Index& i) const {
    switch (i.kind) {
      case Index::Kind::Axis:
        return "a" + std::to_string(i.axis);
      case Index::Kind::Size:
        return graph_.size_text(i.size);
      case Index::Kind::Value:
        return "v" + std::to_string(i.value);
      default:
        break;
    }
    return "(" + std::to_string(static_cast<int>(i.kind)) + " " + describe(i.operands[0]) + " " +
           describe(i.operands[1]) + ")";
  }

  Failure refuse(NodeId id, std::string_view rule) const {
    const ir::Origin& origin = graph_.origins[static_cast<size_t>(id)];
    std::optional<Place> place;
    if (origin.line > 0 && static_cast<size_t>(origin.file) < graph_.source_files.size())
      place = Place{graph_.source_files[static_cast<size_t>(origin.file)], origin.line, origin.column, 0};
    return bad_input(std::string(info(graph_[id].op).name) + " is not generated yet: " + std::string(rule), place,
                     "tiers 1 and 2 are pointwise math, views and reductions");
  }

  Result<ValueId> lower_new(NodeId id, const Node& node, const Coordinates& at, ValueId guard) {
    switch (info(node.op).kind) {
      case ir::OpKind::Leaf:
        return lower_leaf(id, node, at, guard);
      case ir::OpKind::Pointwise: {
        std::vector<ValueId> args;
        for (NodeId arg : node.args) {
          KW_TRY(ValueId value, lower(arg, at, guard));
          args.push_back(value);
        }
        return map(node.op, std::move(args), node.type, id);
      }
      case ir::OpKind::Reduction:
        return lower_reduction(id, node, at, guard);
      case ir::OpKind::View:
        return lower_view(id, node, at, guard);
      case ir::OpKind::Scan:
        return refuse(id, "rule scan");
      case ir::OpKind::Indexed:
        return refuse(id, "rule indexed");
      case ir::OpKind::Order:
        return refuse(id, "rule order");
      case ir::OpKind::Contraction:
        return refuse(id, "rule contraction");
    }
    return refuse(id, "rule unknown");
  }

  Result<ValueId> lower_leaf(NodeId id, const Node& node, const Coordinates& at, ValueId guard) {
    switch (node.op) {
      case Op::Input: {
        const ir::InputRef& ref = node.as<ir::InputRef>();
        const ir::Input& input = graph_.inputs[static_cast<size_t>(ref.index)];
        BufferId buffer = buffer_of_[static_cast<size_t>(ref.index)];
        if (buffer < 0) return add({Scalar{input.name}, node.type, {}, input.name, {}}, id);
        Load load{buffer, {}, guard, kNoValue};
        std::vector<LoopAxisId> axes;
        for (AxisId a : input.dims) {
          load.at.push_back(a == ir::kUnit ? size_index(0) : at.at(a));
          for (LoopAxisId axis : axes_of(load.at.back())) axes.push_back(axis);
        }
        if (guard != kNoValue) {
          load.otherwise = add({Number{ir::Literal{0.0}}, ir::DType::Real, {}, "", {}}, ir::kNoNode);
          const std::vector<LoopAxisId>& guarded = out_.values[static_cast<size_t>(guard)].axes;
          axes.insert(axes.end(), guarded.begin(), guarded.end());
        }
        return add({std::move(load), node.type, std::move(axes), input.name, {}}, id);
      }
      case Op::Const:
        return add({Number{node.as<ir::Literal>()}, node.type, {}, "", {}}, id);
      case Op::SizeOf:
        return index_value(size_index(node.as<ir::SizeAttr>().size), id);
      case Op::Iota:
        return index_value(at.at(node.axes[0]), id);
      case Op::Random: {
        // The counter of an element: its row-major position over the ordered axes.
        Index counter = size_index(0);
        for (AxisId a : node.as<ir::AxisList>().axes)
          counter = arithmetic_.add(arithmetic_.mul(counter, size_index(graph_.axis(a).size)), at.at(a));
        KW_TRY(ValueId seed, lower(node.args[0], {}, guard));
        KW_TRY(ValueId offset, lower(node.args[1], {}, guard));
        return map(Op::Random, {seed, offset, index_value(counter)}, node.type, id);
      }
      default:
        return refuse(id, "rule leaf");
    }
  }

  Result<ValueId> lower_reduction(NodeId id, const Node& node, Coordinates at, ValueId guard) {
    if (node.op == Op::Reduce) return refuse(id, "rule combine");
    std::vector<LoopAxisId> over;
    for (AxisId a : node.as<ir::AxisList>().axes) {
      const Index& position = position_[static_cast<size_t>(a)];
      at[a] = position;
      for (LoopAxisId axis : axes_of(position)) over.push_back(axis);
    }
    std::sort(over.begin(), over.end());
    // A result that is wanted at a position built from the reduced axes themselves would confuse the two.
    for (const auto& [axis, index] : at) {
      const std::vector<AxisId>& reduced = node.as<ir::AxisList>().axes;
      if (std::find(reduced.begin(), reduced.end(), axis) != reduced.end()) continue;
      for (LoopAxisId used : axes_of(index))
        if (std::binary_search(over.begin(), over.end(), used)) return refuse(id, "rule reduction within its own axis");
    }
    KW_TRY(ValueId arg, lower(node.args[0], at, guard));
    std::vector<LoopAxisId> axes;
    for (LoopAxisId a : out_.values[static_cast<size_t>(arg)].axes)
      if (!std::binary_search(over.begin(), over.end(), a)) axes.push_back(a);
    return add({Reduced{node.op, arg, over}, node.type, std::move(axes), "", {}}, id);
  }

  Result<ValueId> lower_view(NodeId id, const Node& node, Coordinates at, ValueId guard) {
    switch (node.op) {
      case Op::Broadcast:
        return lower(node.args[0], at, guard);
      case Op::Rename: {
        Coordinates renamed = at;
        for (auto [from, to] : node.as<ir::RenameAttr>().pairs) renamed.erase(to);
        for (auto [from, to] : node.as<ir::RenameAttr>().pairs) renamed[from] = at.at(to);
        return lower(node.args[0], renamed, guard);
      }
      case Op::Slice: {
        const ir::SliceAttr& s = node.as<ir::SliceAttr>();
        Index to = at.at(s.to);
        at.erase(s.to);
        at[s.from] = arithmetic_.add(size_index(s.start), arithmetic_.mul(to, size_index(s.step)));
        return lower(node.args[0], at, guard);
      }
      case Op::Split: {
        const ir::SplitAttr& s = node.as<ir::SplitAttr>();
        Index whole =
            arithmetic_.add(arithmetic_.mul(at.at(s.outer), size_index(graph_.axis(s.inner).size)), at.at(s.inner));
        at.erase(s.outer);
        at.erase(s.inner);
        at[s.whole] = whole;
        return lower(node.args[0], at, guard);
      }
      case Op::Merge: {
        const ir::SplitAttr& s = node.as<ir::SplitAttr>();
        Index whole = at.at(s.whole);
        const ir::Size& inner = graph_.axis(s.inner).size;
        at.erase(s.whole);
        at[s.outer] = arithmetic_.floor_div(whole, inner);
        at[s.inner] = arithmetic_.mod(whole, inner);
        return lower(node.args[0], at, guard);
      }
      case Op::Pad: {
        const ir::SliceAttr& s = node.as<ir::SliceAttr>();
        Index offset = arithmetic_.sub(at.at(s.to), size_index(s.start));
        Index position = s.step == 1 ? offset : arithmetic_.floor_div(offset, ir::Size(s.step));
        bool starts_later = !(s.start == ir::Size(0));
        bool ends_earlier = !(s.start + graph_.axis(s.from).size == graph_.axis(s.to).size);
        ValueId inside = within(position, graph_.axis(s.from).size, starts_later, ends_earlier || s.step != 1);
        if (s.step != 1) {
          ValueId rest = index_value(arithmetic_.mod(offset, ir::Size(s.step)));
          inside = both(inside, map(Op::Eq, {rest, index_value(size_index(0))}, ir::DType::Bool, ir::kNoNode));
        }
        at.erase(s.to);
        at[s.from] = position;
        KW_TRY(ValueId value, lower(node.args[0], at, both(guard, inside)));
        if (inside == kNoValue) return value;
        KW_TRY(ValueId fill, lower(node.args[1], {}, kNoValue));
        return map(Op::Select, {inside, value, fill}, node.type, id);
      }
      case Op::Concat: {
        const ir::ConcatAttr& c = node.as<ir::ConcatAttr>();
        Index to = at.at(c.to);
        ir::Size start(0);
        ValueId result = kNoValue;
        std::vector<std::pair<ValueId, ValueId>> parts;  // condition that it is this part or an earlier one, value
        for (size_t i = 0; i < node.args.size(); ++i) {
          const ir::Size& length = graph_.axis(c.from[i]).size;
          Coordinates inner = at;
          inner.erase(c.to);
          inner[c.from[i]] = arithmetic_.sub(to, size_index(start));
          bool last = i + 1 == node.args.size();
          ValueId before_end = last ? kNoValue
                                    : map(Op::Lt, {index_value(to), index_value(size_index(start + length))},
                                          ir::DType::Bool, ir::kNoNode);
          ValueId after_start =
              i == 0 ? kNoValue
                     : map(Op::Le, {index_value(size_index(start)), index_value(to)}, ir::DType::Bool, ir::kNoNode);
          KW_TRY(ValueId value, lower(node.args[i], inner, both(guard, both(after_start, before_end))));
          parts.emplace_back(before_end, value);
          start = start + length;
        }
        result = parts.back().second;
        for (size_t i = parts.size() - 1; i-- > 0;)
          result = map(Op::Select, {parts[i].first, parts[i].second, result}, node.type, id);
        return result;
      }
      case Op::Window:
        return refuse(id, "rule window");
      default:
        return refuse(id, "rule view");
    }
  }

  const ir::Graph& graph_;
  LoweredValues out_;
  IndexArithmetic arithmetic_;
  std::vector<Index> position_;      // by graph axis
  std::vector<BufferId> buffer_of_;  // by input; -1 for a scalar
  std::map<std::tuple<NodeId, std::string, ValueId>, ValueId> memo_;
  int depth_ = 0;
};

}  // namespace

Result<LoweredValues> lower_values(const ir::Graph& pass) { return ValueLowering(pass).run(); }

}  // namespace kw::act
