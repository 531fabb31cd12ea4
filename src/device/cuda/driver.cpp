#include "device/cuda/driver.h"

namespace kw::device::cuda {

std::optional<Driver> Driver::open(const std::string& library) {
  const Library opened(library);
  if (!opened) return std::nullopt;
  Driver driver;
  driver.path = opened.path();
#define KW_DRIVER_FIND(name, symbol, ...)                   \
  driver.name = opened.find<CUresult(__VA_ARGS__)>(symbol); \
  if (driver.name == nullptr) return std::nullopt;
  KW_DRIVER_FUNCTIONS(KW_DRIVER_FIND)
#undef KW_DRIVER_FIND
  return driver;
}

std::string Driver::text(CUresult error) const {
  const char* words = nullptr;
  if (error_string(error, &words) == CUDA_SUCCESS && words != nullptr) return words;
  return "error " + std::to_string(static_cast<int>(error));
}

}  // namespace kw::device::cuda
