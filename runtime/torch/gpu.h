// Launches on an NVIDIA GPU: the driver is opened when the first tensor on a GPU arrives, the current stream is
// PyTorch's, and code is loaded once per device. Names and values of the driver are its own.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <mutex>

#include "kw_torch/tensor.h"

namespace kw_torch {

using CUresult = int;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;

struct Driver {
  CUresult (*init)(unsigned) = nullptr;
  CUresult (*device_get)(int*, int) = nullptr;
  CUresult (*device_attribute)(int*, int, int) = nullptr;
  CUresult (*context_retain)(CUcontext*, int) = nullptr;
  CUresult (*context_current)(CUcontext*) = nullptr;
  CUresult (*context_push)(CUcontext) = nullptr;
  CUresult (*context_pop)(CUcontext*) = nullptr;
  CUresult (*module_load)(CUmodule*, const void*) = nullptr;
  CUresult (*module_function)(CUfunction*, CUmodule, const char*) = nullptr;
  CUresult (*function_get)(int*, int, CUfunction) = nullptr;
  CUresult (*function_set)(CUfunction, int, int) = nullptr;
  CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**,
                     void**) = nullptr;
  CUresult (*fill)(unsigned long long, unsigned char, std::size_t, CUstream) = nullptr;
  CUresult (*error_string)(CUresult, const char**) = nullptr;
  AOTITorchError (*current_stream)(std::int32_t, void**) = nullptr;

  static const Driver& get() {
    static const Driver driver;
    return driver;
  }

  void check(CUresult result, const char* what) const {
    if (result == 0) return;
    const char* words = nullptr;
    error_string(result, &words);
    throw std::runtime_error(std::string("kernelwright: ") + what + ": " +
                             (words != nullptr ? words : "unknown error"));
  }

 private:
  Driver() {
    void* cuda = dlopen("libcuda.so.1", RTLD_NOW);
    if (cuda == nullptr) throw std::runtime_error("kernelwright: there is no CUDA driver (libcuda.so.1)");
    const auto find = [](void* library, auto& function, const char* name) {
      void* symbol = dlsym(library, name);
      if (symbol == nullptr) throw std::runtime_error(std::string("kernelwright: there is no ") + name);
      std::memcpy(&function, &symbol, sizeof symbol);
    };
    find(cuda, init, "cuInit");
    find(cuda, device_get, "cuDeviceGet");
    find(cuda, device_attribute, "cuDeviceGetAttribute");
    find(cuda, context_retain, "cuDevicePrimaryCtxRetain");
    find(cuda, context_current, "cuCtxGetCurrent");
    find(cuda, context_push, "cuCtxPushCurrent_v2");
    find(cuda, context_pop, "cuCtxPopCurrent_v2");
    find(cuda, module_load, "cuModuleLoadData");
    find(cuda, module_function, "cuModuleGetFunction");
    find(cuda, function_get, "cuFuncGetAttribute");
    find(cuda, function_set, "cuFuncSetAttribute");
    find(cuda, launch, "cuLaunchKernel");
    find(cuda, fill, "cuMemsetD8Async");
    find(cuda, error_string, "cuGetErrorString");
    check(init(0), "starting the CUDA driver");
    // PyTorch has loaded it, since it made the tensor.
    void* torch_cuda = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
    if (torch_cuda == nullptr) throw std::runtime_error("kernelwright: libtorch_cuda.so is not loaded");
    find(torch_cuda, current_stream, "aoti_torch_get_current_cuda_stream");
  }
};

// What is known of a device, found once.
struct Gpu {
  CUcontext context = nullptr;
  int architecture = 0;  // 90
  int multiprocessors = 0;
  int shared_limit = 0;  // bytes of shared memory that a block can have

  static constexpr int kMost = 64;
  static const Gpu& at(int index) {
    static std::atomic<const Gpu*> known[kMost];
    if (index < 0 || index >= kMost) unsupported("a GPU of number " + std::to_string(index));
    const Gpu* gpu = known[index].load(std::memory_order_acquire);
    if (gpu == nullptr) known[index].store(gpu = new Gpu(index), std::memory_order_release);
    return *gpu;
  }

 private:
  explicit Gpu(int index) {
    const Driver& driver = Driver::get();
    int device = 0, major = 0, minor = 0;
    driver.check(driver.device_get(&device, index), "finding the GPU");
    driver.check(driver.context_retain(&context, device), "taking the GPU's context");
    driver.check(driver.device_attribute(&multiprocessors, 16, device), "asking the GPU");
    driver.check(driver.device_attribute(&major, 75, device), "asking the GPU");
    driver.check(driver.device_attribute(&minor, 76, device), "asking the GPU");
    driver.check(driver.device_attribute(&shared_limit, 97, device), "asking the GPU");
    architecture = major * 10 + minor;
  }
};

