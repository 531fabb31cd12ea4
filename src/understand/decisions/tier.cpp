#include "understand/decisions/tier.h"

#include <fmt/format.h>

#include "understand/decisions/deciders.h"

namespace kw::understand {
namespace {

int tier_of_node(const GraphView& view, ir::NodeId node) {
  using ir::Op;
  using ir::OpKind;
  const Op op = view.graph[node].op;
  switch (ir::info(op).kind) {
    case OpKind::Leaf:
      return op == Op::Iota || op == Op::Random ? 3 : 1;
    case OpKind::Pointwise:
      return 1;
    case OpKind::View:
      return view.is_view(node) ? 1 : 3;
    case OpKind::Reduction:
      return view.is_reduction(node) ? 2 : 1;
    default:
      return view.is_view(node) ? 1 : 3;
  }
}

}  // namespace

Tier tier_of(const GraphView& view) {
  Tier tier;
  for (std::size_t i = 0; i < view.graph.nodes.size(); ++i) {
    const int needed = tier_of_node(view, static_cast<ir::NodeId>(i));
    if (needed > tier.tier) tier = {needed, static_cast<ir::NodeId>(i)};
  }
  return tier;
}

Status decide_tier(Subject& subject) {
  const Tier tier = tier_of(subject.view);
  subject.profile.tier = tier.tier;
  std::string because = "the math is element-wise: pointwise operations and views alone";
  if (tier.tier == 2)
    because = fmt::format("'{}' joins elements ({}); everything else is element-wise",
                          ir::info(subject.math.forward[tier.at].op).name, subject.describe(tier.at));
  if (tier.tier == 3)
    because = fmt::format("'{}' is neither element-wise nor a view nor a reduction",
                          ir::info(subject.math.forward[tier.at].op).name);
  subject.record(
      {"tier",
       std::to_string(tier.tier),
       because,
       subject.at(tier.at),
       {},
       "the patterns of another tier are applied: files that cannot compute this op, or more of them than it needs"});
  return {};
}

}  // namespace kw::understand
