#include "understand/export/agreement.h"

#include "ir/canonical.h"
#include "ir/simplify/simplify.h"
#include "understand/torch/promotion.h"

namespace kw::understand {
namespace {

using ir::Size;

Size hinted(const ir::Graph& graph, const Size& size) {
  auto value = graph.hinted(size);
  return value ? Size(*value) : size;
}

ir::Attr with_hints(const ir::Graph& graph, ir::Attr attr) {
  if (auto* size = std::get_if<ir::SizeAttr>(&attr)) size->size = hinted(graph, size->size);
  if (auto* slice = std::get_if<ir::SliceAttr>(&attr)) slice->start = hinted(graph, slice->start);
  if (auto* window = std::get_if<ir::WindowAttr>(&attr)) window->pad_before = hinted(graph, window->pad_before);
  return attr;
}

// A scalar is rounded to the type of what it is compared with; a constant that every type holds needs no cast. Where
// the other operand has that type anyway, the cast of such a constant goes.
std::vector<ir::NodeId> without_exact_casts(const ir::GraphBuilder& builder, std::vector<ir::NodeId> args) {
  if (args.size() != 2) return args;
  for (size_t i = 0; i < 2; ++i) {
    const ir::Node& cast = builder[args[i]];
    if (cast.op != ir::Op::Cast || builder[args[1 - i]].type != cast.type || !cast.type.floating()) continue;
    const ir::Node& source = builder[cast.args[0]];
    if (source.op == ir::Op::Const && exact_in_every_float(source.as<ir::Literal>().number())) args[i] = cast.args[0];
  }
  return args;
}

bool is_fixed_scalar(const ir::Input& input) {
  return input.kind == ir::InputKind::Scalar && input.default_value && input.name != "seed";
}

}  // namespace

ir::Graph at_own_configuration(const ir::Graph& original) {
  ir::Graph graph = ir::bind_types(original);
  ir::Graph start;
  start.name = graph.name;
  start.symbols = graph.symbols;
  for (const ir::Axis& axis : graph.axes) start.axes.push_back({axis.name, hinted(graph, axis.size)});
  ir::GraphBuilder builder(std::move(start));
  std::vector<ir::NodeId> image(graph.nodes.size(), ir::kNoNode);
  for (const ir::Input& input : graph.inputs) {
    ir::NodeId node =
        is_fixed_scalar(input) ? builder.make(ir::Op::Const, {}, *input.default_value) : builder.input(input);
    if (input.node != ir::kNoNode) image[static_cast<size_t>(input.node)] = node;
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const ir::Node& node = graph.nodes[i];
    if (node.op == ir::Op::Input) continue;
    std::vector<ir::NodeId> args;
    for (ir::NodeId arg : node.args) args.push_back(image[static_cast<size_t>(arg)]);
    if (ir::info(node.op).kind == ir::OpKind::Pointwise) args = without_exact_casts(builder, std::move(args));
    image[i] = builder.make(node.op, std::move(args), with_hints(graph, node.attr));
  }
  for (const ir::Output& output : graph.outputs) {
    ir::Output copy = output;
    copy.node = image[static_cast<size_t>(output.node)];
    builder.output(std::move(copy));
  }
  ir::Graph out = std::move(builder).finish();
  return out;
}

std::string difference_between(const ir::Graph& a, const ir::Graph& b) {
  std::string difference;
  ir::Graph left = ir::simplify(at_own_configuration(a)), right = ir::simplify(at_own_configuration(b));
  if (ir::equivalent(left, right, &difference)) return {};
  return difference.empty() ? "the graphs differ" : difference;
}

}  // namespace kw::understand
