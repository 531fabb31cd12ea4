// A driver for a GPU that is not there, built by the tests and opened in the place of NVIDIA's: memory of the GPU is
// memory of this process, a kernel is a host function of a shared object, whose path is the "cubin". It stands in for
// what the worker asks of a driver; it says nothing about what NVIDIA's does.
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

constexpr std::size_t kGranule = std::size_t{2} << 20;
constexpr std::size_t kMemory = std::size_t{256} << 20;
constexpr int kShared = 64 << 10;

int broken = 0;  // the error that this context has died of
std::size_t used = 0;
std::map<unsigned long long, std::size_t> allocations;
unsigned long long handles = 0;
sigjmp_buf escape;

void on_fault(int) { siglongjmp(escape, 1); }

struct Event {
  timespec time;
};

struct Kernel {
  void (*body)(const unsigned* launch, void** parameters);
  int shared = 48 << 10;
};

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* v) {
  *v = 13000;
  return 0;
}
int cuDeviceGetCount(int* n) {
  *n = 1;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? 0 : 101;
}
int cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, "a GPU that is not there", static_cast<std::size_t>(length));
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = kMemory;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 132 : attribute == 38 ? 1 << 20 : 0;
  return 0;
}
int cuGetErrorString(int error, const char** text) {
  *text = error == 700 ? "an illegal memory access was encountered"
          : error == 2 ? "out of memory"
          : error == 1 ? "invalid argument"
                       : "unspecified";
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &broken;
  return 0;
}
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxSynchronize() { return broken; }

int cuModuleLoadData(void** module, const void* image) {
  *module = dlopen(static_cast<const char*>(image), RTLD_NOW | RTLD_LOCAL);
  return *module != nullptr ? 0 : 200;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  void* body = dlsym(module, name);
  if (body == nullptr) return 500;
  auto* kernel = new Kernel;
  kernel->body = reinterpret_cast<void (*)(const unsigned*, void**)>(body);
  *function = kernel;
  return 0;
}
int cuFuncSetAttribute(void* function, int, int value) {
  if (value > kShared) return 1;
  static_cast<Kernel*>(function)->shared = value;
  return 0;
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void*, void** parameters, void**) {
  const auto* kernel = static_cast<Kernel*>(function);
  if (broken != 0) return broken;
  if (gx * gy * gz == 0 || bx * by * bz == 0 || static_cast<int>(shared) > kernel->shared) return 1;
  struct sigaction action {
  }, before{};
  action.sa_handler = on_fault;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &action, &before);
  const unsigned launch[] = {gx, gy, gz, bx, by, bz, shared};
  if (sigsetjmp(escape, 1) == 0) {
    kernel->body(launch, parameters);
  } else {
    broken = 700;  // seen at the next synchronisation, as on a GPU
  }
  sigaction(SIGSEGV, &before, nullptr);
  return 0;
}

int cuMemGetAllocationGranularity(std::size_t* bytes, const void*, int) {
  *bytes = kGranule;
  return 0;
}
int cuMemAddressReserve(unsigned long long* address, std::size_t size, std::size_t alignment, unsigned long long,
                        unsigned long long) {
  if (std::getenv("KW_FAKE_GPU_RESERVES_NOTHING") != nullptr) return 801;
  void* memory = mmap(nullptr, size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 2;
  *address = (reinterpret_cast<unsigned long long>(memory) + alignment - 1) / alignment * alignment;
  return 0;
}
int cuMemAddressFree(unsigned long long address, std::size_t size) {
  return munmap(reinterpret_cast<void*>(address), size);
}
int cuMemCreate(unsigned long long* handle, std::size_t size, const void*, unsigned long long) {
  if (size % kGranule != 0) return 1;
  if (used + size > kMemory) return 2;
  used += size;
  allocations[*handle = ++handles] = size;
  return 0;
}
int cuMemRelease(unsigned long long handle) {
  used -= allocations[handle];
  allocations.erase(handle);
  return 0;
}
int cuMemMap(unsigned long long address, std::size_t size, std::size_t, unsigned long long handle, unsigned long long) {
  return address % kGranule == 0 && allocations.at(handle) == size ? 0 : 1;
}
int cuMemUnmap(unsigned long long address, std::size_t size) {
  return mprotect(reinterpret_cast<void*>(address), size, PROT_NONE);
}
int cuMemSetAccess(unsigned long long address, std::size_t size, const void*, std::size_t) {
  return mprotect(reinterpret_cast<void*>(address), size, PROT_READ | PROT_WRITE);
}
int cuMemAlloc_v2(unsigned long long* address, std::size_t size) {
  *address = reinterpret_cast<unsigned long long>(std::aligned_alloc(256, (size + 255) / 256 * 256));
  return 0;
}
int cuMemFree_v2(unsigned long long address) {
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
  if (broken == 0) std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return broken;
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
  if (broken == 0) std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return broken;
}
}

namespace {
template <class T>
int fill(unsigned long long to, T value, std::size_t pitch, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) std::memcpy(reinterpret_cast<char*>(to) + i * pitch, &value, sizeof value);
  return broken;
}
}  // namespace

extern "C" {
int cuMemsetD8_v2(unsigned long long to, unsigned char v, std::size_t n) { return fill(to, v, 1, n); }
int cuMemsetD16_v2(unsigned long long to, unsigned short v, std::size_t n) { return fill(to, v, 2, n); }
int cuMemsetD32_v2(unsigned long long to, unsigned v, std::size_t n) { return fill(to, v, 4, n); }
int cuMemsetD2D32_v2(unsigned long long to, std::size_t pitch, unsigned v, std::size_t width, std::size_t height) {
  return width == 1 ? fill(to, v, pitch, height) : 1;
}
int cuEventCreate(void** event, unsigned) {
  *event = new Event;
  return 0;
}
int cuEventRecord(void* event, void*) {
  clock_gettime(CLOCK_MONOTONIC, &static_cast<Event*>(event)->time);
  return broken;
}
int cuEventSynchronize(void*) { return broken; }
int cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  const timespec &a = static_cast<Event*>(start)->time, &b = static_cast<Event*>(end)->time;
  *milliseconds = static_cast<float>(static_cast<double>(b.tv_sec - a.tv_sec) * 1e3 +
                                     static_cast<double>(b.tv_nsec - a.tv_nsec) * 1e-6);
  return broken;
}
}
