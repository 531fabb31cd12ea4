// Sums of what is normalised, in the place of what is not. The derivative of a norm n = a*r, with r = rsqrt(…), sums
// gradients times a and multiplies the sum by r three times:
//
//   sum(d*a) * (r*r*r)      becomes      sum(d*n) * (r*r)
//
// for every r that is the same all along the sum's axes. n is near one whatever the scale of a is, so the sum leaves
// its type's range with d alone; and it has the terms that the gradient of the norm's weight sums.
#pragma once

#include "ir/graph.h"

namespace kw::ir {

// `joint` is what `differentiate` made, simplified.
Graph with_normalised_sums(const Graph& joint);

}  // namespace kw::ir
