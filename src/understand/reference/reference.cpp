#include "understand/reference/reference.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "understand/reference/body.h"
#include "understand/reference/example_inputs.h"
#include "understand/reference/local_functions.h"
#include "understand/reference/write_body.h"

namespace kw::understand {
namespace reference {
namespace {

using ir::Graph;
using ir::Input;
using ir::InputKind;

// "x: T[rows, cols]", as the text form writes it.
std::string described(const Body& body, size_t index) {
  const Input& input = body.graph.inputs[index];
  std::string type;
  for (size_t i = 0; i < body.graph.type_parameters.size(); ++i)
    if (input.type.params() & (1u << i)) type += (type.empty() ? "" : "|") + body.graph.type_parameters[i].name;
  if (input.type.floor() != ir::DType::None)
    type += (type.empty() ? "" : "|") + std::string(info(input.type.floor()).name);
  return body.names().arguments[index] + ": " + type + (input.dims.empty() ? "" : body.shape_comment(input.dims));
}

std::string signature(const Body& body) {
  const Graph& graph = body.graph;
  std::vector<std::string> required, optional, sizes;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::string& name = body.names().arguments[i];
    if (graph.inputs[i].default_value)
      optional.push_back(name + "=" + number_literal(*graph.inputs[i].default_value));
    else
      required.push_back(name);
  }
  for (ir::SymbolId symbol : body.size_arguments()) {
    std::optional<int64_t> hint = graph.symbols[static_cast<size_t>(symbol)].hint;
    sizes.push_back(body.symbol_name(symbol) + (hint ? "=" + std::to_string(*hint) : ""));
  }
  if (!sizes.empty()) optional.push_back("*");
  required.insert(required.end(), optional.begin(), optional.end());
  required.insert(required.end(), sizes.begin(), sizes.end());
  return "def " + body.names().function + "(" + join(required, ", ") + "):";
}

}  // namespace
}  // namespace reference

ReferenceNames reference_names(const ir::Graph& graph) { return reference::Body(graph).names(); }

Result<std::string> write_reference(const ir::Graph& graph) {
  using namespace reference;
  if (graph.outputs.empty()) return bad_input("the op " + graph.name + " has no output");
  Body body(graph);
  std::string result = write_nodes(body);

  std::string text =
      "\"\"\"" + graph.name + " in plain PyTorch, written from its math: run it, read it, differentiate it.\"\"\"\n\n";
  std::string functions;
  for (const std::string& function : functions_needed(body.locals())) {
    if (function.find("F.") != std::string::npos) body.use_functional();
    functions += "\n\n" + function;
  }
  if (body.uses_math()) text += "import math\n\n";
  text += "import torch\n";
  if (body.uses_functional()) text += "import torch.nn.functional as F\n";

  text += functions + "\n\n" + signature(body) + "\n";
  std::vector<std::string> inputs, outputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) inputs.push_back(described(body, i));
  for (const ir::Output& output : graph.outputs)
    outputs.push_back(output.name + (output.dims.empty() ? "" : body.shape_comment(output.dims)));
  std::string summary = "# " + join(inputs, ", ") + (inputs.empty() ? "" : " ") + "-> " + join(outputs, ", ");
  if (summary.size() > 100) summary = "# " + join(inputs, ",\n    # ") + "\n    # -> " + join(outputs, ", ");
  text += "    " + summary + "\n";
  for (const std::string& line : body.opening()) text += "    " + line + "\n";
  for (const std::string& line : body.lines()) text += line.empty() ? "\n" : "    " + line + "\n";
  text += "    return " + result + "\n";
  return text + "\n\n" + example_inputs_function(body);
}

}  // namespace kw::understand
