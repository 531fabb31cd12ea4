// Kernels whose innermost axis is not reduced: a tile of neighbouring points goes over the reduced axes together.
// Without reduced axes this is a pointwise kernel.
#pragma once

#include <memory>

#include "act/emit/cpu/kernel_base.h"

namespace kw::act::cpu {

std::unique_ptr<KernelBase> column_kernel(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest,
                                          CppTypes& types);

}  // namespace kw::act::cpu
