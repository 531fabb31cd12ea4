#include "act/loop/values.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "act/loop/axes.h"
#include "act/loop/identifier.h"
#include "act/loop/index.h"
#include "ir/interpreter/element.h"

namespace kw::act {
namespace {

using ir::AxisId;
using ir::DType;
using ir::kNoNode;
using ir::Node;
using ir::NodeId;
using ir::Op;

using Coordinates = std::map<AxisId, Index>;

template <class T>
using Bits = std::conditional_t<std::is_same_v<T, double>, double, int64_t>;

constexpr int kDeepestMath = 4000;      // nested nodes: the recursion's stack
constexpr size_t kMostValues = 100000;  // positions multiply where views of views overlap

class ValueLowering {
 public:
  explicit ValueLowering(const ir::Graph& graph) : graph_(graph), arithmetic_(out_.axes) {
    AxisPositions chosen = choose_axes(graph);
    out_.axes = std::move(chosen.axes);
    position_ = std::move(chosen.position);
  }

  Result<LoweredValues> run() {
    for (const ir::Input& input : graph_.inputs) add_input(input);
    const auto first_output = static_cast<BufferId>(out_.buffers.size());
    for (const ir::Output& output : graph_.outputs)
      out_.buffers.push_back({Buffer::Role::Output, names_.take(free_of_skeletons(output.name), "output"),
                              graph_[output.node].type, shape(output.dims), output.name});
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      Coordinates at;
      std::vector<Index> address;
      for (AxisId a : graph_.outputs[i].dims) {
        address.push_back(a == ir::kUnit ? size_index(0) : position(a));
        if (a != ir::kUnit) at[a] = position(a);
      }
      KW_TRY(ValueId value, lower(graph_.outputs[i].node, at, kNoValue));
      out_.outputs.push_back({first_output + static_cast<BufferId>(i), std::move(address), value});
      if (std::string& name = out_.values[static_cast<size_t>(value)].name; name.empty()) name = graph_.outputs[i].name;
    }
    return std::move(out_);
  }

 private:
  const Index& position(AxisId a) const { return position_[static_cast<size_t>(a)]; }
  const Value& at(ValueId v) const { return out_.values[static_cast<size_t>(v)]; }

  std::vector<ir::Size> shape(const std::vector<AxisId>& dims) const {
    std::vector<ir::Size> sizes;
    for (AxisId a : dims) sizes.push_back(a == ir::kUnit ? ir::Size(1) : graph_.axis(a).size);
    return sizes;
  }

  void add_input(const ir::Input& input) {
    std::string name = names_.take(free_of_skeletons(input.name), "input");
    if (input.kind == ir::InputKind::Scalar) {
      buffer_of_.push_back(-1);
      scalar_of_.push_back(name);
      out_.scalars.emplace_back(name, input.type);
      out_.scalar_sources.push_back({input.name, input.default_value});
      return;
    }
    buffer_of_.push_back(static_cast<BufferId>(out_.buffers.size()));
    scalar_of_.emplace_back();
    out_.buffers.push_back({Buffer::Role::Input, std::move(name), input.type, shape(input.dims), input.name});
  }

  // ---- values: equal ones are one ----
  ValueId add(Value value, NodeId node) {
    std::sort(value.axes.begin(), value.axes.end());
    value.axes.erase(std::unique(value.axes.begin(), value.axes.end()), value.axes.end());
    if (node != kNoNode) {
      value.origin = graph_.origins[static_cast<size_t>(node)];
      if (auto name = graph_.names.find(node); name != graph_.names.end()) value.name = name->second;
    }
    auto [known, is_new] = interned_.try_emplace(describe(value), static_cast<ValueId>(out_.values.size()));
    if (is_new) {
      out_.values.push_back(std::move(value));
    } else if (Value& same = out_.values[static_cast<size_t>(known->second)]; same.name.empty()) {
      same.name = std::move(value.name);
    }
    return known->second;
  }

