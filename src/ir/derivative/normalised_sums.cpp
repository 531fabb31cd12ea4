#include "ir/derivative/normalised_sums.h"

#include "ir/derivative/rewriting.h"

namespace kw::ir {
namespace {

class NormalisedSums final : public Rewriting {
 public:
  explicit NormalisedSums(const Graph& joint) : Rewriting(joint) {
    for (size_t i = 0; i < joint.nodes.size(); ++i) {
      const Node& node = joint.nodes[i];
      if (!is_exact_product(node)) continue;
      for (size_t a : {0, 1})
        if (joint[node.args[1 - a]].op == Op::Rsqrt)
          normalised_.emplace(std::pair(node.args[a], node.args[1 - a]), static_cast<NodeId>(i));
    }
  }

 private:
  // A product that nothing rounds to a type narrower than sums are taken in.
  static bool is_exact_product(const Node& node) {
    return node.op == Op::Mul && node.type.floating() && opmath(node.type) == node.type;
  }
  bool is_square(NodeId v, NodeId of) const {
    return is_exact_product(joint_[v]) && joint_[v].args[0] == of && joint_[v].args[1] == of;
  }

  // k*sum(d*a) * (r*r*r), as the derivative of rsqrt writes it.
  std::optional<NodeId> replaced(NodeId id) override {
    const Node& node = joint_[id];
    if (!is_exact_product(node) || !is_exact_product(joint_[node.args[1]])) return std::nullopt;
    const NodeId square = joint_[node.args[1]].args[0], r = joint_[node.args[1]].args[1];
    if (joint_[r].op != Op::Rsqrt || !is_square(square, r)) return std::nullopt;
    const Node& scaled = joint_[node.args[0]];
    if (!is_exact_product(scaled) || joint_[scaled.args[0]].op != Op::Const) return std::nullopt;
    const Node &sum = joint_[scaled.args[1]], &product = joint_[sum.args.empty() ? r : sum.args[0]];
    if (sum.op != Op::Sum || !is_exact_product(product)) return std::nullopt;
    const std::vector<AxisId>& axes = sum.as<AxisList>().axes;
    if (!is_one_along(r, axes)) return std::nullopt;
    for (size_t a : {1, 0}) {
      const auto n = normalised_.find({product.args[a], r});
      if (n == normalised_.end() || joint_[n->second].type != product.type) continue;
      std::vector<NodeId> factors = product.args;
      factors[a] = n->second;
      for (NodeId& factor : factors) factor = now(factor);
      const NodeId shorter = builder_.reduce(Op::Sum, builder_.make(Op::Mul, factors), axes);
      return builder_.make(Op::Mul, {builder_.make(Op::Mul, {now(scaled.args[0]), shorter}), now(square)});
    }
    return std::nullopt;
  }

  std::map<std::pair<NodeId, NodeId>, NodeId> normalised_;  // a*r, by a and r
};

}  // namespace

Graph with_normalised_sums(const Graph& joint) { return NormalisedSums(joint).run(); }

}  // namespace kw::ir
