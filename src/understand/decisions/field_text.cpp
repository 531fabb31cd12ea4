#include "understand/decisions/field_text.h"

#include <fmt/format.h>

#include <array>

#include "schedule/layout.h"

namespace kw::understand {

std::vector<std::string> shape_texts(const ir::Graph& graph, const std::vector<ir::AxisId>& dims) {
  std::vector<std::string> texts;
  for (const ir::AxisId axis : dims) texts.push_back(axis == ir::kUnit ? "1" : graph.size_text(graph.axis(axis).size));
  return texts;
}

std::vector<ir::AxisId> dims_of(const ir::Graph& joint, const ir::SavedValue& saved) {
  if (saved.as == ir::SavedAs::Input)
    if (const ir::Input* input = joint.find_input(saved.name)) return input->dims;
  if (saved.as == ir::SavedAs::Output)
    for (const ir::Output& output : joint.outputs)
      if (output.node == saved.node) return output.dims;
  return schedule::memory_order(joint)[static_cast<std::size_t>(saved.node)];
}

std::string bytes_text(std::int64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  if (value == static_cast<double>(static_cast<std::int64_t>(value)) || value >= 100)
    return fmt::format("{:.0f} {}", value, kUnits[unit]);
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : 1, kUnits[unit]);
}

}  // namespace kw::understand
