#include "act/loop/shorter_forms.h"

#include "ir/simplify/simplify.h"

namespace kw::act {
namespace {

// A narrow type would round what a wide one multiplies and adds at once.
bool is_wide(const ir::Graph& graph, ir::NodeId node) { return graph[node].type == ir::opmath(graph[node].type); }

// Half of a value and one more (every gelu has it): the half goes to where a machine multiplies and adds at once.
constexpr ir::Rule kRules[] = {
    {"half-times-one-more", "mul(mul(0.5, x), add(1, y))", "mul(x, add(0.5, mul(0.5, y)))", is_wide},
    {"one-more-halved", "mul(mul(x, add(1, y)), 0.5)", "mul(x, add(0.5, mul(0.5, y)))", is_wide},
};

}  // namespace

ir::Graph in_shorter_forms(const ir::Graph& graph) { return ir::rewrite(graph, kRules); }

}  // namespace kw::act
