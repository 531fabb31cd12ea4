// What the assembler reports of each kernel, read from the log of `--ptxas-options=-v`:
//
//   ptxas info    : Compiling entry function 'norm_forward' for 'sm_90'
//   ptxas info    : Function properties for norm_forward
//   ptxas         .     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
//   ptxas info    : Used 32 registers, used 1 barriers, 8 bytes cumulative stack size, 4096 bytes smem, 372 bytes
//   cmem[0]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/compiled.h"

namespace kw::device::cuda {

// In the order of the log. What cannot be understood is not in it: the caller knows which kernels must be.
std::vector<KernelReport> ptxas_reports(std::string_view log);

// The stored form, beside a cubin.
std::string to_json(const std::vector<KernelReport>& reports);
Result<std::vector<KernelReport>> reports_from_json(std::string_view text);

}  // namespace kw::device::cuda
