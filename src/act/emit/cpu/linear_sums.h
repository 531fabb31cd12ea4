// Sums of what a stage could compute but for factors that are known only after it: the factors are taken out, and the
// stage for the sum alone, one more pass over the data, falls away.
//
//   stage 1: s = sum a * b                      stage 1: s = sum a * b;  t = sum a;  u = sum b
//   stage 2: m = sum (a * p + s * q * b)   →             m = p * t + s * q * u
//   stage 3: store y = … - m                    stage 2: store y = … - m
//
// Only of sums in a type that is not rounded to, and never where a term is added that does not vary: the sum of x -
// mean is not taken as that of x, which would lose what the difference has kept. Where a factor is infinite, so are
// terms of both signs, and the sum is no number: s * q - s * q is added, which is zero but there.
#pragma once

#include "act/emit/cpp/cpp_types.h"
#include "act/loop/loop.h"

namespace kw::act::cpu {

LoopKernel split_linear_sums(const LoopKernel& kernel, const cpp::CppTypes& types);

}  // namespace kw::act::cpu
