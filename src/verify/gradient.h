// Is the backward the derivative of the forward? Asked without the rules that made it: the forward graph is moved a
// little along random directions, in real semantics, and the change of its outputs is compared with what the gradients
// say. What stop_gradient holds does not move.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "verify/subject.h"

namespace kw::verify {

struct GradientEvidence {
  int directions = 0;   // that were compared
  int at_kinks = 0;     // that were not: the differences do not settle there
  double largest = 0;   // |difference - gradient|, as a share of what moved
  std::string problem;  // the first that does not agree; empty if all do
};

// Of the derivative of the graph as it was read, and of the backward in the profile, at small sizes.
Result<GradientEvidence> check_gradient(const Subject& subject, const kernel::Sizes& sizes, std::uint64_t seed);

// The forward with what stop_gradient holds taken from copies of the inputs (x and x__held), so that it can stand still
// while the inputs move. The graph itself where there is no stop_gradient.
ir::Graph with_held_values(const ir::Graph& forward);

}  // namespace kw::verify
