// The processor that this program runs on, as a device.
#pragma once

#include <memory>

#include "device/device.h"

namespace kw::device::cpu {

Result<std::unique_ptr<Device>> open(const DeviceOptions& options);

}  // namespace kw::device::cpu
