// Where the normalised value is rounded, recognised from the graph:
//
//   llama  computed wide, rounded to the input's type, and only then multiplied by the weight
//   gemma  wide through the product with the weight, rounded once, at the end
//   none   nothing is wider than the input; or nothing is normalised
//
// A normalised value is x times (or over) a statistic of itself: something that comes from a reduction of x and lacks
// the axes that were reduced.
#pragma once

#include <string>

#include "base/result.h"
#include "understand/decisions/graph_view.h"

namespace kw::understand {

struct Casting {
  std::string mode = "none";
  ir::NodeId normalised = ir::kNoNode;  // the normalised value, if any
  ir::NodeId rounded = ir::kNoNode;     // the cast that rounds it, if any
  ir::NodeId weighted = ir::kNoNode;    // the first product with a weight behind it, if any
};

Casting casting_of(const GraphView& view);                      // of the first normalised value
bool all_cast(const GraphView& view, const std::string& mode);  // every normalised value is in this mode

// Every normalised value, in order.
std::vector<ir::NodeId> normalised_values(const GraphView& view);

// The same math with every normalised value in another casting mode: what `kw set NAME casting=MODE` asks for. Fails
// where nothing is normalised.
Result<ir::Graph> recast(const ir::Graph& graph, const std::string& mode);

}  // namespace kw::understand
