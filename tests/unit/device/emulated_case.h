// Kernels of tests/unit/device/emulated/*.cu, run in the emulation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/device.h"
#include "kernel_case.h"

namespace kw::device {

// One kernel over x and y, each an array of T, after which come two sizes, or one.
struct EmulatedKernel {
  std::string symbol;
  std::string grid = "1", block = "128", shared_bytes = "0";
};

struct EmulatedOptions {
  std::uint64_t seed = 1;
  bool sanitize = false;
  kernel::DType dtype = kernel::DType::F32;
  std::int64_t x_misalignment = 0;
  std::int64_t rows = 1;
  std::chrono::milliseconds time{20'000};
  bool fill_y = false;  // with zeros, before
};

struct EmulatedOutcome {
  std::optional<Fault> fault;
  std::vector<float> y;
  double seconds = 0;
  std::string output;
};

// Runs kernels one after the other: x → y, or x → partial → y where there are two. The file is compiled once.
EmulatedOutcome run_emulated(const std::string& file, const std::vector<EmulatedKernel>& kernels,
                             const std::vector<float>& x, std::int64_t y_elements, const EmulatedOptions& options = {});

}  // namespace kw::device
