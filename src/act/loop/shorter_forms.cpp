#include "act/loop/shorter_forms.h"

#include <vector>

#include "ir/simplify/simplify.h"

namespace kw::act {
namespace {

// A narrow type would round what a wide one multiplies and adds at once.
bool is_wide(const ir::Graph& graph, ir::NodeId node) { return graph[node].type == ir::opmath(graph[node].type); }

// Half of a value times one more than another (every gelu has it): the half goes to where a machine multiplies and adds
// at once.
constexpr ir::Rule kRules[] = {
    {"half-times-one-more", "mul(mul(0.5, x), add(1, y))", "mul(x, add(0.5, mul(0.5, y)))", is_wide},
};

bool is_number(const ir::Graph& graph, ir::NodeId id, double number) {
  return graph[id].op == ir::Op::Const && graph[id].as<ir::Literal>().number() == number;
}

// Whether someone else wants the sum with one, which then is computed beside its half.
bool shares_one_more(const ir::Graph& graph) {
  std::vector<int> uses(graph.nodes.size());
  for (const ir::Node& node : graph.nodes)
    for (ir::NodeId arg : node.args) ++uses[static_cast<size_t>(arg)];
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const ir::Node& node = graph.nodes[i];
    if (node.op == ir::Op::Add && uses[i] > 1 &&
        (is_number(graph, node.args[0], 1) || is_number(graph, node.args[1], 1)))
      return true;
  }
  return false;
}

}  // namespace

ir::Graph in_shorter_forms(const ir::Graph& graph) {
  return shares_one_more(graph) ? graph : ir::rewrite(graph, kRules);
}

}  // namespace kw::act