  std::string describe(const Value& value) const {
    std::string out = std::to_string(value.type.params()) + ":" + std::to_string(static_cast<int>(value.type.floor()));
    auto number = [&](auto n) { out += " " + std::to_string(static_cast<int64_t>(n)); };
    if (const Load* load = std::get_if<Load>(&value.what)) {
      out += "load", number(load->buffer), number(load->guard), number(load->otherwise);
      for (const Index& index : load->at) out += " " + describe(index);
    } else if (const Map* map = std::get_if<Map>(&value.what)) {
      out += "map", number(map->op);
      for (ValueId arg : map->args) number(arg);
    } else if (const Number* literal = std::get_if<Number>(&value.what)) {
      const auto& held = literal->literal.value;
      out += "number", number(held.index());
      std::visit([&](auto v) { number(std::bit_cast<int64_t>(static_cast<Bits<decltype(v)>>(v))); }, held);
    } else if (const Scalar* scalar = std::get_if<Scalar>(&value.what)) {
      out += "scalar " + scalar->name;
    } else if (const IndexValue* index = std::get_if<IndexValue>(&value.what)) {
      out += "index " + describe(index->index);
    } else if (const Reduced* reduced = std::get_if<Reduced>(&value.what)) {
      out += "reduced", number(reduced->op), number(reduced->arg);
      for (LoopAxisId a : reduced->over) number(a);
      out += " " + describe(reduced->position);
      if (reduced->combined) {
        number(reduced->combined->combine), number(reduced->combined->part);
        for (ValueId arg : reduced->combined->args) number(arg);
      }
    }
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
        return "(" + std::to_string(static_cast<int>(i.kind)) + " " + describe(i.operands[0]) + " " +
               describe(i.operands[1]) + ")";
    }
  }
  std::string describe(const Coordinates& at) const {
    std::string out;
    for (const auto& [axis, index] : at) out += std::to_string(axis) + "=" + describe(index) + ";";
    return out;
  }

  const Number* number_of(ValueId v) const { return std::get_if<Number>(&at(v).what); }

  ValueId map(Op op, std::vector<ValueId> args, ir::Type type, NodeId node = kNoNode) {
    if (std::optional<ir::Literal> known = folded(op, args, type)) return add({Number{*known}, type, {}, "", {}}, node);
    std::vector<LoopAxisId> axes;
    for (ValueId a : args) axes.insert(axes.end(), at(a).axes.begin(), at(a).axes.end());
    return add({Map{op, std::move(args)}, type, std::move(axes), "", {}}, node);
  }
  ValueId index_value(const Index& index, ir::Type type = DType::I64, NodeId node = kNoNode) {
    return add({IndexValue{index}, type, axes_of(index), "", {}}, node);
  }
  ValueId number(double value) { return add({Number{ir::Literal{value}}, DType::Real, {}, "", {}}, kNoNode); }
  ValueId truth(bool value) { return add({Number{ir::Literal{value}}, DType::Bool, {}, "", {}}, kNoNode); }

  // A function of plain numbers is a number. What has a type of its own stays: where it rounds is part of the math.
  std::optional<ir::Literal> folded(Op op, const std::vector<ValueId>& args, ir::Type type) const {
    if (!type.weak() || info(op).kind != ir::OpKind::Pointwise) return std::nullopt;
    std::vector<double> operands;
    std::vector<DType> types;
    for (ValueId arg : args) {
      if (!number_of(arg) || !(at(arg).type.weak() || at(arg).type.boolean())) return std::nullopt;
      operands.push_back(number_of(arg)->literal.number());
      types.push_back(at(arg).type.floor());
    }
    const double value = ir::ElementFunction(op, type.floor(), std::move(types), ir::Semantics::Rounded)(operands);
    if (type.floating()) return ir::Literal{value};
    if (!(std::fabs(value) < 0x1p53)) return std::nullopt;
    return ir::Literal{static_cast<int64_t>(value)};
  }

