// An NVIDIA GPU as a device; without one, its compiler alone.
#pragma once

#include <memory>

#include "device/device.h"

namespace kw::device::cuda {

// The architectures that kernels are built for by default.
inline constexpr const char* kArchitectures[] = {"sm_80", "sm_90", "sm_100"};

Result<std::unique_ptr<Device>> open(const DeviceOptions& options);

}  // namespace kw::device::cuda
