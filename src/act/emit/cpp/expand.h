// Reductions that a loop on the CPU does not do in one go, as ones that it does:
//
//   logsumexp a   →   m = max a;   s = sum exp(a - m);   m + log(s)
//   argmax a      →   m = max a;   the least position where a equals m (or both are NaN)
//
// Each becomes one more stage over data that the first stage has just brought into the cache. Other targets keep the
// one-pass forms, which is why this is not a pass on the loop form for all.
#pragma once

#include "act/loop/loop.h"

namespace kw::act::cpp {

LoopKernel expand_reductions(const LoopKernel& kernel);

}  // namespace kw::act::cpp
