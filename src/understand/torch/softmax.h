// Softmax and its relatives, shared with losses and attention.
#pragma once

#include "understand/torch/call.h"
#include "understand/torch/expression.h"

namespace kw::understand {

// On a widened expression, unrounded. The maximum is only there to keep exp in range: it takes no gradient.
Expression softmax(Expression wide, const std::vector<ir::AxisId>& axes);
Expression log_softmax(Expression wide, const std::vector<ir::AxisId>& axes);

}  // namespace kw::understand
