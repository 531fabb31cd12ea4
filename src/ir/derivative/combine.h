// The body of an associative combine, put into a graph: its value at given operands, and its derivative.
#pragma once

#include <span>
#include <vector>

#include "ir/derivative/adjoint.h"

namespace kw::ir {

// The combined tuple of `left` and `right` (k nodes each).
std::vector<NodeId> inline_body(GraphBuilder& builder, const Combine& combine, std::span<const NodeId> left,
                                std::span<const NodeId> right);

// The cotangents of the left tuple and of the right tuple, 2k in all, from the cotangents of the combined tuple
// (kNoNode where there is none); kNoNode where none flows.
Result<std::vector<NodeId>> body_vjp(Adjoint& at, const Combine& combine, std::span<const NodeId> left,
                                     std::span<const NodeId> right, std::span<const NodeId> cotangents);

}  // namespace kw::ir
