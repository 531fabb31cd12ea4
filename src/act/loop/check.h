// Whether a program of the loop form is sound: what every pass that makes or changes one must leave true, so that a
// target may rely on it. A violation is a bug of the pass, and the message says where and what.
//
//   names      axes, symbols, buffers with scalars, kernels and the values of a kernel are each unique identifiers
//   values     operands come before their use; axes are exactly those that a value depends on; loads have a buffer's
//              rank and type; a guard is a bool with something in its stead
//   stages     a body holds what depends on the stage's loop, `after` what does not, each once and when its operands
//   are
//              known; a reduction runs over the whole loop of its stage; where all axes are reduced, nothing of the
//              same kernel's loops rests on the result
//   memory     each buffer that is not an input is written by one kernel, each element once, and read by later ones
//              alone; every output is written
#pragma once

#include "act/loop/loop.h"

namespace kw::act {

Status check(const LoopProgram& program);

}  // namespace kw::act
