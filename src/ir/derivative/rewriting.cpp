#include "ir/derivative/rewriting.h"

#include <algorithm>

namespace kw::ir {

Graph Rewriting::run() && {
  for (size_t i = 0; i < joint_.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    const Node& node = joint_[id];
    builder_.set_origin(joint_.origins[i]);
    std::vector<NodeId> args = node.args;
    for (NodeId& arg : args) arg = now(arg);
    if (const auto other = replaced(id))
      now_[id] = *other;
    else if (args != node.args)
      now_[id] = builder_.make(node.op, args, node.attr);
    else
      continue;
    if (const auto name = joint_.names.find(id); name != joint_.names.end()) builder_.set_name(now_[id], name->second);
  }
  for (Output& output : builder_.graph().outputs) output.node = now(output.node);
  return std::move(builder_).finish();
}

NodeId Rewriting::now(NodeId id) const {
  const auto found = now_.find(id);
  return found == now_.end() ? id : found->second;
}

bool Rewriting::is_one_along(NodeId v, const std::vector<AxisId>& axes) const {
  return std::none_of(joint_[v].axes.begin(), joint_[v].axes.end(),
                      [&](AxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); });
}

}  // namespace kw::ir
