// Sums that wait for an earlier one only by factors of the whole row, taken beside it: one pass over the row less, and
// one meeting of its threads.
//
//   stage 1: s = sum a*b                             stage 1: s = sum a*b, p = sum a, q = sum b
//   after:   c = f(s)                          →     after:   c = f(s), t = p*r + c*q
//   stage 2: t = sum (a*r + c*b)                     stage 3 becomes stage 2
//   stage 3: store y = g(a, b, t)
//
// Only where nothing between is rounded to a narrower type.
#pragma once

#include "act/loop/loop.h"

namespace kw::act::cuda {

LoopProgram early_sums(LoopProgram program);

}  // namespace kw::act::cuda
