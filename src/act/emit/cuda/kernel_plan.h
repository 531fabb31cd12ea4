// How a kernel of the loop form is shared among the threads of a GPU.
//
//   elements   nothing is reduced: a thread has vectors of neighbours
//   rows       the innermost axis is reduced: the threads of a block, or some lanes of a warp, share a row
//   columns    it is not: neighbouring lanes have neighbouring points, warps share the reduced axes; or it is one of
//              numbers that blocks left: a column by itself
//   points     a thread per point: what fits nowhere else
#pragma once

#include "act/emit/cpu/nest.h"

namespace kw::act::cuda {

using cpu::Nest;

// A sum that rides along, by where its terms go.
enum class SumKind : uint8_t {
  Column,   // one sum for every element of a row: a thread has its own
  Scalar,   // one sum for everything
  Segment,  // one sum for parts of a row, or for some of the rows
};

struct KernelPlan {
  enum class Shape : uint8_t { Elements, Rows, Columns, Points } shape = Shape::Points;
  Nest nest;
  bool accumulates = false;
  bool adds_slices = false;                  // what it reduces are the slices that the blocks of another left
  bool has_segments = false;                 // of its sums
  bool has_parts = false;                    // a row has axes that no memory has as one with the innermost
  bool in_parts = false;                     // and is gone over part by part
  std::vector<LoopAxisId> row_axes() const;  // what a row runs over, outermost first
};

KernelPlan plan_kernel(const LoopProgram& program, const LoopKernel& kernel);
SumKind kind_of(const KernelPlan& plan, const Accumulate& sum);

// Whether an access runs along the innermost axis through neighbours in memory: its last dimension, and no other, is
// the axis plus at most a size, which is then `offset`.
struct Run {
  bool neighbours = false;
  ir::Size offset;
};
Run run_of(const std::vector<Index>& at, LoopAxisId inner);

}  // namespace kw::act::cuda
