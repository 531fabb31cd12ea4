// Random graphs from a seed, well typed and well conditioned: what every stage is tried on beyond the examples.
//
// A graph has any broadcast, several outputs, up to three reductions that depend on each other, values of rank 0 to 5,
// reductions over the first, a middle, the last and several axes, and every primitive in every element type that it
// takes. The op whose number is `seed` modulo their count is always in it, so that as many seeds as there are ops meet
// every op. Its inputs may hold anything in [-2, 2] (random_call.h draws them): where an op needs a positive number or
// an index in range, the graph itself sees to it. The same seed gives the same graph on every machine.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace kw::ir {

struct RandomGraphOptions {
  int operations = 10;   // drawn, beyond what guards add
  int highest_tier = 3;  // 1: pointwise and views, 2: with reductions, 3: everything
  int most_rank = 5;
  int most_dependent_reductions = 3;
  // Gradients by any method agree: no ties where an order decides, no scatter-set to one place twice.
  bool differentiable = false;
};

Graph random_graph(uint64_t seed, const RandomGraphOptions& options = {});

}  // namespace kw::ir
