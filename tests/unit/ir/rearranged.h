// Graphs of the same math in another guise, for tests: nodes, axes and symbols in another order, other names, operands
// of commutative ops swapped. And a comparison that sees every field.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "ir/graph.h"

namespace kw::ir {

struct Rearrangement {
  bool rename = false;         // axes, symbols, types, values, outputs and the op
  bool swap_operands = false;  // of commutative ops
};

Graph rearranged(const Graph& graph, uint32_t seed, Rearrangement what = {});

// Equal in every field that means something, display names included, up to the numbering of nodes, axes and symbols. An
// unnamed output value counts as named after its output.
::testing::AssertionResult same(const Graph& a, const Graph& b);

}  // namespace kw::ir
