#include "understand/decisions/field_text.h"

namespace kw::understand {

std::vector<std::string> shape_texts(const ir::Graph& graph, const std::vector<ir::AxisId>& dims) {
  std::vector<std::string> texts;
  for (const ir::AxisId axis : dims) texts.push_back(axis == ir::kUnit ? "1" : graph.size_text(graph.axis(axis).size));
  return texts;
}

}  // namespace kw::understand
