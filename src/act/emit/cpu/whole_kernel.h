// Kernels that reduce everything, in fixed chunks of the iteration space, or that compute one element.
#pragma once

#include <memory>

#include "act/emit/cpu/kernel_base.h"

namespace kw::act::cpu {

std::unique_ptr<KernelBase> whole_kernel(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest,
                                         CppTypes& types);

}  // namespace kw::act::cpu
