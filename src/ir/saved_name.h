// What a value that the source gave no name is called where a person meets it: after the name of what it was rounded
// to or from, else after what it is in the field's words (rstd, mean, sum_exp), else after its op.
//
//   rsqrt(mean(x^2, cols) + eps)   rstd        sum(exp(x - m), cols)    sum_exp
//   mean((x - mean)^2, cols)       var         pred - target            difference
#pragma once

#include <string>

#include "ir/graph.h"

namespace kw::ir {

std::string descriptive_name(const Graph& graph, NodeId node);

}  // namespace kw::ir
