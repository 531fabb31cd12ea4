// Runs a pass as a graph and as a program of the loop form, on the same random inputs, and expects the same.
#pragma once

#include <string>

#include "act/loop/loop.h"
#include "ir/interpreter/interpreter.h"
#include "loop_cases.h"

namespace kw::act::test {

// Inputs for every tensor of the pass at these sizes, from a seed; nothing if the sizes break a constraint.
ir::Environment inputs_for(const ir::Graph& pass, const Sizes& sizes, uint64_t seed);

// In real semantics, and rounded with each set of types, with several numbers of workers.
void expect_agreement(const std::string& what, const ir::Graph& pass, const LoopProgram& program,
                      const ir::Environment& call);

}  // namespace kw::act::test
