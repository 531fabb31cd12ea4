#include "ir/text/print.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "ir/infer.h"
#include "ir/text/print_node.h"
#include "ir/text/print_plan.h"

namespace kw::ir::text {
namespace {

constexpr size_t kLineWidth = 100;
constexpr size_t kWidestAlignedName = 12;

size_t width(std::string_view text) { return code_points(text).size(); }

// Items after `start`, broken over several lines where one would be too long. An item brings its own comma.
std::string flowed(const std::string& start, const std::vector<std::string>& items, const std::string& end) {
  const std::string margin(std::min<size_t>(width(start), 24), ' ');
  std::string text = start;
  size_t column = width(start);
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 == items.size() ? end : "");
    const bool first = i == 0;
    if (!first && column + 1 + width(item) > kLineWidth) {
      text += "\n" + margin + item;
      column = width(margin) + width(item);
    } else {
      text += (first ? "" : " ") + item;
      column += (first ? 0 : 1) + width(item);
    }
  }
  return items.empty() ? text + end : text;
}

class BlockPrinter {
 public:
  explicit BlockPrinter(const Graph& graph)
      : graph_(graph),
        names_(graph),
        combines_(graph),
        printer_(graph, names_, combines_),
        plain_axes_(graph, names_, false),
        axes_(graph, names_, true),
        plan_(graph, printer_, plain_axes_, names_) {}

  // `first_word` is "op" or "combine"; `ending` follows the closing bracket of the inputs.
  std::string block(const std::string& first_word, const std::string& ending, int columns) {
    const std::string head = std::string(static_cast<size_t>(columns), ' ');
    std::string text =
        flowed(head + first_word + " " + quoted_if_needed(graph_.name) + "(", inputs(), ")" + ending) + "\n";
    std::vector<std::string> facts;
    if (!names_.types.empty()) facts.push_back(types());
    if (std::string line = sizes(); !line.empty()) facts.push_back(std::move(line));
    if (!graph_.constraints.empty()) facts.push_back(constraints());
    for (const std::string& fact : facts) text += indent(fact, columns + 2) + "\n";
    // In the order of the text: where an axis first appears, it states its size.
    std::string lines = values(columns + 2);
    lines += flowed(head + "return ", outputs(), "") + "\n";
    for (const CombineNames::Entry* entry : used_combines_) text += combine(*entry, columns + 2);
    return text + lines;
  }

  std::vector<ValueLine> lines() {
    inputs();  // the axes of the interface are known to the lines below it
    return value_lines();
  }

  std::string value(NodeId node) {
    if (plan_.has_line(node)) return compose(node, plain_axes_).text;
    return piece(node, plain_axes_).text;
  }

 private:
  Piece piece(NodeId node, AxisSpeller& axes) {
    return plan_.has_line(node) ? Piece{plan_.line_name(node)} : compose(node, axes);
  }

  Piece compose(NodeId node, AxisSpeller& axes) {
    std::vector<Piece> args;
    for (NodeId arg : graph_[node].args) args.push_back(piece(arg, axes));
    if (const auto* attr = std::get_if<CombineAttr>(&graph_[node].attr)) {
      const CombineNames::Entry* entry = &combines_.entry(*attr);
      if (std::find(used_combines_.begin(), used_combines_.end(), entry) == used_combines_.end()) {
        used_combines_.push_back(entry);
      }
    }
    return printer_.compose(node, args, axes);
  }

  std::string dims(const std::vector<AxisId>& dims) {
    std::vector<std::string> parts;
    for (AxisId axis : dims) {
      if (axis == kUnit) {
        parts.emplace_back("1");
        continue;
      }
      // A bare axis has the size symbol of its own name.
      const Size& size = graph_.axis(axis).size;
      const bool bare = names_.size(size) == names_.axes[static_cast<size_t>(axis)];
      parts.push_back(axes_.with_size(axis, bare ? std::optional(size) : std::nullopt));
    }
    return "[" + join(parts, ", ") + "]";
  }

