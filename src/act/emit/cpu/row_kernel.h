// Kernels whose innermost axis is reduced: every parallel point goes over its row once per stage.
#pragma once

#include <memory>

#include "act/emit/cpu/kernel_base.h"

namespace kw::act::cpu {

std::unique_ptr<KernelBase> row_kernel(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest,
                                       CppTypes& types);

}  // namespace kw::act::cpu
