// The loop nest of a kernel on the CPU: which axis runs innermost, so that vector instructions walk contiguous memory,
// in which order the others run around it, and which neighbours may be walked as one where memory is dense.
//
//   row      the innermost axis is reduced: every parallel point goes over its row once per stage
//   column   it is not: a tile of neighbouring points goes over the reduced axes together (pointwise: none are)
//   whole    everything is reduced: fixed chunks of the iteration space, then their partial results
#pragma once

#include "act/emit/access.h"

namespace kw::act::cpu {

struct Nest {
  enum class Shape : uint8_t { Row, Column, Whole } shape = Shape::Column;
  std::vector<LoopAxisId> parallel;  // outermost first, without the innermost axis
  std::vector<LoopAxisId> loop;      // of the stages, likewise
  LoopAxisId inner = -1;             // none: the kernel computes one element

  bool reduces_inner() const { return shape != Shape::Column; }
  std::vector<LoopAxisId> around() const;  // parallel, loop
  std::vector<LoopAxisId> all() const;     // parallel, loop, inner
};

Nest choose_nest(const LoopProgram& program, const LoopKernel& kernel);

// Groups of axes, each outermost first and at least two, that a call on dense tensors may walk as one axis.
std::vector<std::vector<LoopAxisId>> mergeable_axes(const LoopProgram& program, const LoopKernel& kernel,
                                                    const Nest& nest);

}  // namespace kw::act::cpu
