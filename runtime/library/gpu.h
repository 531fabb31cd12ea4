// Launches through the CUDA runtime, on the current device and in the caller's stream.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>

#include "kw_host/check.h"
#include "kw_host/tensor.h"

namespace kw_library {

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

// What is known of a device, found once.
struct Gpu {
  int multiprocessors = 0;
  int shared_limit = 0;  // bytes of shared memory that a block can have

  static const Gpu& current() {
    constexpr int kMost = 64;
    static std::atomic<const Gpu*> known[kMost];
    int device = 0;
    check(cudaGetDevice(&device), "finding the current device");
    if (device >= kMost) kw_host::unsupported("a GPU of number " + std::to_string(device));
    const Gpu* gpu = known[device].load(std::memory_order_acquire);
    if (gpu == nullptr) known[device].store(gpu = new Gpu(device), std::memory_order_release);
    return *gpu;
  }

 private:
  explicit Gpu(int device) {
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "asking the GPU");
    check(cudaDeviceGetAttribute(&shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "asking the GPU");
  }
};

// Memory for the time of one call, in the order of its stream.
class DeviceWorkspace {
 public:
  DeviceWorkspace(std::initializer_list<kw_host::Tensor*> tensors, cudaStream_t stream) : stream_(stream) {
    kw_host::lay_out(tensors, [&](std::int64_t bytes) {
      if (bytes > 0)
        check(cudaMallocAsync(&data_, static_cast<std::size_t>(bytes), stream), "allocating memory on the GPU");
      return data_;
    });
  }
  DeviceWorkspace(const DeviceWorkspace&) = delete;
  ~DeviceWorkspace() {
    if (data_ != nullptr) cudaFreeAsync(data_, stream_);
  }

 private:
  cudaStream_t stream_;
  void* data_ = nullptr;
};

struct Launch {
  std::int64_t grid[3], block[3], shared_bytes;
};

// Arguments have the types of the kernel's parameters; pointers are void*.
template <class... Arguments>
void launch(const void* kernel, const Launch& shape, cudaStream_t stream, Arguments... arguments) {
  if (shape.grid[0] <= 0 || shape.grid[1] <= 0 || shape.grid[2] <= 0) return;
  constexpr std::int64_t kWithoutAsking = 48 * 1024;
  if (shape.shared_bytes > kWithoutAsking)
    check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared_bytes)),
        "asking for shared memory");
  const auto dim = [](const std::int64_t(&n)[3]) {
    return dim3(static_cast<unsigned>(n[0]), static_cast<unsigned>(n[1]), static_cast<unsigned>(n[2]));
  };
  void* pointers[] = {static_cast<void*>(&arguments)...};
  check(cudaLaunchKernel(kernel, dim(shape.grid), dim(shape.block), pointers,
                         static_cast<std::size_t>(shape.shared_bytes), stream),
        "launching a kernel");
}

// Every byte of a tensor without gaps becomes zero.
inline void clear(const kw_host::View& view, cudaStream_t stream) {
  const std::int64_t count = kw_host::numel(view) * kw_host::bytes(view);
  if (count > 0) check(cudaMemsetAsync(view.data, 0, static_cast<std::size_t>(count), stream), "clearing a tensor");
}

}  // namespace kw_library
