#include "schedule/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "base/result.h"
#include "base/text.h"
#include "ir/text/display_names.h"
#include "schedule/layout.h"

namespace kw::schedule {
namespace {

using ir::AxisId;
using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Op;
using ir::OpKind;
using Axes = std::vector<AxisId>;

std::string axes_text(const Graph& graph, const Axes& axes) {
  std::vector<std::string> names;
  const ir::text::DisplayNames display(graph);
  for (const AxisId axis : axes) names.push_back(display.axes[static_cast<std::size_t>(axis)]);
  return join(names, ", ");
}

Axes reduced_axes(const Node& node) {
  if (const auto* list = std::get_if<ir::AxisList>(&node.attr)) return list->axes;
  if (const auto* combine = std::get_if<ir::CombineAttr>(&node.attr)) return {combine->axis};
  return {};
}

// What the rules ask about a pass, gathered once.
struct Facts {
  explicit Facts(const Graph& g) : graph(g), order(memory_order(g)) {
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      const Node& node = g.nodes[i];
      const NodeId id = static_cast<NodeId>(i);
      switch (ir::info(node.op).kind) {
        case OpKind::Reduction:
          if (!drops_unit_axes(g, node)) reductions.push_back(id);
          break;
        case OpKind::Scan:
          scans.push_back(id);
          break;
        case OpKind::Order:
          orders.push_back(id);
          break;
        case OpKind::Contraction:
          contractions.push_back(id);
          break;
        case OpKind::Indexed:
          if (!reads_by_number(g, node) && !scatters_apart(g, node))
            (node.op == Op::Gather ? gathers : node.op == Op::Fold ? windows : scatters).push_back(id);
          break;
        case OpKind::View:
          if (node.op == Op::Window) windows.push_back(id);
          break;
        default:
          break;
      }
    }
    for (const NodeId id : reductions)
      if (goes_back(id)) waited_for.insert(id);
  }

  NodeId first(std::initializer_list<const std::vector<NodeId>*> lists) const {
    NodeId found = ir::kNoNode;
    for (const auto* list : lists)
      if (!list->empty() && (found == ir::kNoNode || (*list)[0] < found)) found = (*list)[0];
    return found;
  }
  const Axes& operand_order(NodeId node) const { return order[static_cast<std::size_t>(graph[node].args[0])]; }
  // Nothing that has the summed axes waits for its result: a sum that can ride along with another family.
  bool rides_along(NodeId node) const { return !waited_for.contains(node); }

  bool goes_back(NodeId reduction) const {
    const Axes axes = reduced_axes(graph[reduction]);
    std::vector<bool> behind(graph.nodes.size(), false);
    behind[static_cast<std::size_t>(reduction)] = true;
    for (std::size_t i = static_cast<std::size_t>(reduction) + 1; i < graph.nodes.size(); ++i) {
      for (const NodeId arg : graph.nodes[i].args)
        if (behind[static_cast<std::size_t>(arg)]) behind[i] = true;
      if (!behind[i]) continue;
      for (const AxisId axis : graph.nodes[i].axes)
        if (std::find(axes.begin(), axes.end(), axis) != axes.end()) return true;
    }
    return false;
  }

  const Graph& graph;
  std::vector<Axes> order;
  std::set<NodeId> waited_for;
  std::vector<NodeId> reductions, scans, orders, contractions, gathers, scatters, windows;
};

Service no(NodeId at, std::string because) { return {false, std::move(because), at, {}, 0}; }
Service yes(NodeId at, std::string because, Axes over = {}, int stages = 0) {
  return {true, std::move(because), at, std::move(over), stages};
}

std::string op_name(const Graph& graph, NodeId node) { return std::string(ir::info(graph[node].op).name); }

// The longest chain of reductions, each waiting for the one before, among those that `counts`.
int chain_of(const Graph& graph, const std::function<bool(NodeId)>& counts) {
  std::vector<int> depth(graph.nodes.size(), 0);
  int longest = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const NodeId arg : graph.nodes[i].args) depth[i] = std::max(depth[i], depth[static_cast<std::size_t>(arg)]);
    if (counts(static_cast<NodeId>(i))) ++depth[i];
    longest = std::max(longest, depth[i]);
  }
  return longest;
}

