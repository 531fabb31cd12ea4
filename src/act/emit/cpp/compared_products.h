// Products that must be the same number wherever a kernel computes them, because what is made of them is compared with
// an extreme of its own: argmax looks for the value that was the largest, the gradient of a maximum for all that were.
// A compiler that makes one instruction of a product and a sum may do so in the loop that finds the extreme, and not
// in the loop that looks for it, where the product has another reader; then no value is the largest.
//
//   v = x * w + b,  m = max v,  v == m         →    v = kw::unfused(x * w) + b
#pragma once

#include <set>

#include "act/loop/loop.h"

namespace kw::act::cpp {

// Everything rounded, but for sums, under an extreme or one side of an equality. What an order compares belongs to them
// where both sides were read or reduced: one may have been found among values such as the other, here or in another
// kernel.
std::set<ValueId> find_compared_products(const LoopKernel& kernel);

}  // namespace kw::act::cpp