  // ---- conditions on positions; kNoValue is one that always holds ----
  ValueId both(ValueId a, ValueId b) {
    if (a == kNoValue || b == kNoValue || a == b) return a == kNoValue ? b : a;
    return map(Op::And, {a, b}, DType::Bool);
  }
  ValueId compare(Op op, const Index& a, const Index& b) {
    const Index difference = arithmetic_.sub(a, b);
    if (difference.kind == Index::Kind::Size && difference.size.constant()) {
      const int64_t d = *difference.size.constant();
      const bool holds = op == Op::Lt ? d < 0 : op == Op::Le ? d <= 0 : d == 0;
      return holds ? kNoValue : truth(false);
    }
    return map(op, {index_value(a), index_value(b)}, DType::Bool);
  }
  ValueId less(const Index& a, const Index& b) { return compare(Op::Lt, a, b); }
  ValueId at_most(const Index& a, const Index& b) { return compare(Op::Le, a, b); }

  ValueId load(BufferId buffer, std::vector<Index> address, ir::Type type, ValueId guard, NodeId node) {
    std::vector<LoopAxisId> axes;
    for (const Index& index : address)
      for (LoopAxisId axis : axes_of(index)) axes.push_back(axis);
    Load load{buffer, std::move(address), guard, kNoValue};
    if (guard != kNoValue) {
      load.otherwise = number(0);
      axes.insert(axes.end(), at(guard).axes.begin(), at(guard).axes.end());
    }
    const std::string& name = out_.buffers[static_cast<size_t>(buffer)].name;
    return add({std::move(load), type, std::move(axes), name, {}}, node);
  }

  // ---- nodes ----
  // The value of `node` at `at` (its axes' positions); `guard` says where it is wanted at all: loads elsewhere would be
  // out of bounds.
  Result<ValueId> lower(NodeId id, const Coordinates& at, ValueId guard) {
    const Node& node = graph_[id];
    Coordinates own;
    for (AxisId a : node.axes) own.emplace(a, at.at(a));
    auto key = std::make_tuple(id, describe(own), guard);
    if (auto known = memo_.find(key); known != memo_.end()) return known->second;
    if (depth_ > kDeepestMath || out_.values.size() > kMostValues)
      return refuse(id, depth_ > kDeepestMath ? "rule depth" : "rule overlapping views");
    ++depth_;
    Result<ValueId> value = lower_new(id, node, own, guard);
    --depth_;
    if (value) memo_.emplace(std::move(key), *value);
    return value;
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
        return lower_indexed(id, node, at, guard);
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
        const auto input = static_cast<size_t>(node.as<ir::InputRef>().index);
        if (buffer_of_[input] < 0) return add({Scalar{scalar_of_[input]}, node.type, {}, scalar_of_[input], {}}, id);
        std::vector<Index> address;
        for (AxisId a : graph_.inputs[input].dims) address.push_back(a == ir::kUnit ? size_index(0) : at.at(a));
        return load(buffer_of_[input], std::move(address), node.type, guard, id);
      }
      case Op::Const:
        return add({Number{node.as<ir::Literal>()}, node.type, {}, "", {}}, id);
      case Op::SizeOf:
        return index_value(size_index(node.as<ir::SizeAttr>().size), node.type, id);
      case Op::Iota:
        return index_value(at.at(node.axes[0]), node.type, id);
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

