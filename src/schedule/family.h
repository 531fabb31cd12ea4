// The schedule families, and the first of their three questions: may this family serve this graph? The graph is one
// pass: the forward with what it saves, or the backward.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace kw::schedule {

enum class Family {
  Pointwise,    // every element by itself
  Row,          // reduces a contiguous group of axes, in dependent stages; sums over the other axes ride along
  Column,       // reduces an outer or middle group, in two deterministic stages
  Whole,        // reduces everything: losses
  Scan,         // runs along one axis
  Segment,      // runs given by offsets or by equal indices
  Window,       // sliding windows
  Contraction,  // sums of products, by a library call or a tensor-core skeleton with prologue and epilogue
  Composed,     // several of the others, one after the other, with values in memory between them
};
inline constexpr int kFamilyCount = 9;

std::string_view to_text(Family family);
std::optional<Family> family_from_text(std::string_view text);

struct Service {
  bool serves = false;
  std::string because;           // of the yes or of the no
  ir::NodeId at = ir::kNoNode;   // the node that decided
  std::vector<ir::AxisId> over;  // the axes that the family works along
  int stages = 0;                // dependent reductions along them
};

Service may_serve(Family family, const ir::Graph& pass);

struct Choice {
  Family family = Family::Composed;
  Service service;
};

// Every family that may serve the pass, the preferred first; Composed is always the last.
std::vector<Choice> choices(const ir::Graph& pass);

}  // namespace kw::schedule
