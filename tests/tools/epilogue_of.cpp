// What an op does after its last matrix products and convolutions, as math text: each of their results becomes an
// input.
//
//   epilogue_of FILE.py[:NAME]
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "ir/simplify/simplify.h"
#include "ir/text/print.h"
#include "understand/python/read.h"

namespace {

using namespace kw;

std::vector<bool> used_by_outputs(const ir::Graph& graph) {
  std::vector<bool> used(graph.nodes.size(), false);
  for (const ir::Output& output : graph.outputs) used[static_cast<size_t>(output.node)] = true;
  for (size_t i = used.size(); i-- > 0;)
    if (used[i])
      for (ir::NodeId arg : graph.nodes[i].args) used[static_cast<size_t>(arg)] = true;
  return used;
}

// Products, and the sums by which a transposed convolution puts its products in place.
bool is_cut(ir::Op op) { return op == ir::Op::Contract || op == ir::Op::Fold; }

// The axes as a caller would have them: in the order of the result, the others behind.
std::vector<ir::AxisId> in_order(const std::vector<ir::AxisId>& axes, const std::vector<ir::AxisId>& model) {
  std::vector<ir::AxisId> out;
  for (const std::vector<ir::AxisId>& from : {model, axes})
    for (ir::AxisId axis : from)
      if (std::find(axes.begin(), axes.end(), axis) != axes.end() &&
          std::find(out.begin(), out.end(), axis) == out.end())
        out.push_back(axis);
  return out;
}

// A product comes in the type of the op's tensors, as PyTorch's own does.
ir::Type tensor_type(const ir::Graph& graph, ir::Type wide) {
  for (size_t i = 0; i < graph.type_parameters.size(); ++i)
    if (graph.type_parameters[i].name == "T") return ir::Type::parameter(static_cast<int>(i));
  return wide;
}

ir::Graph epilogue(ir::Graph graph) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    ir::Node& node = graph.nodes[i];
    if (!is_cut(node.op)) continue;
    ir::Input input;
    input.name = "product_" + std::to_string(i);
    input.type = node.type = tensor_type(graph, node.type);
    input.dims = in_order(node.axes, graph.outputs[0].dims);
    input.node = static_cast<ir::NodeId>(i);
    node.op = ir::Op::Input;
    node.args.clear();
    node.attr = ir::InputRef{static_cast<int32_t>(graph.inputs.size())};
    graph.inputs.push_back(std::move(input));
  }
  // An update of a buffer is no part of what follows the product alone; what nothing uses is no input.
  std::erase_if(graph.outputs, [](const ir::Output& output) { return output.updates.has_value(); });
  const std::vector<bool> used = used_by_outputs(graph);
  std::vector<ir::Input> inputs;
  for (ir::Input& input : graph.inputs) {
    if (!used[static_cast<size_t>(input.node)]) continue;
    graph.nodes[static_cast<size_t>(input.node)].attr = ir::InputRef{static_cast<int32_t>(inputs.size())};
    inputs.push_back(std::move(input));
  }
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i]) graph.nodes[i] = {ir::Op::Const, ir::DType::Real, {}, {}, ir::Literal{0.0}};
  graph.inputs = std::move(inputs);
  return ir::simplify(graph);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: epilogue_of FILE.py[:NAME]\n", stderr);
    return 2;
  }
  understand::ReadRequest request;
  request.path = argv[1];
  if (const size_t colon = request.path.rfind(".py:"); colon != std::string::npos) {
    request.name = request.path.substr(colon + 4);
    request.path.resize(colon + 3);
  }
  auto read = understand::read_python(request);
  if (!read) {
    std::fputs(render(read.error()).c_str(), stderr);
    return 2;
  }
  std::cout << ir::text::print(epilogue(read->graph));
}
