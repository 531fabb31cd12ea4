#include "device/device.h"

#include "device/cpu/device.h"
#include "device/cuda/device.h"
#include "device/triton/device.h"

namespace kw::device {

Result<Program> Device::prepare(const kernel::Pass& pass, const CompiledSet& kernels, const kernel::Facts& facts) {
  return device::prepare(pass, kernels, facts);
}

Result<std::optional<std::string>> Device::sanitize(const std::vector<Program>&, Arena&, Check) {
  return missing_tool(name() + " has no sanitizer", "go without it");
}

Result<std::unique_ptr<Device>> open_device(kernel::Target target, const DeviceOptions& options) {
  if (target == kernel::Target::Cpu) return cpu::open(options);
  if (target == kernel::Target::Cuda) return cuda::open(options);
  return triton::open(options);
}

}  // namespace kw::device
