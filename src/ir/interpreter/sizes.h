// The values of a graph's size symbols, solved from the shapes of the tensors that a call gives.
#pragma once

#include "ir/interpreter/interpreter.h"

namespace kw::ir::interpreter {

struct BoundSizes {
  std::vector<std::optional<int64_t>> symbols;  // by SymbolId; empty where nothing determines it
  std::vector<std::optional<int64_t>> axes;     // by AxisId

  // The value of a size, or an error that names the symbol nobody gave.
  Result<int64_t> value(const Graph& graph, const Size& size) const;
};

// Contradictory shapes, missing tensors and violated constraints are errors.
Result<BoundSizes> solve_sizes(const Graph& graph, const Environment& call);

}  // namespace kw::ir::interpreter
