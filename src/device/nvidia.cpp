#include "device/nvidia.h"

#include <array>

#include "device/cuda/driver.h"
#include "device/cuda/nvrtc.h"
#include "device/library.h"

namespace kw::device {
namespace {

using NvrtcVersion = int(int* major, int* minor);

}  // namespace

Tool look_for_driver(std::vector<Gpu>& gpus, const std::string& library) {
  Tool tool{"driver", "running cuda and triton kernels", "a machine with an NVIDIA GPU and its driver"};
  const std::optional<cuda::Driver> driver = cuda::Driver::open(library);
  if (!driver || driver->init(0) != cuda::CUDA_SUCCESS) return tool;

  int number = 0, devices = 0;
  driver->driver_version(&number);
  tool.present = true;
  tool.version = "CUDA " + std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  tool.path = driver->path;
  driver->device_count(&devices);
  for (int ordinal = 0; ordinal < devices; ++ordinal) {
    Gpu gpu;
    cuda::CUdevice device = 0;
    std::array<char, 256> text{};
    std::size_t bytes = 0;
    int cache_bytes = 0;
    if (driver->device_get(&device, ordinal) != cuda::CUDA_SUCCESS ||
        driver->device_name(text.data(), text.size() - 1, device) != cuda::CUDA_SUCCESS)
      continue;
    driver->device_memory(&bytes, device);
    driver->device_attribute(&gpu.major, cuda::kAttributeMajor, device);
    driver->device_attribute(&gpu.minor, cuda::kAttributeMinor, device);
    driver->device_attribute(&gpu.multiprocessors, cuda::kAttributeMultiprocessors, device);
    driver->device_attribute(&cache_bytes, cuda::kAttributeCacheBytes, device);
    gpu.name = text.data();
    gpu.memory_bytes = bytes;
    gpu.cache_bytes = static_cast<std::uint64_t>(cache_bytes);
    gpus.push_back(gpu);
  }
  return tool;
}

Tool look_for_nvrtc(const std::vector<std::string>& candidates) {
  Tool tool{"nvrtc", "compiling cuda kernels", "pip install nvidia-cuda-nvrtc"};
  std::vector<std::string> names = cuda::nvrtc_candidates();
  names.insert(names.end(), candidates.begin(), candidates.end());
  for (const std::string& name : names) {
    const Library library(name);
    if (!library) continue;
    auto* version = library.find<NvrtcVersion>("nvrtcVersion");
    int major = 0, minor = 0;
    if (!version || version(&major, &minor) != 0) continue;
    tool.present = true;
    tool.version = std::to_string(major) + "." + std::to_string(minor);
    tool.path = library.path();
    return tool;
  }
  return tool;
}

}  // namespace kw::device
