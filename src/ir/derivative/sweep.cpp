#include "ir/derivative/sweep.h"

#include <algorithm>

#include "ir/derivative/adjoint.h"

namespace kw::ir {

Sweep::Sweep(GraphBuilder& builder, std::span<const NodeId> wanted, const std::map<Op, DerivativeRule>& override_rules)
    : builder_(builder),
      override_rules_(override_rules),
      forward_nodes_(static_cast<NodeId>(builder.graph().nodes.size())),
      active_(builder.graph().nodes.size()),
      cotangents_(builder.graph().nodes.size(), kNoNode) {
  for (NodeId node : wanted) active_[static_cast<size_t>(node)] = true;
  for (size_t i = 0; i < active_.size(); ++i) {
    const Node& node = builder_[static_cast<NodeId>(i)];
    if (node.op == Op::Div) quotients_.add(node.args[0], node.args[1], static_cast<NodeId>(i));
    if (node.op == Op::Mul) {
      products_.add(node.args[0], node.args[1], static_cast<NodeId>(i));
      products_.add(node.args[1], node.args[0], static_cast<NodeId>(i));
    }
    // Numbers that no wanted value reaches stay inactive; in the body of a combine every value may be a number.
    if (!node.type.floating() || !rule(node.op).vjp) continue;
    for (NodeId arg : node.args)
      if (active_[static_cast<size_t>(arg)]) active_[i] = true;
  }
  find_groups();
}

const DerivativeRule& Sweep::rule(Op op) const {
  auto planted = override_rules_.find(op);
  return planted == override_rules_.end() ? derivative_rule(op) : planted->second;
}

void Sweep::find_groups() {
  follows_.resize(active_.size());
  std::unordered_multimap<size_t, NodeId> leaders;
  for (size_t i = 0; i < active_.size(); ++i) {
    NodeId id = static_cast<NodeId>(i);
    const Node& node = builder_[id];
    if ((node.op != Op::Reduce && node.op != Op::Scan) || !active_[i]) continue;
    auto first_part = [](const Node& n) {
      CombineAttr attr = n.as<CombineAttr>();
      attr.part = 0;
      return Attr(attr);
    };
    Attr key = first_part(node);
    auto [first, last] = leaders.equal_range(hash_of(key));
    auto leader = std::find_if(first, last, [&](const auto& entry) {
      const Node& other = builder_[entry.second];
      return other.op == node.op && other.args == node.args && equal(first_part(other), key);
    });
    if (leader == last) {
      leaders.emplace(hash_of(key), id);
      groups_[id] = {id};
    } else {
      groups_[leader->second].push_back(id);
      follows_[i] = true;
    }
  }
}

std::vector<NodeId> Sweep::cotangents_of_parts(NodeId leader) const {
  const Combine& combine = *builder_[leader].as<CombineAttr>().combine;
  std::vector<NodeId> out(static_cast<size_t>(combine.arity()), kNoNode);
  for (NodeId part : groups_.at(leader))
    out[static_cast<size_t>(builder_[part].as<CombineAttr>().part)] = cotangent(part);
  return out;
}

void Sweep::seed(NodeId node, NodeId cotangent) {
  if (active(node)) accumulate(node, cotangent);
}

// c/s + e/s is (c + e)/s: one division instead of two, and the form in which softmax's derivative needs no exponential.
void Sweep::accumulate(NodeId node, NodeId contribution) {
  NodeId& total = cotangents_[static_cast<size_t>(node)];
  if (total == kNoNode) {
    total = contribution;
    return;
  }
  const Node& a = builder_[total];
  const Node& c = builder_[contribution];
  if (a.op == Op::Div && c.op == Op::Div && a.args[1] == c.args[1] && builder_[a.args[0]].type == a.type &&
      builder_[c.args[0]].type == c.type) {
    NodeId divisor = a.args[1];
    total = builder_.make(Op::Div, {builder_.make(Op::Add, {a.args[0], c.args[0]}), divisor});
    return;
  }
  total = builder_.make(Op::Add, {total, contribution});
}

Status Sweep::run() {
  for (NodeId id = forward_nodes_ - 1; id >= 0; --id) {
    size_t i = static_cast<size_t>(id);
    if (!active_[i] || follows_[i]) continue;
    Op op = builder_[id].op;
    if (op == Op::Input) continue;
    auto group = groups_.find(id);
    bool reached = group == groups_.end() ? cotangents_[i] != kNoNode
                                          : std::any_of(group->second.begin(), group->second.end(),
                                                        [&](NodeId part) { return cotangent(part) != kNoNode; });
    if (!reached) continue;
    builder_.set_origin(builder_.graph().origins[i]);
    Adjoint at(*this, id);
    KW_CHECK(rule(op).vjp(at));
  }
  return {};
}

}  // namespace kw::ir