int stages_over(const Facts& facts, const Axes& axes) {
  return chain_of(facts.graph, [&](NodeId id) {
    const Node& node = facts.graph[id];
    return ir::info(node.op).kind == OpKind::Reduction && !drops_unit_axes(facts.graph, node) &&
           reduced_axes(node) == axes;
  });
}

// A gathered load is a load, as long as the table is an input of the pass.
std::optional<Service> refuses_beyond_reductions(const Facts& facts) {
  const NodeId other = facts.first({&facts.scans, &facts.orders, &facts.contractions, &facts.scatters, &facts.windows});
  if (other != ir::kNoNode) return no(other, fmt::format("{} is more than a reduction", op_name(facts.graph, other)));
  return std::nullopt;
}

Service pointwise(const Facts& facts) {
  if (auto refusal = refuses_beyond_reductions(facts)) return *refusal;
  if (!facts.reductions.empty())
    return no(facts.reductions[0], fmt::format("{} joins elements", op_name(facts.graph, facts.reductions[0])));
  return yes(ir::kNoNode, "every element is computed by itself");
}

Service row(const Facts& facts) {
  if (auto refusal = refuses_beyond_reductions(facts)) return *refusal;
  if (facts.reductions.empty()) return no(ir::kNoNode, "there is no reduction");
  Axes over;
  NodeId first = ir::kNoNode;
  for (const NodeId id : facts.reductions) {
    const Axes axes = reduced_axes(facts.graph[id]);
    if (!is_innermost(facts.operand_order(id), axes) || facts.graph[id].axes.empty()) {
      if (facts.rides_along(id)) continue;
      return no(id, fmt::format("{} over {} is not along contiguous memory, and the pass waits for it",
                                op_name(facts.graph, id), axes_text(facts.graph, axes)));
    }
    if (over.empty()) {
      over = axes;
      first = id;
    } else if (over != axes) {
      if (facts.rides_along(id)) continue;
      return no(id, fmt::format("one reduction runs over {}, another over {}", axes_text(facts.graph, over),
                                axes_text(facts.graph, axes)));
    }
  }
  if (over.empty()) return no(facts.reductions[0], "no reduction runs along contiguous memory");
  const int stages = stages_over(facts, over);
  return yes(first,
             fmt::format("{} {} over {}, contiguous in memory{}", stages,
                         stages == 1 ? "reduction" : "dependent reductions", axes_text(facts.graph, over),
                         facts.reductions.size() > static_cast<std::size_t>(stages) ? "; other sums ride along" : ""),
             over, stages);
}

Service column(const Facts& facts) {
  if (auto refusal = refuses_beyond_reductions(facts)) return *refusal;
  if (facts.reductions.empty()) return no(ir::kNoNode, "there is no reduction");
  Axes over;
  Axes riding;
  NodeId first = ir::kNoNode;
  for (const NodeId id : facts.reductions) {
    const Axes axes = reduced_axes(facts.graph[id]);
    if (facts.rides_along(id)) {
      if (riding.empty() && !facts.graph[id].axes.empty()) riding = axes;
      continue;
    }
    if (over.empty()) {
      over = axes;
      first = id;
    } else if (axes != over) {
      return no(id, fmt::format("one reduction runs over {}, another over {}, and the pass waits for both",
                                axes_text(facts.graph, over), axes_text(facts.graph, axes)));
    }
  }
  if (over.empty()) over = riding;
  if (over.empty()) return no(facts.reductions[0], "reductions to a single number leave no columns");
  return yes(first == ir::kNoNode ? facts.reductions[0] : first,
             fmt::format("sums over {}, in two deterministic stages", axes_text(facts.graph, over)), over,
             stages_over(facts, over));
}

