// Whether the texts of a profile are one math: the forward computes what was read, the backward is its derivative.
// Graphs that are equivalent after simplification are; others are run by the interpreter on small tensors in exact
// arithmetic, so that a profile stays readable when a later version derives a formula in another form.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "ir/graph.h"

namespace kw::profile {

using SizeOf = std::map<std::string, std::int64_t>;  // symbol → a small size that the op allows

// What differs, in words; nothing if they agree, or if the math cannot be run at these sizes. `forward` may return more
// than `read`: what it saves.
std::optional<std::string> forward_difference(const ir::Graph& read, const ir::Graph& forward, const SizeOf& sizes);
std::optional<std::string> backward_difference(const ir::Graph& read, const ir::Graph& forward,
                                               const ir::Graph& backward, const SizeOf& sizes);

}  // namespace kw::profile
