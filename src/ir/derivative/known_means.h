// Means that are known to be zero. What a norm subtracts from its input has none left, and the derivative of such a
// norm subtracts a mean again, of a sum that has the centred input among its terms:
//
//   v = a + k*(x - mean(x)),  v - mean(v)      becomes      v - (mean(a) + 0*k)
//   v =     k*(x - mean(x)),  v - mean(v)      becomes      v - 0*k
//
// for every k that is the same all along the mean's axes: one sum less over every row. What is no number stays so:
// where x is not finite, neither is v, and an infinite k, whose terms have both signs, makes 0*k no number.
#pragma once

#include "ir/graph.h"

namespace kw::ir {

// `joint` is what `differentiate` made, simplified. What its first `forward_outputs` outputs depend on stays as it is:
// its roundings are the source's.
Graph without_known_means(const Graph& joint, int forward_outputs);

}  // namespace kw::ir
