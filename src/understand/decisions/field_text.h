// Pieces of a graph as the profile's fields spell them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace kw::understand {

std::vector<std::string> shape_texts(const ir::Graph& graph, const std::vector<ir::AxisId>& dims);  // "1" for kUnit

inline constexpr std::int64_t kUnhinted = 1024;  // the size of a symbol that nobody gave one

}  // namespace kw::understand
