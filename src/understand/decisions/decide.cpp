#include "understand/decisions/decide.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ir/derivative/joint.h"
#include "ir/simplify/simplify.h"
#include "ir/text/print.h"
#include "profile/decision.h"
#include "profile/format.h"
#include "understand/axis_names.h"
#include "understand/decisions/casting.h"
#include "understand/decisions/deciders.h"
#include "understand/decisions/memory_use.h"
#include "understand/decisions/saving.h"
#include "understand/decisions/widen.h"

namespace kw::understand {
namespace {

struct Decider {
  std::string_view name;
  Status (*decide)(Subject&);
};

constexpr std::array<Decider, 10> kDeciders = {{
    {"interface", decide_interface},
    {"names", decide_names},
    {"tier", decide_tier},
    {"closest", decide_closest},
    {"numerics", decide_numerics},
    {"memory", decide_memory},
    {"layouts", decide_layouts},
    {"plan", decide_plan},  // after numerics: atomic sums need leave to differ between runs
    {"shapes", decide_shapes},
    {"limits", decide_limits},
}};

Result<ir::Graph> apply_wider(const ir::Graph& forward, const std::string& value) {
  const std::vector<ir::NodeId> candidates = rounded_values(forward);
  std::vector<ir::NodeId> chosen;
  std::vector<std::string> known = {"all", "none"};
  for (const ir::NodeId node : candidates)
    if (const auto name = forward.names.find(node); name != forward.names.end()) known.push_back(name->second);
  for (const std::string& part : split(value, ',')) {
    const std::string wanted(trim(part));
    if (wanted == "none") continue;
    bool found = wanted == "all";
    for (const ir::NodeId node : candidates) {
      const auto name = forward.names.find(node);
      if (wanted == "all" || (name != forward.names.end() && name->second == wanted)) {
        chosen.push_back(node);
        found = true;
      }
    }
    if (!found)
      return bad_value("wider", wanted, "values that eager rounds: " + profile::any_of(known),
                       did_you_mean(wanted, known));
  }
  return chosen.empty() ? forward : widened(forward, chosen);
}

// A gradient can flow: from a floating tensor or parameter to a floating output.
bool is_differentiable(const ir::Graph& forward) {
  const GraphView view(forward);
  for (const ir::Output& output : forward.outputs) {
    if (!forward[output.node].type.floating() || output.updates) continue;
    for (const int index : view.inputs_of(output.node)) {
      const ir::Input& input = forward.inputs[static_cast<std::size_t>(index)];
      if (input.differentiable && input.type.floating() && input.kind != ir::InputKind::Buffer) return true;
    }
  }
  return false;
}

// An input that no gradient reaches, as one behind detach(), has none in PyTorch, not one of zeros.
ir::Graph without_unreached_gradients(ir::Graph graph) {
  std::vector<bool> reached(graph.nodes.size());
  for (const ir::Output& output : graph.outputs)
    if (!output.updates) reached[static_cast<std::size_t>(output.node)] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const ir::Node& node = graph.nodes[i];
    if (!reached[i] || !node.type.floating() || node.op == ir::Op::StopGradient) continue;
    for (const ir::NodeId arg : node.args) reached[static_cast<std::size_t>(arg)] = true;
  }
  for (ir::Input& input : graph.inputs)
    if (!reached[static_cast<std::size_t>(input.node)]) input.differentiable = false;
  return graph;
}

Result<Derived> derive(const ir::Graph& read, const Pins& pins) {
  Derived math;
  math.read = without_unreached_gradients(read);
  if (const auto pin = pins.find("casting"); pin != pins.end()) {
    if (pin->second != "llama" && pin->second != "gemma" && pin->second != "none")
      return bad_value("casting", pin->second, "llama, gemma or none");
    const ir::Graph simple = ir::simplify(math.read);
    if (!all_cast(GraphView(simple), pin->second)) {
      KW_TRY(math.read, recast(simple, pin->second));
      if (!all_cast(GraphView(ir::simplify(math.read)), pin->second))
        return fail(ErrorKind::BadInput,
                    "casting " + pin->second + " has no meaning here: no weight follows what is normalised",
                    "gemma computes it wide and rounds it once, none rounds every step");
    }
  }
  math.forward = ir::simplify(math.read);
  if (const auto pin = pins.find("wider"); pin != pins.end()) {
    KW_TRY(math.forward, apply_wider(math.forward, pin->second));
    math.forward = ir::simplify(math.forward);
  }
  math.differentiable = is_differentiable(math.forward);
  if (!math.differentiable) return math;
  const int results = static_cast<int>(math.forward.outputs.size());
  KW_TRY(math.joint, ir::joint_graph(math.forward));
  math.partition = ir::partition(math.joint, results);
  if (const auto pin = pins.find("saved"); pin != pins.end()) {
    KW_TRY(math.partition, partition_saving(math.joint, math.partition, pin->second));
  }
  math.forward_pass = ir::forward_with_saved(math.joint, math.partition);
  math.backward_pass = ir::backward_graph(math.joint, math.partition);
  math.backward_pass.name = math.forward.name + "_backward";
  return math;
}

void fill_math(const Derived& math, profile::Profile& profile) {
  profile.math.read = ir::text::print(math.read);
  profile.math.forward = ir::text::print(math.differentiable ? math.forward_pass : math.forward);
  if (math.differentiable) profile.math.backward = ir::text::print(math.backward_pass);
}

// The order of review, whatever the order of deciding.
void sort_decisions(profile::Profile& profile) {
  const std::vector<std::string> order = profile::expected_decisions(profile);
  const auto rank = [&](const profile::Decision& d) {
    return std::find(order.begin(), order.end(), d.id) - order.begin();
  };
  std::stable_sort(profile.decisions.begin(), profile.decisions.end(),
                   [&](const profile::Decision& a, const profile::Decision& b) { return rank(a) < rank(b); });
}

}  // namespace

Result<Derived> derive(const Reading& reading, const Pins& pins) {
  KW_TRY(Derived math, derive(reading.graph, pins));
  if (!reading.axes_are_named)
    for (ir::Graph* graph : {&math.read, &math.forward, &math.joint, &math.forward_pass, &math.backward_pass})
      name_axes(*graph);
  return math;
}

Result<profile::Profile> decide(const Reading& reading, const std::string& name, const profile::Source& source,
                                const Pins& pins) {
  KW_TRY(const Derived math, derive(reading, pins));
  profile::Profile profile;
  profile.name = name;
  profile.source = source;
  Subject subject(reading, math, pins, profile);
  for (const Decider& decider : kDeciders) KW_CHECK(decider.decide(subject));
  fill_math(math, profile);
  profile.memory = memory_use(math);
  sort_decisions(profile);
  return profile;
}

}  // namespace kw::understand
