#include "ir/derivative/known_means.h"

#include <algorithm>

#include "ir/derivative/rewriting.h"

namespace kw::ir {
namespace {

struct Zero {  // zero times a factor, or by it
  Op op;
  NodeId factor;
};

class KnownMeans final : public Rewriting {
 public:
  KnownMeans(const Graph& joint, int forward_outputs)
      : Rewriting(joint), uses_(joint.nodes.size()), forward_(joint.nodes.size()) {
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

 private:
  std::optional<NodeId> replaced(NodeId id) override {
    const Node& node = joint_[id];
    const NodeId sum = forward_[static_cast<size_t>(id)] ? kNoNode : sum_of_itself(node);
    if (sum == kNoNode) return std::nullopt;
    const auto mean = shorter_mean(node.args[1], sum);
    if (!mean) return std::nullopt;
    return *mean == kNoNode ? now(node.args[0]) : builder_.make(node.op, {now(node.args[0]), *mean}, node.attr);
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
  // Whether a value's sum over the axes is zero but for roundings: of no narrower type than sums are taken in. Adds to
  // `zeros` what is zero where its factors are finite, and else no number.
  bool is_centred(NodeId v, const std::vector<AxisId>& axes, std::vector<Zero>& zeros) const {
    const Node& node = joint_[v];
    if (!node.type.floating() || opmath(node.type) != node.type) return false;
    switch (node.op) {
      case Op::Sub:
        if (is_mean(node.args[1], node.args[0], axes)) return true;
        [[fallthrough]];
      case Op::Add:
        return is_centred(node.args[0], axes, zeros) && is_centred(node.args[1], axes, zeros);
      case Op::Neg:
        return is_centred(node.args[0], axes, zeros);
      case Op::Mul:
      case Op::Div: {
        const size_t factor = node.op == Op::Mul && is_one_along(node.args[0], axes) ? 0 : 1;
        if (!is_one_along(node.args[factor], axes)) return false;
        if (joint_[node.args[factor]].op != Op::Const) zeros.push_back({node.op, node.args[factor]});
        return is_centred(node.args[1 - factor], axes, zeros);
      }
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
  // m, where the sum below it leaves out the terms whose own is zero; kNoNode where nothing is left.
  std::optional<NodeId> shorter_mean(NodeId m, NodeId sum) {
    const std::vector<AxisId>& axes = joint_[sum].as<AxisList>().axes;
    const NodeId all = joint_[sum].args[0];
    std::vector<Zero> zeros;
    if (is_centred(all, axes, zeros)) return with_zeros(kNoNode, zeros);
    if (joint_[all].op == Op::Add)
      for (size_t i : {0, 1}) {
        zeros.clear();
        if (is_centred(joint_[all].args[i], axes, zeros))
          return with_zeros(scaled(m, sum, builder_.reduce(joint_[sum].op, now(joint_[all].args[1 - i]), axes)), zeros);
      }
    return std::nullopt;
  }
  NodeId scaled(NodeId m, NodeId sum, NodeId shorter) {
    if (m == sum) return shorter;
    const Node& node = joint_[m];
    return builder_.make(node.op, {scaled(node.args[0], sum, shorter), now(node.args[1])}, node.attr);
  }
  NodeId with_zeros(NodeId mean, const std::vector<Zero>& zeros) {
    for (const Zero& zero : zeros) {
      const NodeId one = builder_.make(zero.op, {builder_.constant(0), now(zero.factor)});
      mean = mean == kNoNode ? one : builder_.make(Op::Add, {mean, one});
    }
    return mean;
  }

  std::vector<int> uses_;
  std::vector<bool> forward_;
};

}  // namespace

Graph without_known_means(const Graph& joint, int forward_outputs) { return KnownMeans(joint, forward_outputs).run(); }

}  // namespace kw::ir
