#include "ir/derivative/factor_order.h"

#include <algorithm>
#include <map>
#include <vector>

namespace kw::ir {
namespace {

class FactorOrder {
 public:
  FactorOrder(const Graph& joint, int forward_outputs)
      : joint_(joint), builder_(joint), uses_(joint.nodes.size()), forward_(joint.nodes.size()) {
    for (const Node& node : joint.nodes)
      for (NodeId arg : node.args) ++uses_[static_cast<size_t>(arg)];
    for (const Output& output : joint.outputs) ++uses_[static_cast<size_t>(output.node)];
    find_row();
    for (size_t i = 0; i < static_cast<size_t>(forward_outputs); ++i)
      forward_[static_cast<size_t>(joint.outputs[i].node)] = true;
    for (size_t i = joint.nodes.size(); i-- > 0;)
      if (forward_[i])
        for (NodeId arg : joint.nodes[i].args) forward_[static_cast<size_t>(arg)] = true;
  }

  enum class Pass { Views, Last, Together };

  Graph run(Pass pass) && {
    for (size_t i = 0; i < joint_.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      const Node& node = joint_[id];
      builder_.set_origin(joint_.origins[i]);
      std::vector<NodeId> args;
      for (NodeId arg : node.args) args.push_back(now(arg));
      if (pass == Pass::Last && !forward_[i] && node.op == Op::Sum)
        args[0] = in_order(node.args[0], node.as<AxisList>().axes);
      NodeId instead = kNoNode;
      if (pass == Pass::Views && !forward_[i]) instead = product_of_views(node);
      if (pass == Pass::Together && !forward_[i]) instead = with_common_together(id);
      if (instead == kNoNode && args == node.args) continue;
      now_[id] = instead != kNoNode ? instead : builder_.make(node.op, args, node.attr);
      if (const auto name = joint_.names.find(id); name != joint_.names.end())
        builder_.set_name(now_[id], name->second);
    }
    for (Output& output : builder_.graph().outputs) output.node = now(output.node);
    return std::move(builder_).finish();
  }

 private:
  // The axes that every sum has which goes along the innermost axis of the largest tensor.
  void find_row() {
    const Input* largest = nullptr;
    for (const Input& input : joint_.inputs)
      if (largest == nullptr || input.dims.size() > largest->dims.size()) largest = &input;
    if (largest == nullptr || largest->dims.empty()) return;
    bool first = true;
    for (const Node& node : joint_.nodes) {
      if (node.op != Op::Sum && node.op != Op::Mean) continue;
      const std::vector<AxisId>& axes = node.as<AxisList>().axes;
      const auto has = [&](AxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
      if (!has(largest->dims.back())) continue;
      if (first)
        row_ = axes;
      else
        std::erase_if(row_, [&](AxisId axis) { return !has(axis); });
      first = false;
    }
  }
  NodeId now(NodeId id) const {
    const auto found = now_.find(id);
    return found == now_.end() ? id : found->second;
  }
  bool is_product(NodeId v, Type type) const {
    const Node& node = joint_[v];
    return node.op == Op::Mul && node.type == type && type.floating() && opmath(type) == type;
  }
  // How many of the summed axes a value has.
  int64_t depth(NodeId v, const std::vector<AxisId>& axes) const {
    return std::count_if(joint_[v].axes.begin(), joint_[v].axes.end(),
                         [&](AxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); });
  }
  // Whether a product has a factor that is the same along an axis that it is not the same along itself.
  bool has_common(NodeId v, Type type, const std::vector<AxisId>& axes, int64_t most) const {
    if (!is_product(v, type)) return false;
    return std::any_of(joint_[v].args.begin(), joint_[v].args.end(), [&](NodeId operand) {
      return depth(operand, axes) < most || has_common(operand, type, axes, most);
    });
  }
  void collect(NodeId v, Type type, const std::vector<AxisId>& axes, int64_t most, std::vector<NodeId>& out) const {
    if (depth(v, axes) == most && has_common(v, type, axes, most))
      for (NodeId operand : joint_[v].args) collect(operand, type, axes, most, out);
    else
      out.push_back(v);
  }
  NodeId in_order(NodeId product, const std::vector<AxisId>& axes) {
    const Type type = joint_[product].type;
    const int64_t most = depth(product, axes);
    if (!has_common(product, type, axes, most)) return now(product);
    std::vector<NodeId> factors;
    collect(product, type, axes, most, factors);
    const auto varies_more = [&](NodeId a, NodeId b) { return depth(a, axes) > depth(b, axes); };
    std::stable_sort(factors.begin(), factors.end(), varies_more);
    const auto common = std::stable_partition(factors.begin(), factors.end(),
                                              [&](NodeId factor) { return row_.empty() || depth(factor, row_) > 0; });
    const NodeId all = multiplied({factors.begin(), common}, {common, factors.end()});
    // The axes of the whole product, each of which some factor has; its type is theirs, or wider: then it stays.
    return builder_[all].type == type ? all : now(product);
  }

