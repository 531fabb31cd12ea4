// The same math with other roundings: values kept wider than eager keeps them, or narrower than the source writes them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace kw::understand {

enum class Width {
  Wide,    // computed and kept in the type that PyTorch computes in (f32 for bf16 and f16)
  Narrow,  // rounded to the storage type after every operation
};

// Every floating value that is computed (not an input, not a number) gets the width that `width_of` says, whatever
// casts the graph had; outputs keep their types. Casts between floating types disappear and are placed anew.
Result<ir::Graph> retyped(const ir::Graph& graph, const std::function<Width(ir::NodeId)>& width_of, ir::Type storage);

// The values that eager rounds on the way, in order: what `wider` can name.
std::vector<ir::NodeId> rounded_values(const ir::Graph& graph);

// The graph with these values kept wide. A value that is computed from one of them is computed wide and rounded once,
// as eager rounds it.
Result<ir::Graph> widened(const ir::Graph& graph, const std::vector<ir::NodeId>& values);

}  // namespace kw::understand
