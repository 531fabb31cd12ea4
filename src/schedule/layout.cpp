#include "schedule/layout.h"

#include <algorithm>

namespace kw::schedule {
namespace {

using ir::AxisId;
using ir::Node;
using ir::Op;
using Order = std::vector<AxisId>;

bool has(const Order& order, AxisId axis) { return std::find(order.begin(), order.end(), axis) != order.end(); }

void replace(Order& order, AxisId from, const Order& to) {
  const auto at = std::find(order.begin(), order.end(), from);
  if (at == order.end()) return;
  const auto next = order.erase(at);
  order.insert(next, to.begin(), to.end());
}

// The order of the widest operand; axes that only others have come in front, as a broadcast would put them.
Order of_operands(const ir::Graph& graph, const Node& node, const std::vector<Order>& orders) {
  Order order;
  for (const ir::NodeId arg : node.args)
    if (graph[arg].axes.size() > order.size()) order = orders[static_cast<std::size_t>(arg)];
  for (const ir::NodeId arg : node.args) {
    Order missing;
    for (const AxisId axis : orders[static_cast<std::size_t>(arg)])
      if (!has(order, axis)) missing.push_back(axis);
    order.insert(order.begin(), missing.begin(), missing.end());
  }
  return order;
}

// What a view does to the order of its operand.
void view(const Node& node, Order& order) {
  if (const auto* split = std::get_if<ir::SplitAttr>(&node.attr)) {
    if (node.op == Op::Split) {
      replace(order, split->whole, {split->outer, split->inner});
    } else {
      replace(order, split->outer, {split->whole});
      std::erase(order, split->inner);
    }
  } else if (const auto* slice = std::get_if<ir::SliceAttr>(&node.attr)) {
    replace(order, slice->from, {slice->to});
  } else if (const auto* concat = std::get_if<ir::ConcatAttr>(&node.attr)) {
    for (const AxisId from : concat->from) replace(order, from, has(order, concat->to) ? Order{} : Order{concat->to});
  } else if (const auto* rename = std::get_if<ir::RenameAttr>(&node.attr)) {
    for (AxisId& axis : order)
      for (const auto& [from, to] : rename->pairs)
        if (axis == from) {
          axis = to;
          break;
        }
  } else if (const auto* window = std::get_if<ir::WindowAttr>(&node.attr)) {
    if (node.op == Op::Window) {
      replace(order, window->axis, {window->out, window->tap});
    } else {
      replace(order, window->out, {window->axis});
      std::erase(order, window->tap);
    }
  } else if (const auto* top = std::get_if<ir::TopKAttr>(&node.attr)) {
    replace(order, top->axis, {top->to});
  }
}

}  // namespace

std::vector<Order> memory_order(const ir::Graph& graph) {
  std::vector<Order> orders(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    Order order;
    if (node.op == Op::Input) {
      for (const AxisId axis : graph.inputs[static_cast<std::size_t>(node.as<ir::InputRef>().index)].dims)
        if (axis != ir::kUnit) order.push_back(axis);
    } else {
      order = of_operands(graph, node, orders);
      view(node, order);
    }
    // Whatever is left to say: exactly the node's axes, new ones in front.
    std::erase_if(order, [&](AxisId axis) { return !has(node.axes, axis); });
    for (const AxisId axis : node.axes)
      if (!has(order, axis)) order.insert(order.begin(), axis);
    orders[i] = std::move(order);
  }
  return orders;
}

bool is_innermost(const Order& order, const Order& axes) {
  if (axes.size() > order.size()) return false;
  for (std::size_t i = order.size() - axes.size(); i < order.size(); ++i)
    if (!has(axes, order[i])) return false;
  return true;
}

bool drops_unit_axes(const ir::Graph& graph, const Node& node) {
  const auto* list = std::get_if<ir::AxisList>(&node.attr);
  if (ir::info(node.op).kind != ir::OpKind::Reduction || !list) return false;
  return std::all_of(list->axes.begin(), list->axes.end(),
                     [&](AxisId axis) { return graph.axis(axis).size.constant() == 1; });
}

bool reads_by_number(const ir::Graph& graph, const Node& node) {
  if (node.op != Op::Gather) return false;
  const Node* index = &graph[node.args[1]];
  while (index->op == Op::Cast) index = &graph[index->args[0]];
  return index->op == Op::Const || index->op == Op::SizeOf;
}

bool scatters_apart(const ir::Graph& graph, const Node& node) {
  if (node.op != Op::ScatterAdd && node.op != Op::ScatterSet) return false;
  const AxisId indexed = node.as<ir::AxisList>().axes[0];
  for (const ir::NodeId arg : {node.args[1], node.args[2]})
    for (const AxisId axis : graph[arg].axes)
      if (axis == indexed || !has(node.axes, axis)) return false;
  return true;
}

}  // namespace kw::schedule
