// Random inputs for a graph whose sizes have hints.
#pragma once

#include <cstdint>

#include "ir/interpreter/interpreter.h"

namespace kw::ir {

// Floats in [-2, 2] rounded to their type, integers from 0 (unsigned) or -9 to 9, any bools; scalars keep their
// defaults. Type parameters take their default types.
Environment random_call(const Graph& graph, uint64_t seed);

}  // namespace kw::ir
