#include "verify/brink.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "verify/cases.h"

namespace kw::verify {
namespace {

using ir::DType;

// The tensors that a value depends on, the cotangents first: it is proportional to these.
std::vector<std::string> tensors_below(const ir::Graph& graph, const ir::Graph& forward, ir::NodeId value) {
  std::set<ir::NodeId> below = {value};
  for (auto id = value; id >= 0; --id)
    if (below.contains(id)) below.insert(graph[id].args.begin(), graph[id].args.end());
  std::vector<std::string> names;
  for (const ir::Input& input : graph.inputs)
    if (below.contains(input.node) && input.type.floating() && input.kind != ir::InputKind::Scalar)
      names.push_back(input.name);
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return forward.find_input(name) == nullptr; });
  return names;
}

bool is_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

std::vector<ir::NodeId> brinks(const Subject& subject, const kernel::TypeBinding& types) {
  const ir::Graph graph = ir::bind_types(subject.math(), types);
  std::vector<ir::NodeId> found;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const ir::Node& node = graph.nodes[i];
    if (!node.type.floating() || node.type.weak() || node.op == ir::Op::Input || node.args.empty()) continue;
    const DType type = node.type.bind({}), wide = ir::opmath(type);
    const bool moved = node.op == ir::Op::Neg || node.op == ir::Op::Abs || ir::info(node.op).kind == ir::OpKind::View;
    if (!moved && 2 * ir::info(type).max_finite < ir::info(wide).max_finite)
      found.push_back(static_cast<ir::NodeId>(i));
  }
  return found;
}

Status to_the_brink(const Subject& subject, const kernel::TypeBinding& types, ir::NodeId value,
                    ir::Environment& values) {
  ir::Graph graph = ir::bind_types(subject.math(), types);
  const std::vector<std::string> tensors = tensors_below(graph, subject.forward, value);
  if (tensors.empty()) return {};
  graph.outputs = {{"value", value, graph[value].axes, std::nullopt}};
  const ir::Input& input = *graph.find_input(tensors.front());
  const std::vector<double> own = values.inputs.at(input.name).values;
  const DType type = input.type.bind({});
  const auto scaled = [&](int power) {
    std::vector<double> out = own;
    for (double& v : out) v = ir::round_to(type, std::ldexp(v, power));
    return out;
  };
  const auto stays = [&](int power) -> Result<bool> {
    ir::Environment call = part_for(graph, values);
    call.inputs.at(input.name).values = scaled(power);
    KW_TRY(const std::vector<ir::Array> out, ir::interpret(graph, call, {.semantics = ir::Semantics::Rounded}));
    return is_finite(out[0].values);
  };
  int inside = 0, outside = 0;
  while (is_finite(scaled(outside + 1))) ++outside;
  KW_TRY(const bool begins_inside, stays(inside));
  KW_TRY(const bool ends_inside, stays(outside));
  if (!begins_inside || ends_inside) return {};
  while (outside - inside > 1) {
    const int middle = (inside + outside) / 2;
    KW_TRY(const bool in, stays(middle));
    (in ? inside : outside) = middle;
  }
  values.inputs.at(input.name).values = scaled(outside);
  return {};
}

}  // namespace kw::verify
