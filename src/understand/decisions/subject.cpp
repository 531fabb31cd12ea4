#include "understand/decisions/subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.h"
#include "base/text.h"
#include "ir/text/display_names.h"
#include "understand/source_files.h"

namespace kw::understand {

Subject::Subject(const Reading& reading_, const Derived& math_, const Pins& pins_, profile::Profile& profile_)
    : reading(reading_), math(math_), view(math_.forward), pins(pins_), profile(profile_) {}

const std::string* Subject::pinned(const std::string& id) const {
  const auto found = pins.find(id);
  return found == pins.end() ? nullptr : &found->second;
}

std::string Subject::at(const Place& place) const {
  if (place.line == 0) return {};
  return fmt::format("{}:{}", stored_name(reading, place.file), place.line);
}

std::string Subject::at(const ir::Graph& graph, ir::NodeId node) const {
  if (node == ir::kNoNode) return {};
  // A node that simplification made stands for what it was made from: the nearest operand with a place.
  std::vector<ir::NodeId> pending = {node};
  for (std::size_t i = 0; i < pending.size() && i < 64; ++i) {
    const ir::Origin& origin = graph.origins[static_cast<std::size_t>(pending[i])];
    if (origin.line > 0) {
      const std::string& file =
          graph.source_files.empty() ? std::string() : graph.source_files[static_cast<std::size_t>(origin.file)];
      return at(Place{file, origin.line, origin.column, 0});
    }
    for (const ir::NodeId arg : graph[pending[i]].args) pending.push_back(arg);
  }
  return {};
}

const Assumed* Subject::assumed(const std::string& about) const {
  for (const Assumed& assumption : reading.assumptions)
    if (assumption.about == about) return &assumption;
  return nullptr;
}

void Subject::record(profile::Decision decision) {
  if (pinned(decision.id)) {
    decision.because = "set by a person: " + decision.because;
    decision.set_by = profile::SetBy::User;
  }
  // What rests on the op as a whole rests on its definition.
  if (decision.at.empty()) decision.at = at(reading.place);
  profile.decisions.push_back(std::move(decision));
}

std::string Subject::describe(ir::NodeId node) const {
  const ir::Graph& graph = math.forward;
  if (const auto name = graph.names.find(node); name != graph.names.end()) return name->second;
  if (graph[node].op == ir::Op::Input)
    return graph.inputs[static_cast<std::size_t>(graph[node].as<ir::InputRef>().index)].name;
  for (const ir::Output& output : graph.outputs)
    if (output.node == node) return output.name;
  std::string text(ir::info(graph[node].op).name);
  if (const auto* list = std::get_if<ir::AxisList>(&graph[node].attr)) {
    std::vector<std::string> names;
    const ir::text::DisplayNames display(graph);
    for (const ir::AxisId axis : list->axes) names.push_back(display.axes[static_cast<std::size_t>(axis)]);
    text += " over " + join(names, ", ");
  }
  return text;
}

}  // namespace kw::understand