  Result<ValueId> lower_reduction(NodeId id, const Node& node, const Coordinates& at, ValueId guard) {
    const bool combines = node.op == Op::Reduce, counts = node.op == Op::ArgMax || node.op == Op::ArgMin;
    Coordinates inner = at;
    std::vector<LoopAxisId> over;
    Index counted;
    for (AxisId a : combines ? std::vector{node.as<ir::CombineAttr>().axis} : node.as<ir::AxisList>().axes) {
      inner[a] = counted = position(a);
      for (LoopAxisId axis : axes_of(counted)) over.push_back(axis);
    }
    std::sort(over.begin(), over.end());
    if (over.empty()) return only_term(id, node, inner, guard);
    const bool elsewhere =
        std::any_of(at.begin(), at.end(), [&](const auto& p) { return p.second != position(p.first); });
    if (elsewhere) return read_back(id, node, at, guard);
    if (combines && counted != row_major(over)) return refuse(id, "rule combine along a split axis");

    std::vector<ValueId> args;
    std::vector<LoopAxisId> axes;
    for (NodeId operand : node.args) {
      KW_TRY(ValueId arg, lower(operand, inner, kNoValue));
      args.push_back(arg);
      for (LoopAxisId a : this->at(arg).axes)
        if (!std::binary_search(over.begin(), over.end(), a)) axes.push_back(a);
    }
    Reduced reduced{node.op, args[0], over, counts ? counted : Index{}};
    if (combines) {
      const ir::CombineAttr& attr = node.as<ir::CombineAttr>();
      reduced.combined = Combined{combine_function(attr.combine), args, attr.part};
    }
    return add({std::move(reduced), node.type, std::move(axes), "", {}}, id);
  }

  Index row_major(const std::vector<LoopAxisId>& axes) const {
    Index out = size_index(0);
    for (LoopAxisId a : axes)
      out = arithmetic_.add(arithmetic_.mul(out, size_index(out_.axes[static_cast<size_t>(a)].size)), axis_index(a));
    return out;
  }

  // The body of a combine as values; the same combine is one function.
  int32_t combine_function(const std::shared_ptr<const ir::Combine>& combine) {
    for (size_t i = 0; i < combines_.size(); ++i)
      if (ir::CombineAttr{combines_[i]} == ir::CombineAttr{combine}) return static_cast<int32_t>(i);
    combines_.push_back(combine);
    CombineFunction function;
    function.name = combine_names_.take(combine->body->name, "combine");
    function.identity = combine->identity;
    const ir::Graph& body = *combine->body;
    Identifiers names;
    std::map<NodeId, ValueId> image;
    auto append = [&](NodeId id, auto what, const std::string& name) {
      image[id] = static_cast<ValueId>(function.values.size());
      function.values.push_back({std::move(what), body[id].type, {}, names.take(name, "v"), {}});
    };
    for (const ir::Input& input : body.inputs) append(input.node, Scalar{input.name}, input.name);
    for (size_t i = 0; i < function.values.size(); ++i)
      function.values[i].what = Scalar{function.values[i].name};  // as it is spelled here
    for (size_t i = 0; i < body.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      const Node& node = body[id];
      if (image.contains(id)) continue;
      std::vector<ValueId> args;
      for (NodeId arg : node.args) args.push_back(image.at(arg));
      auto name = body.names.find(id);
      if (node.op == Op::Const)
        append(id, Number{node.as<ir::Literal>()}, "");
      else
        append(id, Map{node.op, std::move(args)}, name == body.names.end() ? "" : name->second);
    }
    for (const ir::Output& output : body.outputs) function.results.push_back(image.at(output.node));
    out_.combines.push_back(std::move(function));
    return static_cast<int32_t>(combines_.size() - 1);
  }

  // A reduction over axes of size one alone is its only term.
  Result<ValueId> only_term(NodeId id, const Node& node, const Coordinates& inner, ValueId guard) {
    if (node.op == Op::ArgMax || node.op == Op::ArgMin) return index_value(size_index(0), node.type, id);
    const int part = node.op == Op::Reduce ? node.as<ir::CombineAttr>().part : 0;
    KW_TRY(ValueId arg, lower(node.args[static_cast<size_t>(part)], inner, guard));
    return at(arg).type == node.type ? arg : map(Op::Cast, {arg}, node.type, id);
  }

