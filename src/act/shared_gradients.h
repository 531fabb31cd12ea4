// Gradients that are one value: of x + residual both operands have the same. Autograd takes one tensor for both, so a
// target whose caller may hand it on twice writes it once.
#pragma once

#include <map>
#include <string>

#include "ir/graph.h"

namespace kw::act {

// Takes them out of a backward's outputs: grad_residual → grad_x, which stays.
std::map<std::string, std::string> share_gradients(ir::Graph& backward);

}  // namespace kw::act