Service whole(const Facts& facts) {
  if (auto refusal = refuses_beyond_reductions(facts)) return *refusal;
  NodeId total = ir::kNoNode;
  for (const NodeId id : facts.reductions)
    if (facts.graph[id].axes.empty()) total = id;
  if (total == ir::kNoNode) return no(ir::kNoNode, "nothing is reduced to a single number");
  const NodeId result = facts.graph.outputs.empty() ? ir::kNoNode : facts.graph.outputs[0].node;
  if (result == ir::kNoNode || !facts.graph[result].axes.empty())
    return no(result, "the result is not a single number");
  Axes over;
  for (const NodeId id : facts.reductions) {
    const Axes axes = reduced_axes(facts.graph[id]);
    if (!facts.graph[id].axes.empty() && !is_innermost(facts.operand_order(id), axes))
      return no(id, fmt::format("{} over {} is not along contiguous memory", op_name(facts.graph, id),
                                axes_text(facts.graph, axes)));
    for (const AxisId axis : axes)
      if (std::find(over.begin(), over.end(), axis) == over.end()) over.push_back(axis);
  }
  std::sort(over.begin(), over.end());
  const int stages = chain_of(facts.graph, [&](NodeId id) {
    return std::find(facts.reductions.begin(), facts.reductions.end(), id) != facts.reductions.end();
  });
  return yes(total, "everything is reduced to a single number", over, stages);
}

Service scan(const Facts& facts) {
  if (facts.scans.empty()) return no(ir::kNoNode, "there is no scan");
  const NodeId other = facts.first({&facts.orders, &facts.contractions, &facts.scatters, &facts.windows});
  if (other != ir::kNoNode) return no(other, fmt::format("{} is more than a scan", op_name(facts.graph, other)));
  const auto axis_of = [&](NodeId id) -> AxisId {
    if (const auto* attr = std::get_if<ir::ScanAttr>(&facts.graph[id].attr)) return attr->axis;
    return facts.graph[id].as<ir::CombineAttr>().axis;
  };
  const AxisId axis = axis_of(facts.scans[0]);
  for (const NodeId id : facts.scans)
    if (axis_of(id) != axis) return no(id, "two scans run along different axes");
  for (const NodeId id : facts.reductions)
    if (reduced_axes(facts.graph[id]) != Axes{axis} && !facts.rides_along(id))
      return no(id, "a reduction runs along another axis than the scan");
  return yes(facts.scans[0], fmt::format("every scan runs along {}", axes_text(facts.graph, {axis})), {axis},
             static_cast<int>(facts.scans.size()));
}

Service segment(const Facts& facts) {
  if (facts.scatters.empty()) return no(ir::kNoNode, "there are no segments and no scattered sums");
  const NodeId other = facts.first({&facts.scans, &facts.orders, &facts.contractions, &facts.windows});
  if (other != ir::kNoNode)
    return no(other, fmt::format("{} is more than a sum over segments", op_name(facts.graph, other)));
  Axes over;
  for (const NodeId id : facts.scatters) {
    const Node& node = facts.graph[id];
    if (node.op == Op::ScatterSet) return no(id, "scatter_set needs an order among equal indices");
    if (const auto* attr = std::get_if<ir::SegmentAttr>(&node.attr)) over.push_back(attr->rows);
    if (node.op == Op::ScatterAdd) over.push_back(node.as<ir::AxisList>().axes[0]);
  }
  for (const NodeId id : facts.reductions)
    if (!is_innermost(facts.operand_order(id), reduced_axes(facts.graph[id])) && !facts.rides_along(id))
      return no(id, "a reduction is not along contiguous memory, and the pass waits for it");
  std::sort(over.begin(), over.end());
  over.erase(std::unique(over.begin(), over.end()), over.end());
  return yes(facts.scatters[0], "rows are summed by runs of one segment or one index", over, 1);
}

