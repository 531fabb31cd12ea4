#include "ir/derivative/known_means.h"

#include <algorithm>
#include <map>
#include <vector>

namespace kw::ir {
namespace {

class KnownMeans {
 public:
  KnownMeans(const Graph& joint, int forward_outputs)
      : joint_(joint), builder_(joint), uses_(joint.nodes.size()), forward_(joint.nodes.size()) {
    for (const Node& node : joint.nodes)
      for (NodeId arg : node.args) ++uses_[static_cast<size_t>(arg)];
    for (size_t i = 0; i < joint.outputs.size(); ++i) {
      ++uses_[static_cast<size_t>(joint.outputs[i].node)];
      if (i < static_cast<size_t>(forward_outputs)) forward_[static_cast<size_t>(joint.outputs[i].node)] = true;
    }
    for (size_t i = joint.nodes.size(); i-- > 0;)
      if (forward_[i])
        for (NodeId arg : joint.nodes[i].args) forward_[static_cast<size_t>(arg)] = true;
  }

  Graph run() && {
    for (size_t i = 0; i < joint_.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      const Node& node = joint_[id];
      const NodeId sum = forward_[i] ? kNoNode : sum_of_itself(node);
      std::vector<NodeId> args;
      for (NodeId arg : node.args) args.push_back(now(arg));
      builder_.set_origin(joint_.origins[i]);
      if (sum != kNoNode && is_centred(node.args[0], joint_[sum].as<AxisList>().axes)) {
        now_[id] = args[0];
        continue;
      }
      if (sum != kNoNode) args[1] = without_centred(node.args[1], sum);
      if (args == node.args) continue;
      now_[id] = builder_.make(node.op, args, node.attr);
      if (const auto name = joint_.names.find(id); name != joint_.names.end())
        builder_.set_name(now_[id], name->second);
    }
    for (Output& output : builder_.graph().outputs) output.node = now(output.node);
    return std::move(builder_).finish();
  }

 private:
  NodeId now(NodeId id) const {
    const auto found = now_.find(id);
    return found == now_.end() ? id : found->second;
  }
  bool is_one_along(NodeId v, const std::vector<AxisId>& axes) const {
    return std::none_of(joint_[v].axes.begin(), joint_[v].axes.end(),
                        [&](AxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); });
  }
  bool is_mean(NodeId m, NodeId of, const std::vector<AxisId>& axes) const {
    const Node& node = joint_[m];
    if (node.op == Op::Div) {  // as derivatives write it
      Size count = Size(1);
      for (AxisId axis : axes) count = count * joint_.axis(axis).size;
      const Node &sum = joint_[node.args[0]], &size = joint_[node.args[1]];
      return size.op == Op::SizeOf && size.as<SizeAttr>().size == count && sum.op == Op::Sum && sum.args[0] == of &&
             sum.as<AxisList>().axes == axes;
    }
    return node.op == Op::Mean && node.args[0] == of && node.as<AxisList>().axes == axes;
  }
  // Whether a value's sum over the axes is zero but for roundings: of no narrower type than sums are taken in.
  bool is_centred(NodeId v, const std::vector<AxisId>& axes) const {
    const Node& node = joint_[v];
    if (!node.type.floating() || opmath(node.type) != node.type) return false;
    switch (node.op) {
      case Op::Sub:
        if (is_mean(node.args[1], node.args[0], axes)) return true;
        [[fallthrough]];
      case Op::Add:
        return is_centred(node.args[0], axes) && is_centred(node.args[1], axes);
      case Op::Neg:
        return is_centred(node.args[0], axes);
      case Op::Mul:
        if (is_one_along(node.args[0], axes)) return is_centred(node.args[1], axes);
        [[fallthrough]];
      case Op::Div:
        return is_one_along(node.args[1], axes) && is_centred(node.args[0], axes);
      default:
        return false;
    }
  }

  // For v - m, where m is the mean of v, or the sum of v by something, and for nothing else: that sum.
  NodeId sum_of_itself(const Node& node) const {
    if (node.op != Op::Sub || opmath(node.type) != node.type || joint_[node.args[0]].type != node.type) return kNoNode;
    NodeId sum = node.args[1];
    const auto alone = [&] { return uses_[static_cast<size_t>(sum)] == 1; };
    while ((joint_[sum].op == Op::Div || joint_[sum].op == Op::Mul) && alone()) sum = joint_[sum].args[0];
    const bool is_sum = joint_[sum].op == Op::Sum || joint_[sum].op == Op::Mean;
    return is_sum && alone() && joint_[sum].args[0] == node.args[0] ? sum : kNoNode;
  }
  // m, where the sum below it leaves out the terms whose own is zero.
  NodeId without_centred(NodeId m, NodeId sum) {
    const Node& node = joint_[m];
    if (m != sum) return builder_.make(node.op, {without_centred(node.args[0], sum), now(node.args[1])}, node.attr);
    const std::vector<AxisId>& axes = node.as<AxisList>().axes;
    const Node& terms = joint_[node.args[0]];
    if (terms.op == Op::Add)
      for (size_t i : {0, 1})
        if (is_centred(terms.args[i], axes)) return builder_.reduce(node.op, now(terms.args[1 - i]), axes);
    return now(m);
  }

  const Graph& joint_;
  GraphBuilder builder_;
  std::map<NodeId, NodeId> now_;  // what stands in a node's place
  std::vector<int> uses_;
  std::vector<bool> forward_;
};

}  // namespace

Graph without_known_means(const Graph& joint, int forward_outputs) { return KnownMeans(joint, forward_outputs).run(); }

}  // namespace kw::ir
