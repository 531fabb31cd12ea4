#include "device/nvidia.h"

#include <array>

#include "device/cuda/nvrtc.h"
#include "device/library.h"

namespace kw::device {
namespace {

// The part of the driver's interface (cuda.h) that is needed to name the devices.
constexpr int kMultiprocessorCount = 16;
constexpr int kL2CacheSize = 38;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;
using CuInit = int(unsigned flags);
using CuDriverGetVersion = int(int* version);
using CuDeviceGetCount = int(int* count);
using CuDeviceGet = int(int* device, int ordinal);
using CuDeviceGetName = int(char* name, int length, int device);
using CuDeviceTotalMem = int(std::size_t* bytes, int device);
using CuDeviceGetAttribute = int(int* value, int attribute, int device);
using NvrtcVersion = int(int* major, int* minor);

}  // namespace

Tool look_for_driver(std::vector<Gpu>& gpus) {
  Tool tool{"driver", "running cuda and triton kernels", "a machine with an NVIDIA GPU and its driver"};
  const Library library("libcuda.so.1");
  if (!library) return tool;
  auto* init = library.find<CuInit>("cuInit");
  auto* version = library.find<CuDriverGetVersion>("cuDriverGetVersion");
  auto* count = library.find<CuDeviceGetCount>("cuDeviceGetCount");
  auto* get = library.find<CuDeviceGet>("cuDeviceGet");
  auto* name = library.find<CuDeviceGetName>("cuDeviceGetName");
  auto* memory = library.find<CuDeviceTotalMem>("cuDeviceTotalMem_v2");
  auto* attribute = library.find<CuDeviceGetAttribute>("cuDeviceGetAttribute");
  if (!init || !version || !count || !get || !name || !memory || !attribute || init(0) != 0) return tool;

  int number = 0, devices = 0;
  version(&number);
  tool.present = true;
  tool.version = "CUDA " + std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  tool.path = library.path();
  count(&devices);
  for (int ordinal = 0; ordinal < devices; ++ordinal) {
    Gpu gpu;
    int device = 0;
    std::array<char, 256> text{};
    std::size_t bytes = 0;
    if (get(&device, ordinal) != 0 || name(text.data(), text.size() - 1, device) != 0) continue;
    memory(&bytes, device);
    attribute(&gpu.major, kComputeCapabilityMajor, device);
    attribute(&gpu.minor, kComputeCapabilityMinor, device);
    int cache_bytes = 0;
    attribute(&gpu.multiprocessors, kMultiprocessorCount, device);
    attribute(&cache_bytes, kL2CacheSize, device);
    gpu.cache_bytes = static_cast<std::uint64_t>(cache_bytes);
    gpu.name = text.data();
    gpu.memory_bytes = bytes;
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
