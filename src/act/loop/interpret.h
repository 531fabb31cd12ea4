// Runs a program of the loop form on arrays: its meaning, which every target's text must have. The primitives are the
// graph interpreter's own, so that the two can only differ in indices, stages and sums.
//
// It watches what a kernel must never do: an access outside its buffer, an element read before it is written, written
// twice or not at all is an error.
#pragma once

#include "act/loop/loop.h"
#include "ir/interpreter/interpreter.h"

namespace kw::act {

struct LoopInterpretOptions {
  ir::Semantics semantics = ir::Semantics::Real;
  int64_t workers = 1;                     // parallel points are dealt to them in runs
  std::map<std::string, ir::DType> types;  // of type parameters, by name; by default their own
};

// Tensors and scalars by their names in the interface, sizes as the graph's interpreter takes them. The outputs in the
// interface's order.
Result<std::vector<ir::Array>> interpret(const LoopProgram& program, const ir::Environment& call,
                                         const LoopInterpretOptions& options = {});

}  // namespace kw::act
