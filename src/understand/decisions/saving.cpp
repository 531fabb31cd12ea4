#include "understand/decisions/saving.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "profile/format.h"
#include "understand/decisions/deciders.h"

namespace kw::understand {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::Op;
using Candidates = std::map<std::string, ir::SavedValue>;

// Nodes that the backward brings: those that a cotangent reaches.
std::vector<bool> backward_nodes(const Graph& joint) {
  std::vector<bool> behind(joint.nodes.size(), false);
  for (const ir::Input& input : joint.inputs)
    if (input.name.starts_with("d_")) behind[static_cast<std::size_t>(input.node)] = true;
  for (std::size_t i = 0; i < joint.nodes.size(); ++i)
    for (const NodeId arg : joint.nodes[i].args)
      if (behind[static_cast<std::size_t>(arg)]) behind[i] = true;
  return behind;
}

bool is_tensor_input(const Graph& joint, NodeId node) {
  if (joint[node].op != Op::Input) return false;
  return joint.inputs[static_cast<std::size_t>(joint[node].as<ir::InputRef>().index)].kind != ir::InputKind::Scalar;
}

// Everything of the forward that can be saved, by the name that a person sees.
Candidates candidates(const Graph& joint, const ir::Partition& cheapest) {
  const std::vector<bool> behind = backward_nodes(joint);
  Candidates found;
  const auto add = [&](const std::string& name, NodeId node, ir::SavedAs as) {
    found.emplace(name, ir::SavedValue{node, as, ir::bytes_of(joint, node), name});
  };
  for (const ir::SavedValue& saved : cheapest.saved) found.emplace(saved.name, saved);
  for (const ir::Input& input : joint.inputs)
    if (!behind[static_cast<std::size_t>(input.node)] && is_tensor_input(joint, input.node))
      add(input.name, input.node, ir::SavedAs::Input);
  for (int i = 0; i < cheapest.forward_output_count; ++i) {
    const ir::Output& output = joint.outputs[static_cast<std::size_t>(i)];
    if (joint[output.node].op != Op::Input) add(output.name, output.node, ir::SavedAs::Output);
  }
  std::set<NodeId> taken;
  for (const auto& [_, saved] : found) taken.insert(saved.node);
  for (const auto& [node, name] : joint.names)
    if (!behind[static_cast<std::size_t>(node)] && !taken.contains(node) && joint[node].op != Op::Input)
      add(name, node, ir::SavedAs::Intermediate);
  return found;
}

// What the way from the gradients down to what is saved meets.
struct Need {
  std::set<NodeId> recomputed;
  std::set<NodeId> used;     // of what is saved
  std::set<NodeId> missing;  // inputs that are needed and not saved
};

Need needed(const Graph& joint, int forward_outputs, const std::set<NodeId>& saved) {
  const std::vector<bool> behind = backward_nodes(joint);
  Need need;
  std::set<NodeId> seen;
  std::vector<NodeId> pending;
  for (std::size_t i = static_cast<std::size_t>(forward_outputs); i < joint.outputs.size(); ++i)
    pending.push_back(joint.outputs[i].node);
  while (!pending.empty()) {
    const NodeId node = pending.back();
    pending.pop_back();
    if (!seen.insert(node).second) continue;
    if (saved.contains(node)) {
      need.used.insert(node);
      continue;
    }
    const bool forward = !behind[static_cast<std::size_t>(node)];
    if (forward && is_tensor_input(joint, node)) need.missing.insert(node);
    if (forward && !joint[node].args.empty() && !joint[node].type.weak()) need.recomputed.insert(node);
    for (const NodeId arg : joint[node].args) pending.push_back(arg);
  }
  return need;
}

ir::Partition made_of(const ir::Partition& cheapest, const Candidates& known, const Need& need) {
  ir::Partition partition;
  partition.forward_output_count = cheapest.forward_output_count;
  partition.moved_bytes = 0;
  for (const NodeId node : need.used) {
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.second.node == node; });
    const ir::SavedValue& saved = found->second;
    partition.saved.push_back(saved);
    partition.moved_bytes += saved.as == ir::SavedAs::Intermediate ? 2 * saved.bytes : saved.bytes;
  }
  partition.recomputed.assign(need.recomputed.begin(), need.recomputed.end());
  return partition;
}

}  // namespace

Result<ir::Partition> partition_saving(const Graph& joint, const ir::Partition& cheapest, const std::string& value) {
  const Candidates known = candidates(joint, cheapest);
  std::set<NodeId> saved;
  std::vector<std::string> names = {"inputs"};
  for (const auto& [name, _] : known) names.push_back(name);
  for (const std::string& part : split(value, ',')) {
    const std::string wanted(trim(part));
    if (wanted == "inputs") {
      for (const auto& [_, candidate] : known)
        if (candidate.as == ir::SavedAs::Input) saved.insert(candidate.node);
      continue;
    }
    const auto found = known.find(wanted);
    if (found == known.end() && wanted != "none")
      return bad_value("saved", wanted, "values of the forward: " + profile::all_of(names),
                       did_you_mean(wanted, names));
    if (found != known.end()) saved.insert(found->second.node);
  }
  const Need need = needed(joint, cheapest.forward_output_count, saved);
  if (!need.missing.empty()) {
    const NodeId first = *need.missing.begin();
    const std::string& input = joint.inputs[static_cast<std::size_t>(joint[first].as<ir::InputRef>().index)].name;
    return bad_value("saved", value, "enough to compute the backward from; it needs " + input,
                     "add " + input + " to the list");
  }
  return made_of(cheapest, known, need);
}

std::vector<std::string> saving_choices(const Derived& math) {
  // From the inputs everything can be computed again; it is another choice only where more is kept now.
  const bool keeps_more =
      std::any_of(math.partition.saved.begin(), math.partition.saved.end(),
                  [](const ir::SavedValue& saved) { return saved.as == ir::SavedAs::Intermediate; });
  return keeps_more ? std::vector<std::string>{"inputs"} : std::vector<std::string>{};
}

}  // namespace kw::understand