  Result<ValueId> read_back(NodeId id, const Node& node, const Coordinates& at, ValueId guard) {
    Coordinates own;
    for (AxisId a : node.axes) own.emplace(a, position(a));
    KW_TRY(ValueId value, lower(id, own, kNoValue));
    std::map<LoopAxisId, Index> wanted;
    for (const auto& [axis, index] : at) invert(axis, index, wanted);
    std::vector<Index> address;
    for (LoopAxisId a : this->at(value).axes) address.push_back(wanted.at(a));
    return load(memory_of(value), std::move(address), node.type, guard, kNoNode);
  }

  // The value of each loop axis of a graph axis where that is `index`: its position is a sum of digits.
  void invert(AxisId axis, const Index& index, std::map<LoopAxisId, Index>& wanted) const {
    for (LoopAxisId a : axes_of(position(axis))) {
      // A digit's coefficient is what the position is where the digit is 1 and every other 0.
      Index coefficient = arithmetic_.rebuild(position(axis), [&](const Index& leaf) {
        return leaf.kind == Index::Kind::Axis ? size_index(leaf.axis == a ? 1 : 0) : leaf;
      });
      const ir::Size& size = out_.axes[static_cast<size_t>(a)].size;
      Index digit = arithmetic_.floor_div(index, coefficient.size);
      const bool is_first = coefficient.size * size == graph_.axis(axis).size;
      wanted.emplace(a, is_first ? digit : arithmetic_.mod(digit, size));
    }
  }

  BufferId memory_of(ValueId value) {
    for (const auto& [buffer, held] : out_.read_back)
      if (held == value) return buffer;
    std::vector<ir::Size> sizes;
    for (LoopAxisId a : at(value).axes) sizes.push_back(out_.axes[static_cast<size_t>(a)].size);
    out_.buffers.push_back({Buffer::Role::Workspace, names_.take(at(value).name, "reduced"),
                            stored_type(at(value).type), std::move(sizes)});
    const auto buffer = static_cast<BufferId>(out_.buffers.size() - 1);
    out_.read_back.emplace(buffer, value);
    return buffer;
  }

