// Factors of a product that are the same for all elements of a row, or of a part of one, multiplied with each other
// first: once for the row, in the place of once for every element.
//
//   d * weight[part] * rstd[row]     →     d * (weight[part] * rstd[row])
//   2.0 * (c[row] * x)               →     x * (2.0 * c[row])
//
// Only of kernels that reduce rows, where nothing between is rounded to a narrower type or used by itself, and where
// one operand alone varies along the row: several, multiplied without the others, may leave the type's range.
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
