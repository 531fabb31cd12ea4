// Sums that a kernel only ever wants between two numbers: held there before they are rounded, they are finite, and
// rounding them is cheap. Rounding keeps the order, and the two numbers as they are, so the result is the same.
//
//   s = x + 3                                  s  = round_between(x + 3, 0, 6)
//   y = x * select(s >= 6, 6,             →    y  = x * s
//                  select(s <= 0, 0, s))
#pragma once

#include <functional>
#include <map>

#include "act/loop/loop.h"

namespace kw::act::cpp {

struct HeldSum {
  double least, most;
};

struct HeldSums {
  std::map<ValueId, HeldSum> sums;
  std::map<ValueId, ValueId> same;  // what holds a sum between its numbers → the sum, which lies there already
};

// A number that every floating type holds as it is.
bool is_exact_everywhere(double value);

// Of a type that `rounds`, from values of that type and exact numbers, and compared with nothing that would tell the
// sum from what is held.
HeldSums find_held_sums(const LoopKernel& kernel, const std::function<bool(ir::Type)>& rounds);

}  // namespace kw::act::cpp
