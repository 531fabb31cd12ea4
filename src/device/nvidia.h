// NVIDIA's driver and run-time compiler, opened if they are there: the binary itself is linked to neither.
#pragma once

#include <string>
#include <vector>

#include "device/machine.h"

namespace kw::device {

// The driver, and the GPUs that it knows of.
Tool look_for_driver(std::vector<Gpu>& gpus, const std::string& library = "libcuda.so.1");

// NVRTC: from the system's library path, from a CUDA toolkit, or from the given files (Python packages hold it too).
Tool look_for_nvrtc(const std::vector<std::string>& candidates);

}  // namespace kw::device
