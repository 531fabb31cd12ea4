#include "ir/text/print_node.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "ir/text/print.h"

namespace kw::ir::text {
namespace {

std::string wrapped(const Piece& piece, Precedence weakest) {
  return piece.precedence < weakest ? "(" + piece.text + ")" : piece.text;
}

Precedence tighter(Precedence p) { return static_cast<Precedence>(static_cast<int>(p) + 1); }

bool is_const(const Node& node) { return node.op == Op::Const; }

bool is_literal_two(const Node& node) { return is_const(node) && node.as<Literal>() == Literal{int64_t{2}}; }

std::string call(std::string_view name, const std::vector<Piece>& args, const std::string& rest = {}) {
  std::string text(name);
  text += '(';
  for (size_t i = 0; i < args.size(); ++i) text += (i > 0 ? ", " : "") + args[i].text;
  if (!rest.empty()) text += (args.empty() ? "" : ", ") + rest;
  return text + ")";
}

std::string flag(bool set, const char* word) { return set ? std::string(", ") + word : std::string(); }

}  // namespace

std::string literal_text(const Literal& literal) {
  if (const bool* value = std::get_if<bool>(&literal.value)) return *value ? "true" : "false";
  if (const int64_t* value = std::get_if<int64_t>(&literal.value)) return std::to_string(*value);
  const double value = std::get<double>(literal.value);
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  std::string text = number_text(value);
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";  // 2.0 is no integer
  return text;
}

// ---- axes ---------------------------------------------------------------------------------------------------------

AxisSpeller::AxisSpeller(const Graph& graph, const DisplayNames& names, bool introduces)
    : graph_(graph), names_(names), introduces_(introduces), rank_(graph.axes.size(), introduces ? -1 : 0) {
  if (!introduces) std::iota(rank_.begin(), rank_.end(), 0);
}

void AxisSpeller::note(AxisId axis) {
  int& rank = rank_[static_cast<size_t>(axis)];
  if (rank < 0) rank = next_++;
}

std::string AxisSpeller::known(AxisId axis) { return with_size(axis); }

std::string AxisSpeller::with_size(AxisId axis, const std::optional<Size>& implied) {
  const std::string& name = names_.axes[static_cast<size_t>(axis)];
  if (!introduces_ || !is_new(axis)) return name;
  note(axis);
  const Size& size = graph_.axis(axis).size;
  return implied && *implied == size ? name : name + " = " + names_.size(size);
}

std::vector<AxisId> AxisSpeller::ordered(std::vector<AxisId> axes) const {
  const auto key = [this](AxisId axis) {
    const int rank = rank_[static_cast<size_t>(axis)];
    return std::pair{rank < 0, rank < 0 ? axis : rank};
  };
  std::sort(axes.begin(), axes.end(), [&](AxisId a, AxisId b) { return key(a) < key(b); });
  return axes;
}

// ---- combines -----------------------------------------------------------------------------------------------------

CombineNames::CombineNames(const Graph& graph) {
  UniqueNames names;
  for (const Node& node : graph.nodes) {
    const CombineAttr* attr = std::get_if<CombineAttr>(&node.attr);
    if (attr && !find(*attr)) entries_.push_back({names.claim(attr->combine->body->name), attr->combine});
  }
}

const CombineNames::Entry* CombineNames::find(const CombineAttr& attr) const {
  for (const Entry& entry : entries_) {
    if (CombineAttr{entry.combine} == CombineAttr{attr.combine}) return &entry;
  }
  return nullptr;
}

const CombineNames::Entry& CombineNames::entry(const CombineAttr& attr) const {
  const Entry* found = find(attr);
  KW_ASSERT(found, "every combine of the graph has a name");
  return *found;
}

// ---- nodes --------------------------------------------------------------------------------------------------------

Piece NodePrinter::compose(NodeId id, const std::vector<Piece>& args, AxisSpeller& axes) const {
  const Node& node = graph_[id];
  const Spelling& row = spelling(node.op);
  const std::string_view name = info(node.op).name;
  switch (row.form) {
    case Form::Value:
      if (node.op == Op::Input)
        return {names_.inputs[static_cast<size_t>(node.as<InputRef>().index)]};
      else {
        std::string text = literal_text(node.as<Literal>());
        const bool negative = text.front() == '-';
        return {std::move(text), negative ? Precedence::Unary : Precedence::Primary};
      }
    case Form::Plain:
      return {call(name, args)};
    case Form::Prefix: {
      // -1 is a number, so the negation of the number 1 keeps its brackets.
      const bool ambiguous = node.op == Op::Neg && is_const(graph_[node.args[0]]);
      const std::string operand = wrapped(args[0], ambiguous ? Precedence::Primary : Precedence::Power);
      return {std::string(row.symbol) + (ambiguous && operand.front() != '(' ? "(" + operand + ")" : operand),
              row.precedence};
    }
    case Form::Multiply:
      if (node.args[0] == node.args[1]) return {wrapped(args[0], Precedence::Primary) + "^2", Precedence::Power};
      [[fallthrough]];
    case Form::Infix:
      return {wrapped(args[0], row.precedence) + " " + std::string(row.symbol) + " " +
                  wrapped(args[1], tighter(row.precedence)),
              row.precedence};
    case Form::Compare:
      return compare(node, args);
    case Form::Power:
      if (is_literal_two(graph_[node.args[1]])) return {call(name, args)};
      return {wrapped(args[0], Precedence::Primary) + "^" + wrapped(args[1], Precedence::Unary), row.precedence};
    case Form::Cast:
      return cast(node, args);
    case Form::Concat:
      return concat(node, args, axes);
    case Form::Combine: {
      const CombineAttr& a = node.as<CombineAttr>();
      std::vector<Piece> all{{combines_.entry(a).name}};
      all.insert(all.end(), args.begin(), args.end());
      std::string rest = axes.known(a.axis);
      if (a.part != 0) rest += ", part = " + std::to_string(a.part);
      return {call(name, all, rest + flag(a.reverse, "reverse") + flag(a.exclusive, "exclusive"))};
    }
    case Form::Size:
    case Form::Axes:
    case Form::NewAxes:
    case Form::Scan:
    case Form::Segment:
    case Form::Rename:
    case Form::Slice:
    case Form::Split:
    case Form::Merge:
    case Form::Window:
    case Form::Fold:
    case Form::Sort:
    case Form::TopK:
      return {call(name, args, attribute(node, axes))};
  }
  return {};
}

Piece NodePrinter::compare(const Node& node, const std::vector<Piece>& args) const {
  constexpr Precedence kSide = Precedence::Shift;
  const std::string symbol(spelling(node.op).symbol);
  // x > 0 reads better than 0 < x, and says the same. Only leaves change places: operands introduce axes in their
  // order.
  const Node &left = graph_[node.args[0]], &right = graph_[node.args[1]];
  const bool lone_number = is_const(left) || (left.op == Op::Input && left.axes.empty() && !right.axes.empty());
  if ((node.op == Op::Lt || node.op == Op::Le) && lone_number && !is_const(right)) {
    return {wrapped(args[1], kSide) + (node.op == Op::Lt ? " > " : " >= ") + wrapped(args[0], kSide),
            Precedence::Compare};
  }
  return {wrapped(args[0], kSide) + " " + symbol + " " + wrapped(args[1], kSide), Precedence::Compare};
}

Piece NodePrinter::cast(const Node& node, const std::vector<Piece>& args) const {
  const Type type = node.as<CastAttr>().type;
  const bool has_floor = type.floor() != DType::None;
  if (std::popcount(type.params()) + (has_floor ? 1 : 0) == 1) return {call(names_.type(type), args)};
  if (type == opmath(graph_[node.args[0]].type)) return {call("wide", args)};
  return {call("cast", args, names_.type(type))};
}

Piece NodePrinter::concat(const Node& node, const std::vector<Piece>& args, AxisSpeller& axes) const {
  const ConcatAttr& a = node.as<ConcatAttr>();
  std::string text = "concat(";
  Size total;
  for (size_t i = 0; i < args.size(); ++i) {
    text += (i > 0 ? ", " : "") + args[i].text + ": " + axes.known(a.from[i]);
    total = total + graph_.axis(a.from[i]).size;
  }
  return {text + " -> " + axes.with_size(a.to, total) + ")"};
}

std::string NodePrinter::attribute(const Node& node, AxisSpeller& axes) const {
  const Form form = spelling(node.op).form;
  struct Visitor {
    const NodePrinter& self;
    const Node& node;
    AxisSpeller& axes;
    Form form;
    std::string operator()(const SizeAttr& a) const { return self.names_.size(a.size); }
    std::string operator()(const AxisList& a) const {
      std::string text;
      for (AxisId axis : node.op == Op::Random ? a.axes : axes.ordered(a.axes)) {
        text += (text.empty() ? "" : ", ") + axes.known(axis);
      }
      return text;
    }
    std::string operator()(const RenameAttr& a) const {
      std::vector<AxisId> from;
      for (const auto& pair : a.pairs) from.push_back(pair.first);
      std::string text;
      for (AxisId axis : axes.ordered(from)) {
        const auto pair = std::find_if(a.pairs.begin(), a.pairs.end(), [&](const auto& p) { return p.first == axis; });
        text += (text.empty() ? "" : ", ") + axes.known(axis) + " -> ";
        text += axes.with_size(pair->second, self.graph_.axis(axis).size);
      }
      return text;
    }
    std::string operator()(const SliceAttr& a) const {
      std::string text = axes.known(a.from) + " -> ";
      text += axes.with_size(a.to);
      if (!(a.start == Size(0))) text += ", start = " + self.names_.size(a.start);
      if (a.step != 1) text += ", step = " + std::to_string(a.step);
      return text;
    }
    std::string operator()(const SplitAttr& a) const {
      if (form == Form::Split) return self.split(a, axes);
      std::string parts = "(" + axes.known(a.outer) + ", " + axes.known(a.inner) + ") -> ";
      return parts + axes.with_size(a.whole, self.graph_.axis(a.outer).size * self.graph_.axis(a.inner).size);
    }
    std::string operator()(const WindowAttr& a) const { return self.window(a, form, axes); }
    std::string operator()(const SegmentAttr&) const { return self.segment(node, axes); }
    std::string operator()(const ScanAttr& a) const {
      return axes.known(a.axis) + flag(a.reverse, "reverse") + flag(a.exclusive, "exclusive");
    }
    std::string operator()(const SortAttr& a) const { return axes.known(a.axis) + flag(a.descending, "descending"); }
    std::string operator()(const TopKAttr& a) const {
      std::string text = axes.known(a.axis) + " -> ";
      return text + axes.with_size(a.to) + flag(!a.largest, "smallest");
    }
    // Written elsewhere: as values, casts, joins and combines.
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(const Literal&) const { return {}; }
    std::string operator()(const InputRef&) const { return {}; }
    std::string operator()(const CastAttr&) const { return {}; }
    std::string operator()(const ConcatAttr&) const { return {}; }
    std::string operator()(const CombineAttr&) const { return {}; }
  };
  return std::visit(Visitor{*this, node, axes, form}, node.attr);
}

std::string NodePrinter::split(const SplitAttr& a, AxisSpeller& axes) const {
  const Size &whole = graph_.axis(a.whole).size, &outer = graph_.axis(a.outer).size, &inner = graph_.axis(a.inner).size;
  // Of two new parts the reader can tell one.
  std::optional<Size> outer_implied, inner_implied;
  if (!(inner == Size(0))) outer_implied = floor_div(whole, inner);
  if (!(outer == Size(0))) inner_implied = floor_div(whole, outer);
  if (axes.is_new(a.outer) && axes.is_new(a.inner)) {
    const bool outer_follows = outer_implied && *outer_implied == outer;
    (outer_follows ? inner_implied : outer_implied) = std::nullopt;
  }
  std::string text = axes.known(a.whole) + " -> (";
  text += axes.with_size(a.outer, outer_implied);
  return text + ", " + axes.with_size(a.inner, inner_implied) + ")";
}

std::string NodePrinter::window(const WindowAttr& a, Form form, AxisSpeller& axes) const {
  std::string text;
  if (form == Form::Fold) {
    text = "(" + axes.known(a.out) + ", " + axes.known(a.tap) + ") -> ";
    text += axes.with_size(a.axis);
  } else {
    const Size padded =
        (graph_.axis(a.axis).size - Size(1)) * Size(a.input_dilation) + Size(1) + Size(2) * a.pad_before;
    const Size span = (graph_.axis(a.tap).size - Size(1)) * Size(a.dilation) + Size(1);
    text = axes.known(a.axis) + " -> (";
    text += axes.with_size(a.out, floor_div(padded - span, Size(a.stride)) + Size(1)) + ", ";
    text += axes.with_size(a.tap) + ")";
  }
  if (a.stride != 1) text += ", stride = " + std::to_string(a.stride);
  if (a.dilation != 1) text += ", dilation = " + std::to_string(a.dilation);
  if (!(a.pad_before == Size(0))) text += ", pad = " + names_.size(a.pad_before);
  if (a.input_dilation != 1) text += ", input_dilation = " + std::to_string(a.input_dilation);
  return text;
}

std::string NodePrinter::segment(const Node& node, AxisSpeller& axes) const {
  const SegmentAttr& a = node.as<SegmentAttr>();
  const Size runs = graph_.axis(a.offsets).size - Size(1);
  std::string text;
  if (node.op == Op::SegmentIndex) {
    text = axes.with_size(a.segments, runs) + " -> ";
    text += axes.with_size(a.rows);
  } else {
    text = axes.known(a.rows) + " -> ";
    text += axes.with_size(a.segments, runs);
  }
  if (graph_[node.args.back()].axes.size() != 1) text += " by " + axes.known(a.offsets);
  return text;
}

}  // namespace kw::ir::text
