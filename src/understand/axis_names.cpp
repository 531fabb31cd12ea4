#include "understand/axis_names.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "profile/format.h"

namespace kw::understand {
namespace {

// Axes in the order in which a person meets them: the interface's, then those of the values.
std::vector<ir::AxisId> axes_in_use(const ir::Graph& graph) {
  std::vector<ir::AxisId> order;
  std::set<ir::AxisId> seen;
  const auto add = [&](const std::vector<ir::AxisId>& axes) {
    for (const ir::AxisId axis : axes)
      if (axis != ir::kUnit && seen.insert(axis).second) order.push_back(axis);
  };
  for (const ir::Input& input : graph.inputs) add(input.dims);
  for (const ir::Node& node : graph.nodes) add(node.axes);
  return order;
}

// "weight_0" for the first dimension of an input; empty for an axis that no input has.
std::string name_by_input(const ir::Graph& graph, ir::AxisId axis) {
  for (const ir::Input& input : graph.inputs) {
    const auto at = std::find(input.dims.begin(), input.dims.end(), axis);
    if (at != input.dims.end())
      return replace_all(input.name, ".", "_") + "_" + std::to_string(at - input.dims.begin());
  }
  return {};
}

}  // namespace

void name_axes(ir::Graph& graph) {
  std::set<std::string> taken;
  for (const ir::Symbol& symbol : graph.symbols) taken.insert(symbol.name);
  std::set<ir::SymbolId> shown;
  // What nothing uses must not take a name from what is used.
  std::vector<std::string> names(graph.axes.size(), "unused");
  for (const ir::AxisId axis : axes_in_use(graph)) {
    std::string& name = names[static_cast<std::size_t>(axis)];
    const std::optional<ir::SymbolId> symbol = graph.axis(axis).size.as_symbol();
    if (symbol && shown.insert(*symbol).second) {
      name = graph.symbols[static_cast<std::size_t>(*symbol)].name;
      continue;
    }
    std::string wanted = symbol ? graph.symbols[static_cast<std::size_t>(*symbol)].name : graph.axis(axis).name;
    // channels4 is a reader's fourth axis of that size.
    const std::string plain = wanted.substr(0, wanted.find_last_not_of("0123456789") + 1);
    if (taken.contains(plain)) wanted = plain;
    if (!profile::is_identifier(wanted)) wanted = name_by_input(graph, axis);
    if (wanted.empty()) wanted = "axis";
    name = wanted;
    for (int number = 2; !taken.insert(name).second; ++number) name = wanted + "_" + std::to_string(number);
  }
  for (std::size_t i = 0; i < graph.axes.size(); ++i) graph.axes[i].name = std::move(names[i]);
}

}  // namespace kw::understand
