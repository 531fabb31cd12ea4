// The order of factors under a sum. A factor that is the same along some of the summed axes comes after those that are
// not, so that who sums along these multiplies by it once, with the roundings that the graph has:
//
//   sum((d * weight) * x, hidden)      becomes      sum((d * x) * weight, hidden)
//   sum(d * (x * rstd[rows]))          becomes      sum((d * x) * rstd[rows])
//
// and sums of one product with several such factors have it in common. Elsewhere factors that a row has in common are
// multiplied with each other first:
//
//   (d * c) * rstd[rows]               becomes      d * (c * rstd[rows])
//
// A row goes along the axes that all sums have which go along the innermost axis of the largest tensor. A product that is
// split into groups is one of what its factors become, so that groups have factors in common too.
#pragma once

#include "ir/graph.h"

namespace kw::ir {

// `joint` is what `differentiate` made, simplified. What its first `forward_outputs` outputs depend on stays as it is:
// its roundings are the source's.
Graph with_common_factors_last(const Graph& joint, int forward_outputs);

}  // namespace kw::ir
