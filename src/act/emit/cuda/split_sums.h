// Sums over outer axes, and over everything, as sums that ride along: a block per column would leave most of a GPU idle
// and read memory across. Instead blocks go over the elements as they lie, each keeps a slice of the sums, and a second
// kernel adds the slices in a fixed order.
//
//   kernel parallel cols; stage over rows: s = sum x[rows, cols]; after: store y[cols] = f(s)
//     →
//   kernel parallel rows; stage over cols: accumulate s_slices[cols] += x[rows, cols]
//   kernel parallel cols; stage over worker: s = sum s_slices[worker, cols]; after: store y[cols] = f(s)
#pragma once

#include "act/loop/loop.h"

namespace kw::act::cuda {

LoopProgram split_sums(const LoopProgram& program);

}  // namespace kw::act::cuda