  // Of the first factors, and those that come after them, together.
  NodeId multiplied(const std::vector<NodeId>& first, const std::vector<NodeId>& common) {
    const auto product = [&](const std::vector<NodeId>& factors) {
      NodeId all = now(factors[0]);
      for (size_t i = 1; i < factors.size(); ++i) all = builder_.make(Op::Mul, {all, now(factors[i])});
      return all;
    };
    if (first.empty() || common.empty()) return product(first.empty() ? common : first);
    return builder_.make(Op::Mul, {product(first), product(common)});
  }
  // A product that is split is one of what its factors become; kNoNode for anything else.
  NodeId product_of_views(const Node& view) {
    if (view.op != Op::Split || !is_product(view.args[0], view.type)) return kNoNode;
    const AxisId whole = view.as<SplitAttr>().whole;
    std::vector<NodeId> factors;
    for (NodeId factor : joint_[view.args[0]].args) {
      const std::vector<AxisId>& axes = joint_[factor].axes;
      const bool has = std::find(axes.begin(), axes.end(), whole) != axes.end();
      factors.push_back(has ? builder_.make(Op::Split, {now(factor)}, view.attr) : now(factor));
    }
    return builder_.make(Op::Mul, factors);
  }
  // A product whose row has several factors in common, these together; kNoNode where there are not several.
  NodeId with_common_together(NodeId product) {
    const Type type = joint_[product].type;
    if (!is_product(product, type) || depth(product, row_) == 0) return kNoNode;  // without a row too
    std::vector<NodeId> common, others;
    const auto visit = [&](auto&& self, NodeId v) -> void {
      if (depth(v, row_) == 0)
        common.push_back(v);
      else if (is_product(v, type) && (v == product || uses_[static_cast<size_t>(v)] == 1))
        for (NodeId operand : joint_[v].args) self(self, operand);
      else
        others.push_back(v);
    };
    visit(visit, product);
    if (common.size() < 2) return kNoNode;
    const NodeId all = multiplied(others, common);
    return builder_[all].type == type ? all : kNoNode;
  }

  const Graph& joint_;
  GraphBuilder builder_;
  std::map<NodeId, NodeId> now_;  // what stands in a node's place
  std::vector<int> uses_;
  std::vector<bool> forward_;
  std::vector<AxisId> row_;
};

}  // namespace

Graph with_common_factors_last(const Graph& joint, int forward_outputs) {
  // What a sum had of a product is its own then, and the product may be used once.
  const Graph views = FactorOrder(joint, forward_outputs).run(FactorOrder::Pass::Views);
  const Graph last = FactorOrder(views, forward_outputs).run(FactorOrder::Pass::Last);
  return FactorOrder(last, forward_outputs).run(FactorOrder::Pass::Together);
}

}  // namespace kw::ir
