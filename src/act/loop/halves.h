// Pointwise kernels over an axis that was put together from two halves, as kernels over one half that store both: what
// is asked of every element, in which half it lies, is then known, and what both halves want is computed once.
//
//   kernel parallel rows, wide                              kernel parallel rows, half
//     a = wide < half ? load g[rows, wide] : 0        →       a = load g[rows, half]
//     b = wide >= half ? load h[rows, wide - half] : 0        b = load h[rows, half]
//     store y[rows, wide] = a + b                             store y[rows, half] = a
//                                                             store y[rows, half + size] = b
#pragma once

#include "act/loop/loop.h"

namespace kw::act {

LoopProgram split_halves(const LoopProgram& program);

}  // namespace kw::act
