// The part of the CUDA driver's interface (cuda.h) that is used here, opened at run time. Names and values are the
// driver's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "device/library.h"

namespace kw::device::cuda {

inline constexpr const char* kDriverLibrary = "libcuda.so.1";

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUevent = struct CUevent_st*;
using CUstream = struct CUstream_st*;
using CUmemHandle = unsigned long long;

enum CUresult : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
};

inline constexpr int kAttributeMultiprocessors = 16, kAttributeCacheBytes = 38;
inline constexpr int kAttributeMajor = 75, kAttributeMinor = 76;
inline constexpr int kFunctionMaxDynamicShared = 8;

struct CUmemLocation {
  int type = 1;  // a device
  int id = 0;
};
struct CUmemAllocationProp {
  int type = 1;  // pinned: it stays where it is
  int requested_handle_types = 0;
  CUmemLocation location;
  void* win32 = nullptr;
  struct {
    unsigned char compression = 0, rdma = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
  } flags;
};
struct CUmemAccessDesc {
  CUmemLocation location;
  int flags = 3;  // read and write
};
static_assert(sizeof(CUmemAllocationProp) == 32 && sizeof(CUmemAccessDesc) == 12);

// clang-format off
#define KW_DRIVER_FUNCTIONS(X)                                                                                   \
  X(init, "cuInit", unsigned flags)                                                                              \
  X(driver_version, "cuDriverGetVersion", int* version)                                                          \
  X(device_count, "cuDeviceGetCount", int* count)                                                                \
  X(device_get, "cuDeviceGet", CUdevice* device, int ordinal)                                                    \
  X(device_name, "cuDeviceGetName", char* name, int length, CUdevice device)                                     \
  X(device_memory, "cuDeviceTotalMem_v2", std::size_t* bytes, CUdevice device)                                   \
  X(device_attribute, "cuDeviceGetAttribute", int* value, int attribute, CUdevice device)                        \
  X(error_string, "cuGetErrorString", CUresult error, const char** text)                                         \
  X(context_retain, "cuDevicePrimaryCtxRetain", CUcontext* context, CUdevice device)                             \
  X(context_set, "cuCtxSetCurrent", CUcontext context)                                                           \
  X(synchronize, "cuCtxSynchronize")                                                                             \
  X(module_load, "cuModuleLoadData", CUmodule* module, const void* image)                                        \
  X(module_function, "cuModuleGetFunction", CUfunction* function, CUmodule module, const char* name)             \
  X(function_set, "cuFuncSetAttribute", CUfunction function, int attribute, int value)                           \
  X(launch, "cuLaunchKernel", CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,            \
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,                \
    void** parameters, void** extra)                                                                             \
  X(granularity, "cuMemGetAllocationGranularity", std::size_t* bytes, const CUmemAllocationProp* prop, int which) \
  X(address_reserve, "cuMemAddressReserve", CUdeviceptr* address, std::size_t size, std::size_t alignment,       \
    CUdeviceptr wanted, unsigned long long flags)                                                                \
  X(address_free, "cuMemAddressFree", CUdeviceptr address, std::size_t size)                                     \
  X(memory_create, "cuMemCreate", CUmemHandle* handle, std::size_t size, const CUmemAllocationProp* prop,        \
    unsigned long long flags)                                                                                    \
  X(memory_release, "cuMemRelease", CUmemHandle handle)                                                          \
  X(memory_map, "cuMemMap", CUdeviceptr address, std::size_t size, std::size_t offset, CUmemHandle handle,       \
    unsigned long long flags)                                                                                    \
  X(memory_unmap, "cuMemUnmap", CUdeviceptr address, std::size_t size)                                           \
  X(memory_access, "cuMemSetAccess", CUdeviceptr address, std::size_t size, const CUmemAccessDesc* access,       \
    std::size_t count)                                                                                           \
  X(memory_allocate, "cuMemAlloc_v2", CUdeviceptr* address, std::size_t size)                                    \
  X(memory_free, "cuMemFree_v2", CUdeviceptr address)                                                            \
  X(copy_to_device, "cuMemcpyHtoD_v2", CUdeviceptr to, const void* from, std::size_t bytes)                      \
  X(copy_to_host, "cuMemcpyDtoH_v2", void* to, CUdeviceptr from, std::size_t bytes)                              \
  X(fill8, "cuMemsetD8_v2", CUdeviceptr to, unsigned char value, std::size_t count)                              \
  X(fill16, "cuMemsetD16_v2", CUdeviceptr to, unsigned short value, std::size_t count)                           \
  X(fill32, "cuMemsetD32_v2", CUdeviceptr to, unsigned value, std::size_t count)                                 \
  X(fill32_rows, "cuMemsetD2D32_v2", CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,       \
    std::size_t height)                                                                                          \
  X(event_create, "cuEventCreate", CUevent* event, unsigned flags)                                               \
  X(event_record, "cuEventRecord", CUevent event, CUstream stream)                                               \
  X(event_synchronize, "cuEventSynchronize", CUevent event)                                                      \
  X(event_elapsed, "cuEventElapsedTime", float* milliseconds, CUevent start, CUevent end)
// clang-format on

struct Driver {
#define KW_DRIVER_MEMBER(name, symbol, ...) CUresult (*name)(__VA_ARGS__) = nullptr;
  KW_DRIVER_FUNCTIONS(KW_DRIVER_MEMBER)
#undef KW_DRIVER_MEMBER
  std::string path;

  // Nothing, where the library or one of the functions is not there.
  static std::optional<Driver> open(const std::string& library = kDriverLibrary);
  std::string text(CUresult error) const;  // the driver's own words
};

}  // namespace kw::device::cuda