// Makes the tensor's own device current while a pass is launched.
class OnDevice {
 public:
  explicit OnDevice(const Gpu& gpu) {
    const Driver& driver = Driver::get();
    CUcontext current = nullptr;
    driver.check(driver.context_current(&current), "asking for the context");
    if (current == gpu.context) return;
    driver.check(driver.context_push(gpu.context), "entering the GPU's context");
    pushed_ = true;
  }
  OnDevice(const OnDevice&) = delete;
  ~OnDevice() {
    CUcontext old = nullptr;
    if (pushed_) Driver::get().context_pop(&old);
  }

 private:
  bool pushed_ = false;
};

// Code of one file of kernels for one mixture of types: cubins run on their own architecture, PTX on every later one.
struct Image {
  int architecture;  // 90
  bool ptx;
  const void* code;
};

template <int kSymbols, int kMixtures, int kImages>
class KernelFile {
 public:
  using Images = Image[kMixtures][kImages];
  using Symbols = const char* const[kSymbols];
  constexpr KernelFile(Symbols& symbols, const Images& images) : symbols_(symbols), images_(images) {}

  CUfunction function(const Gpu& gpu, int device, int mixture, int symbol) {
    CUfunction found = functions_[device][mixture][symbol].load(std::memory_order_acquire);
    return found != nullptr ? found : load(gpu, device, mixture, symbol);
  }

 private:
  CUfunction load(const Gpu& gpu, int device, int mixture, int symbol) {
    const std::lock_guard lock(mutex_);
    const Driver& driver = Driver::get();
    CUmodule& module = modules_[device][mixture];
    if (module == nullptr) {
      const Image* best = nullptr;
      for (const Image& image : images_[mixture]) {
        // A cubin runs on its own major architecture, from its minor one on; PTX is compiled by the driver.
        const bool runs =
            image.ptx ? image.architecture <= gpu.architecture
                      : image.architecture / 10 == gpu.architecture / 10 && image.architecture <= gpu.architecture;
        if (!runs) continue;
        if (best == nullptr || (best->ptx && !image.ptx) ||
            (best->ptx == image.ptx && image.architecture > best->architecture))
          best = &image;
      }
      if (best == nullptr) {
        const std::string own = "sm_" + std::to_string(gpu.architecture);
        unsupported("a GPU of architecture " + own + ", built for others alone: architectures=" + own);
      }
      driver.check(driver.module_load(&module, best->code), "loading a kernel");
    }
    CUfunction function = nullptr;
    driver.check(driver.module_function(&function, module, symbols_[symbol]), symbols_[symbol]);
    int fixed = 0;  // shared memory that the kernel has anyway
    driver.check(driver.function_get(&fixed, 1, function), symbols_[symbol]);
    driver.check(driver.function_set(function, 8, gpu.shared_limit - fixed), symbols_[symbol]);
    functions_[device][mixture][symbol].store(function, std::memory_order_release);
    return function;
  }

  Symbols& symbols_;
  const Images& images_;
  std::mutex mutex_;
  CUmodule modules_[Gpu::kMost][kMixtures] = {};
  std::atomic<CUfunction> functions_[Gpu::kMost][kMixtures][kSymbols] = {};
};

struct Launch {
  std::int64_t grid[3], block[3], shared_bytes;
};

// Arguments have the types of the kernel's parameters; pointers are void*.
template <class... Arguments>
void launch(CUfunction function, const Launch& shape, CUstream stream, Arguments... arguments) {
  if (shape.grid[0] <= 0 || shape.grid[1] <= 0 || shape.grid[2] <= 0) return;
  void* pointers[] = {static_cast<void*>(&arguments)...};
  const auto count = [](std::int64_t n) { return static_cast<unsigned>(n); };
  const Driver& driver = Driver::get();
  driver.check(
      driver.launch(function, count(shape.grid[0]), count(shape.grid[1]), count(shape.grid[2]), count(shape.block[0]),
                    count(shape.block[1]), count(shape.block[2]), count(shape.shared_bytes), stream, pointers, nullptr),
      "launching a kernel");
}

inline CUstream current_stream(int device) {
  void* stream = nullptr;
  check(Driver::get().current_stream(device, &stream), "finding the current stream");
  return static_cast<CUstream>(stream);
}

// Every byte of a tensor without gaps becomes zero.
inline void clear_on_gpu(const View& view, CUstream stream) {
  const std::int64_t count = numel(view) * bytes(view);
  const Driver& driver = Driver::get();
  if (count > 0)
    driver.check(
        driver.fill(reinterpret_cast<unsigned long long>(view.data), 0, static_cast<std::size_t>(count), stream),
        "clearing a tensor");
}

}  // namespace kw_torch
