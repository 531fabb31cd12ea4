#include "device/nvidia.h"

#include <dlfcn.h>
#include <link.h>

#include <array>

namespace kw::device {
namespace {

// A shared library that stays open: NVIDIA's start threads of their own, which must not lose their code.
class Library {
 public:
  explicit Library(const std::string& name) : handle_(::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) {}
  explicit operator bool() const { return handle_ != nullptr; }

  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(::dlsym(handle_, symbol));
  }

  std::string path() const {
    link_map* map = nullptr;
    return ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : "";
  }

 private:
  void* handle_;
};

// The part of the driver's interface (cuda.h) that is needed to name the devices.
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
    gpu.name = text.data();
    gpu.memory_bytes = bytes;
    gpus.push_back(gpu);
  }
  return tool;
}

Tool look_for_nvrtc(const std::vector<std::string>& candidates) {
  Tool tool{"nvrtc", "compiling cuda kernels", "pip install nvidia-cuda-nvrtc"};
  std::vector<std::string> names = {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"};
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
