#include "understand/reference/example_inputs.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace kw::understand::reference {
namespace {

using ir::AxisId;
using ir::DType;
using ir::Graph;
using ir::Input;
using ir::InputKind;
using ir::kUnit;
using ir::Node;
using ir::NodeId;
using ir::Op;
using ir::OpKind;

constexpr int64_t kSizeWithoutHint = 8;

struct IntegerUse {
  AxisId indexed = kUnit;  // it picks elements along this axis
  AxisId cut = kUnit;      // it gives the offsets that cut this axis into runs
};

// What an integer input is for, followed through pointwise ops.
IntegerUse use_of(const Graph& graph, NodeId input) {
  std::vector<bool> reached(graph.nodes.size());
  reached[static_cast<size_t>(input)] = true;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    for (size_t k = 0; k < node.args.size(); ++k) {
      if (!reached[static_cast<size_t>(node.args[k])]) continue;
      if ((node.op == Op::Gather || node.op == Op::ScatterAdd || node.op == Op::ScatterSet) && k == 1)
        return {node.as<ir::AxisList>().axes[0], kUnit};
      if (const auto* segment = std::get_if<ir::SegmentAttr>(&node.attr); segment && k + 1 == node.args.size())
        return {kUnit, segment->rows};
      OpKind kind = info(node.op).kind;
      if (kind == OpKind::Pointwise || kind == OpKind::View) reached[i] = true;
    }
  }
  return {};
}

class Inputs {
 public:
  explicit Inputs(const Body& body) : body_(body), graph_(body.graph) {}

  std::string size(const ir::Size& size) {
    for (ir::SymbolId symbol : size.symbols()) used_.insert(symbol);
    return size.text([this](ir::SymbolId symbol) { return body_.symbol_name(symbol); });
  }

  std::string tensor(const Input& input) {
    std::string shape;
    for (AxisId a : input.dims) shape += (a == kUnit ? "1" : size(graph_.axis(a).size)) + ", ";
    if (!shape.empty()) shape.resize(shape.size() - (input.dims.size() == 1 ? 1 : 2));
    shape = "(" + shape + ")";
    std::vector<DType> defaults;
    for (const ir::TypeParameter& parameter : graph_.type_parameters) defaults.push_back(parameter.default_dtype);
    DType dtype = input.type.bind(defaults);
    std::string torch_type = "torch." + std::string(info(dtype).torch_name);
    if (dtype == DType::Bool) return "torch.rand(" + shape + ") < 0.5";
    if (is_floating(dtype))
      return "torch.randn(" + shape + ")" + (dtype == DType::F32 ? "" : ".to(" + torch_type + ")");
    IntegerUse use = use_of(graph_, input.node);
    std::string end = use.indexed == kUnit ? "8" : size(graph_.axis(use.indexed).size);
    if (use.cut != kUnit && input.dims.size() == 1)
      return "torch.linspace(0, " + size(graph_.axis(use.cut).size) + ", " + size(graph_.axis(input.dims[0]).size) +
             ").to(" + torch_type + ")";
    return "torch.randint(0, " + end + ", " + shape + (dtype == DType::I64 ? ")" : ", dtype=" + torch_type + ")");
  }

  // "rows, cols = 4096, 1024"
  std::string sizes() const {
    std::vector<std::string> names, values;
    for (ir::SymbolId symbol : used_) {
      names.push_back(body_.symbol_name(symbol));
      values.push_back(std::to_string(graph_.symbols[static_cast<size_t>(symbol)].hint.value_or(kSizeWithoutHint)));
    }
    return names.empty() ? "" : join(names, ", ") + " = " + join(values, ", ");
  }

 private:
  const Body& body_;
  const Graph& graph_;
  std::set<ir::SymbolId> used_;
};

}  // namespace

std::string example_inputs_function(const Body& body) {
  const Graph& graph = body.graph;
  Inputs inputs(body);
  std::vector<std::string> lines, names;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Input& input = graph.inputs[i];
    if (input.default_value) continue;
    const std::string& name = body.names().arguments[i];
    names.push_back(name);
    if (input.kind == InputKind::Scalar)
      lines.push_back(name + " = " + (input.type.boolean() ? "True" : input.type.integer() ? "1" : "1.0"));
    else
      lines.push_back(name + " = " + inputs.tensor(input));
  }
  std::string text = "def example_inputs():\n    torch.manual_seed(0)\n";
  if (std::string sizes = inputs.sizes(); !sizes.empty()) text += "    " + sizes + "\n";
  for (const std::string& line : lines) text += "    " + line + "\n";
  return text + "    return (" + join(names, ", ") + (names.size() == 1 ? ",)" : ")") + "\n";
}

}  // namespace kw::understand::reference