  // ---- views ----
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
        at[s.from] = arithmetic_.add(arithmetic_.mul(to, size_index(s.step)), size_index(s.start));
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
      case Op::Pad:
        return lower_pad(id, node, std::move(at), guard);
      case Op::Concat:
        return lower_concat(id, node, at, guard);
      case Op::Window:
        return refuse(id, "rule window");
      default:
        return refuse(id, "rule view");
    }
  }

  Result<ValueId> lower_pad(NodeId id, const Node& node, Coordinates at, ValueId guard) {
    const ir::SliceAttr& s = node.as<ir::SliceAttr>();
    const ir::Size& length = graph_.axis(s.from).size;
    Index offset = arithmetic_.sub(at.at(s.to), size_index(s.start));
    Index position = arithmetic_.floor_div(offset, ir::Size(s.step));
    ValueId inside = kNoValue;
    if (s.start != ir::Size(0)) inside = at_most(size_index(0), offset);
    if (s.step != 1 || s.start + length != graph_.axis(s.to).size)
      inside = both(inside, less(position, size_index(length)));
    if (s.step != 1) {
      Index rest = arithmetic_.mod(offset, ir::Size(s.step));
      inside = both(inside, compare(Op::Eq, rest, size_index(0)));
    }
    at.erase(s.to);
    at[s.from] = position;
    KW_TRY(ValueId value, lower(node.args[0], at, both(guard, inside)));
    KW_TRY(ValueId fill, lower(node.args[1], {}, kNoValue));
    return select(inside, value, fill, node.type, id);
  }

  Result<ValueId> lower_concat(NodeId id, const Node& node, const Coordinates& at, ValueId guard) {
    const ir::ConcatAttr& c = node.as<ir::ConcatAttr>();
    const Index to = at.at(c.to);
    ir::Size start(0);
    std::vector<std::pair<ValueId, ValueId>> parts;  // condition that it is this part or an earlier one, value
    for (size_t i = 0; i < node.args.size(); ++i) {
      ir::Size end = start + graph_.axis(c.from[i]).size;
      Coordinates inner = at;
      inner.erase(c.to);
      inner[c.from[i]] = arithmetic_.sub(to, size_index(start));
      ValueId before_end = i + 1 == node.args.size() ? kNoValue : less(to, size_index(end));
      ValueId after_start = i == 0 ? kNoValue : at_most(size_index(start), to);
      KW_TRY(ValueId value, lower(node.args[i], inner, both(guard, both(after_start, before_end))));
      parts.emplace_back(before_end, value);
      start = end;
    }
    ValueId result = parts.back().second;
    for (size_t i = parts.size() - 1; i-- > 0;) result = select(parts[i].first, parts[i].second, result, node.type, id);
    return result;
  }

  // At a place that the math names (weight[0]) a gather is a load there, and a scatter what is added or set there.
  Result<ValueId> lower_indexed(NodeId id, const Node& node, Coordinates at, ValueId guard) {
    const bool gathers = node.op == Op::Gather;
    if (!gathers && node.op != Op::ScatterAdd && node.op != Op::ScatterSet) return refuse(id, "rule indexed");
    const AxisId axis = node.as<ir::AxisList>().axes[0];
    const Node& index = graph_[node.args[1]];
    const std::optional<int64_t> size = graph_.axis(axis).size.constant();
    if (index.op != Op::Const || !size) return refuse(id, "rule indexed");
    const auto place = static_cast<int64_t>(index.as<ir::Literal>().number());
    if (place < 0 || place >= *size) return refuse(id, "rule indexed");
    if (gathers) {
      at[axis] = size_index(place);
      return lower(node.args[0], at, guard);
    }
    const ValueId here = compare(Op::Eq, at.at(axis), size_index(place));
    KW_TRY(ValueId base, lower(node.args[0], at, guard));
    KW_TRY(ValueId value, lower(node.args[2], at, both(guard, here)));
    if (node.op == Op::ScatterSet) return select(here, value, base, node.type, id);
    const ValueId added = select(here, value, number(0), node.type, kNoNode);
    return map(Op::Add, {base, added}, node.type, id);
  }

  // A load that is not made where the condition fails needs no select beside it: the fill is what it gives there.
  ValueId select(ValueId condition, ValueId then, ValueId otherwise, ir::Type type, NodeId node) {
    if (condition == kNoValue) return at(then).type == type ? then : map(Op::Cast, {then}, type, node);
    const Load* guarded = std::get_if<Load>(&at(then).what);
    const bool fits = guarded && guarded->guard == condition && at(then).type == type &&
                      std::holds_alternative<Number>(at(otherwise).what);
    if (!fits) return map(Op::Select, {condition, then, otherwise}, type, node);
    Value filled = at(then);
    std::get<Load>(filled.what).otherwise = otherwise;
    return add(std::move(filled), node);
  }

  const ir::Graph& graph_;
  LoweredValues out_;
  IndexArithmetic arithmetic_;
  std::vector<Index> position_;         // by graph axis
  std::vector<BufferId> buffer_of_;     // by input; -1 for a scalar
  std::vector<std::string> scalar_of_;  // by input
  Identifiers names_;                   // of buffers and scalars
  std::map<std::string, ValueId> interned_;
  std::map<std::tuple<NodeId, std::string, ValueId>, ValueId> memo_;
  std::vector<std::shared_ptr<const ir::Combine>> combines_;  // parallel to out_.combines
  Identifiers combine_names_;
  int depth_ = 0;
};

}  // namespace

ir::Type stored_type(ir::Type type) {
  if (!type.weak()) return type;
  return type.floating() ? DType::F64 : DType::I64;
}

Result<LoweredValues> lower_values(const ir::Graph& pass) { return ValueLowering(pass).run(); }

}  // namespace kw::act