  std::vector<std::string> inputs() {
    // Scalars at the end stand after a semicolon; one before a tensor says what it is.
    size_t tensors = graph_.inputs.size();
    while (tensors > 0 && graph_.inputs[tensors - 1].kind == InputKind::Scalar) --tensors;
    std::vector<std::string> items;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) items.push_back(input(i, i >= tensors));
    for (size_t i = 0; i + 1 < items.size(); ++i) items[i] += i + 1 == tensors ? ";" : ",";
    if (tensors == 0 && !items.empty()) items.front() = "; " + items.front();
    return items;
  }

  std::string input(size_t index, bool after_semicolon) {
    constexpr DType kByLiteral[] = {DType::Bool, DType::Int, DType::Real};
    const Input& input = graph_.inputs[index];
    std::string text = names_.inputs[index];
    const bool scalar = input.kind == InputKind::Scalar;
    const bool type_follows = input.default_value && input.type == Type(kByLiteral[input.default_value->value.index()]);
    if (!after_semicolon || !type_follows) {
      text += ": ";
      if (!after_semicolon && scalar) text += "scalar ";
      if (input.kind == InputKind::Parameter) text += "parameter ";
      if (input.kind == InputKind::Buffer) text += "buffer ";
      const bool usually = input.kind != InputKind::Buffer;
      if (!scalar && input.type.floating() && input.differentiable != usually)
        text += usually ? "no_grad " : "with_grad ";
      text += names_.type(input.type);
      if (!input.dims.empty()) text += dims(input.dims);
    }
    if (input.default_value) text += " = " + literal_text(*input.default_value);
    return text;
  }

  std::string types() const {
    std::vector<std::string> parts;
    for (size_t i = 0; i < names_.types.size(); ++i) {
      parts.push_back(names_.types[i] + " = " + std::string(info(graph_.type_parameters[i].default_dtype).name));
    }
    return "types " + join(parts, ", ");
  }

  std::set<SymbolId> used_symbols() const {
    std::set<SymbolId> used;
    const auto use = [&used](const Size& size) {
      for (SymbolId symbol : size.symbols()) used.insert(symbol);
    };
    const auto use_axes = [&](const std::vector<AxisId>& axes) {
      for (AxisId axis : axes) {
        if (axis != kUnit) use(graph_.axis(axis).size);
      }
    };
    for (const Input& input : graph_.inputs) use_axes(input.dims);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!plan_.is_live(static_cast<NodeId>(i))) continue;
      const Node& node = graph_.nodes[i];
      use_axes(mentioned_axes(node.attr));
      if (const auto* size = std::get_if<SizeAttr>(&node.attr)) use(size->size);
      if (const auto* slice = std::get_if<SliceAttr>(&node.attr)) use(slice->start);
      if (const auto* window = std::get_if<WindowAttr>(&node.attr)) use(window->pad_before);
    }
    for (const SizeConstraint& constraint : graph_.constraints) {
      use(constraint.left);
      use(constraint.right);
    }
    return used;
  }

  // The line is needed for sizes that the user gave, for symbols that no input brings, and to keep their order.
  std::string sizes() const {
    std::vector<SymbolId> brought;
    for (const Input& input : graph_.inputs) {
      for (AxisId axis : input.dims) {
        const std::optional<SymbolId> symbol = axis == kUnit ? std::nullopt : graph_.axis(axis).size.as_symbol();
        if (symbol && std::find(brought.begin(), brought.end(), *symbol) == brought.end()) brought.push_back(*symbol);
      }
    }
    const std::set<SymbolId> used = used_symbols();
    bool needed = !std::equal(used.begin(), used.end(), brought.begin(), brought.end());
    std::vector<std::string> parts;
    for (SymbolId symbol : used) {
      const std::optional<int64_t> hint = graph_.symbols[static_cast<size_t>(symbol)].hint;
      needed = needed || hint;
      parts.push_back(names_.symbols[static_cast<size_t>(symbol)] + (hint ? " = " + std::to_string(*hint) : ""));
    }
    return needed ? "sizes " + join(parts, ", ") : "";
  }

  std::string constraints() const {
    std::vector<std::string> parts;
    for (const SizeConstraint& constraint : graph_.constraints) {
      const std::string left = names_.size(constraint.left), right = names_.size(constraint.right);
      if (constraint.kind == SizeConstraint::Kind::Equal) {
        parts.push_back(left + " == " + right);
        continue;
      }
      const auto wrapped = [](const Size& size, const std::string& text) {
        return size.as_symbol() || (size.constant() && *size.constant() >= 0) ? text : "(" + text + ")";
      };
      parts.push_back(wrapped(constraint.left, left) + " % " + wrapped(constraint.right, right) + " == 0");
    }
    return "where " + join(parts, ", ");
  }

  std::string combine(const CombineNames::Entry& entry, int columns) const {
    std::vector<std::string> neutral;
    for (double value : entry.combine->identity) {
      const std::string text = literal_text(Literal{value});
      neutral.push_back(text.ends_with(".0") ? text.substr(0, text.size() - 2) : text);
    }
    Graph body = *entry.combine->body;
    body.name = entry.name;
    return BlockPrinter(body).block("combine", " from (" + join(neutral, ", ") + ")", columns);
  }

  std::string values(int columns) {
    const std::vector<ValueLine> lines = value_lines();
    size_t aligned = 0;
    for (const ValueLine& line : lines) {
      const size_t length = width(line.name);
      if (length <= kWidestAlignedName) aligned = std::max(aligned, length);
    }
    std::string text;
    for (const ValueLine& line : lines) {
      const size_t length = width(line.name);
      text += std::string(static_cast<size_t>(columns), ' ') + line.name;
      if (length < aligned) text += std::string(aligned - length, ' ');
      text += " = " + line.value + "\n";
    }
    return text;
  }

  std::vector<ValueLine> value_lines() {
    std::vector<ValueLine> lines;
    for (NodeId node : plan_.lines()) lines.push_back({node, plan_.line_name(node), compose(node, axes_).text});
    return lines;
  }

  std::vector<std::string> outputs() {
    UniqueNames names;
    std::vector<std::string> items;
    for (const Output& output : graph_.outputs) {
      const std::string name = names.claim(output.name);
      const std::string value = piece(output.node, axes_).text;
      std::string item = value == name ? value : name + " = " + value;
      if (output.dims != axes_.ordered(graph_[output.node].axes)) item += dims(output.dims);
      if (output.updates) item += " updates " + quoted_if_needed(*output.updates);
      items.push_back(std::move(item));
    }
    for (size_t i = 0; i + 1 < items.size(); ++i) items[i] += ",";
    return items;
  }

  const Graph& graph_;
  DisplayNames names_;
  CombineNames combines_;
  NodePrinter printer_;
  AxisSpeller plain_axes_;
  AxisSpeller axes_;
  PrintPlan plan_;
  std::vector<const CombineNames::Entry*> used_combines_;  // in the order of the lines
};

}  // namespace

std::string print(const Graph& graph) { return BlockPrinter(graph).block("op", "", 0); }

std::vector<ValueLine> value_lines(const Graph& graph) { return BlockPrinter(graph).lines(); }

std::string value_text(const Graph& graph, NodeId node) { return BlockPrinter(graph).value(node); }

std::string type_text(const Graph& graph, Type type) { return DisplayNames(graph).type(type); }

}  // namespace kw::ir::text