Service window(const Facts& facts) {
  if (facts.windows.empty()) return no(ir::kNoNode, "there are no windows");
  const NodeId other = facts.first({&facts.scans, &facts.orders, &facts.scatters});
  if (other != ir::kNoNode) return no(other, fmt::format("{} is more than a window", op_name(facts.graph, other)));
  Axes over;
  for (const NodeId id : facts.windows) over.push_back(facts.graph[id].as<ir::WindowAttr>().axis);
  std::sort(over.begin(), over.end());
  over.erase(std::unique(over.begin(), over.end()), over.end());
  return yes(facts.windows[0], fmt::format("windows slide along {}", axes_text(facts.graph, over)), over,
             static_cast<int>(facts.reductions.size() + facts.contractions.size()));
}

Service contraction(const Facts& facts) {
  if (facts.contractions.empty()) return no(ir::kNoNode, "there is no sum of products");
  const NodeId other = facts.first({&facts.scans, &facts.orders, &facts.scatters, &facts.windows});
  if (other != ir::kNoNode)
    return no(other, fmt::format("{} does not fit into a prologue or epilogue", op_name(facts.graph, other)));
  // One contraction, or two with a row-wise middle (attention), is a skeleton; what reduces beside them must fit
  // between.
  const int chain = chain_of(facts.graph, [&](NodeId id) { return facts.graph[id].op == Op::Contract; });
  if (chain > 2) return no(facts.contractions.back(), "more than two sums of products wait for each other");
  Axes over = facts.graph[facts.contractions[0]].as<ir::AxisList>().axes;
  return yes(facts.contractions[0], fmt::format("the work is a sum of products over {}", axes_text(facts.graph, over)),
             over, chain);
}

Service composed(const Facts&) { return yes(ir::kNoNode, "any pass can be cut into steps that other families serve"); }

struct FamilyRow {
  Family family;
  std::string_view name;
  Service (*serve)(const Facts&);
};

constexpr std::array<FamilyRow, kFamilyCount> kFamilies = {{
    {Family::Pointwise, "pointwise", pointwise},
    {Family::Row, "row", row},
    {Family::Column, "column", column},
    {Family::Whole, "whole", whole},
    {Family::Scan, "scan", scan},
    {Family::Segment, "segment", segment},
    {Family::Window, "window", window},
    {Family::Contraction, "contraction", contraction},
    {Family::Composed, "composed", composed},
}};

constexpr bool rows_stand_in_order() {
  for (std::size_t i = 0; i < kFamilies.size(); ++i)
    if (kFamilies[i].family != static_cast<Family>(i)) return false;
  return true;
}
static_assert(rows_stand_in_order(), "a family is the index of its row");

// A loss is one even where its inner reductions run along rows; everything else takes the simplest that serves.
constexpr std::array<Family, kFamilyCount> kPreference = {Family::Pointwise, Family::Whole,       Family::Row,
                                                          Family::Column,    Family::Scan,        Family::Segment,
                                                          Family::Window,    Family::Contraction, Family::Composed};

}  // namespace

std::string_view to_text(Family family) { return kFamilies[static_cast<std::size_t>(family)].name; }

std::optional<Family> family_from_text(std::string_view text) {
  for (const FamilyRow& row : kFamilies)
    if (row.name == text) return row.family;
  return std::nullopt;
}

Service may_serve(Family family, const Graph& pass) {
  return kFamilies[static_cast<std::size_t>(family)].serve(Facts(pass));
}

std::vector<Choice> choices(const Graph& pass) {
  const Facts facts(pass);
  std::vector<Choice> serving;
  for (const Family family : kPreference)
    if (Service service = kFamilies[static_cast<std::size_t>(family)].serve(facts); service.serves)
      serving.push_back({family, std::move(service)});
  return serving;
}

}  // namespace kw::schedule
