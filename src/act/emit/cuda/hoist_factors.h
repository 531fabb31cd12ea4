// The two of a derivative multiplied first with what is the same for all elements of a row, or of a part of one: once
// for the row, in the place of once for every element.
//
//   2.0 * (c[row] * x)               →     x * (2.0 * c[row])
//   d * weight[part] * rstd[row]           stays: without d, weight * rstd may leave the type's range, or lose bits
//   below it
//
// Only of kernels that reduce rows, where nothing between is rounded to a narrower type or used by itself, and where
// one operand alone varies along the row.
#pragma once

#include <functional>

#include "act/loop/loop.h"

namespace kw::act::cuda {

LoopProgram hoist_factors(LoopProgram program);

// A product as what is the same along an axis, and what is not. Operands that are products themselves are taken apart
// where `opens` says so.
struct Factored {
  std::vector<ValueId> factors, terms;
};
Factored factored(const LoopKernel& kernel, ValueId product, LoopAxisId along,
                  const std::function<bool(ValueId)>& opens);

}  // namespace kw::act::cuda
