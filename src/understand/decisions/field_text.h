// Pieces of a graph as the profile's fields spell them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/partition.h"

namespace kw::understand {

std::vector<std::string> shape_texts(const ir::Graph& graph, const std::vector<ir::AxisId>& dims);  // "1" for kUnit
// The dims of a saved value: the input's or output's own, else its axes in memory order.
std::vector<ir::AxisId> dims_of(const ir::Graph& joint, const ir::SavedValue& saved);
std::string bytes_text(std::int64_t bytes);  // "32 KiB", "1.5 GiB"

inline constexpr std::int64_t kUnhinted = 1024;  // the size of a symbol that nobody gave one

}  // namespace kw::understand
