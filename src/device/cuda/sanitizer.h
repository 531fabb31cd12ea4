// NVIDIA's compute-sanitizer: a program that starts another and watches what its kernels do on the GPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/device.h"

namespace kw::device::cuda {

// From PATH, or from a CUDA toolkit.
Result<std::string> find_sanitizer();

const char* tool_of(Device::Check check);  // "memcheck", "racecheck", "synccheck"

// The first complaint of a log, in its own words; nothing, where it ends with none. An error, where the sanitizer did
// not come to an end, or does not work with this GPU.
Result<std::optional<std::string>> first_complaint(std::string_view log);

// Runs programs in a worker of their own under the sanitizer.
Result<std::optional<std::string>> sanitize(const std::vector<Program>& programs, Arena& arena, Device::Check check,
                                            const std::string& sanitizer, const std::string& worker_program,
                                            const Limits& limits, const GpuTarget& gpu);

}  // namespace kw::device::cuda
