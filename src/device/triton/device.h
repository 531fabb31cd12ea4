// Triton kernels, in a resident Python worker (python/kernelwright/triton_worker.py): on the GPU, or, where there is
// none, in Triton's interpreter on the CPU. The interpreter proves indices, bounds and numerics as far as numpy's
// functions are those of the GPU; not speed, and not synchronisation.
#pragma once

#include <memory>

#include "device/device.h"

namespace kw::device::triton {

// Needs a Python with PyTorch and Triton.
Result<std::unique_ptr<Device>> open(const DeviceOptions& options);

}  // namespace kw::device::triton
