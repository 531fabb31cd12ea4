// One kernel of the loop form as the text of a device function template, for entries that differ in how much of a row a
// thread holds and in what they know of their tensors' strides.
#pragma once

#include <set>

#include "act/emit/cpp/expressions.h"
#include "act/emit/cuda/kernel_plan.h"
#include "act/emit/lines.h"

namespace kw::act::cuda {

using namespace cpp;

struct KernelText {
  std::string function;  // rms_norm_forward_rows
  std::string by_rows;   // likewise, row by row: of kernels without a reduction, where rows are no run of vectors
  Lines lines;
  KernelPlan plan;
  std::vector<BufferId> tensors;  // the parameters, in order: tensors, sizes, scalars, lanes of a row
  std::vector<SizeParameter> sizes;
  std::vector<std::pair<std::string, std::string>> scalars;  // name, C++ type
  std::set<BufferId> written;
  std::set<BufferId> slices;      // of which a block takes the address of its own alone
  std::set<BufferId> vectors;     // read or written a vector at a time
  std::set<BufferId> large;       // of these, those of as many elements as the kernel has: they set the length
  std::vector<ir::Size> offsets;  // of such accesses: multiples of the length where vectors are aligned
  std::vector<BufferId> cached;   // of which a part of the row is in shared memory, where rows are streamed
  std::vector<BufferId> ahead;    // of which the next row may be on its way
  std::vector<BufferId> beside;   // that are the same for every row
  int live = 0;                   // arrays of a row's elements that a thread has at once
  int work = 0;                   // instructions that an element takes, about
  int narrow_live = 0;            // half registers that they take where elements have two bytes
  int loads = 0;                  // of them, those that are read
  int made = 0;                   // likewise as live, with those that a stage makes for later ones
  int truths = 0;                 // of the loads, those of truth values, in one stage
  int busy = 0;                   // registers that a stage takes beside them, about
  bool at_once = false;           // and takes them for many elements at once
  int held = 0;                   // vectors of a row that a thread holds, per vector of the row
  int column_sums = 0, segment_sums = 0, other_sums = 0;
  bool ragged = false;  // its rows may begin anywhere, as long as all of them begin alike
  int stages = 0;
};

// Whether registers are left beside the sums that ride along.
inline bool has_few_sums(const KernelText& text) { return text.column_sums + text.other_sums <= 2; }

// `kernel` has no reduction that expand.h knows of.
KernelText write_kernel(const LoopProgram& program, const LoopKernel& kernel, CppTypes& types);

}  // namespace kw::act::cuda
