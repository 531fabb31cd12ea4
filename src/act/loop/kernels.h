// From the values of a pass to its kernels: which reductions are stages of one kernel, which ride along, where a kernel
// must end.
//
//   - Reductions over the same loop axes at the same parallel points are stages of one kernel, dependent ones in later
//     stages.
//   - A sum over parallel axes (a weight gradient) rides along: each worker accumulates a slice, a second small kernel
//     adds the slices in a fixed order.
//   - A reduction of everything has no parallel axes: what depends on it waits for the next kernel.
//   - What needs a result that is not known inside the kernel waits for a later kernel, which computes pointwise values
//     again rather than writing them to memory; only reduced values are written between kernels.
//   - What no reduction is left for is pointwise: one kernel per iteration space.
#pragma once

#include "act/loop/loop.h"
#include "act/loop/values.h"

namespace kw::act {

// What the plan of a profile asks of a program, other than as much in one kernel as goes together.
struct ProgramOptions {
  bool cut = false;     // a kernel for each stage of reductions and for each output, with what is reduced in memory
  bool ride = true;     // sums over parallel axes ride along; otherwise they are kernels of their own
  bool plain = false;   // only kernels for any strides
  bool atomic = false;  // sums that ride along may be added up in any order
};

// The program of a pass; a refusal names its rule and the place in the source.
Result<LoopProgram> make_program(std::string name, const ir::Graph& pass, const ProgramOptions& options = {});

}  // namespace kw::act
