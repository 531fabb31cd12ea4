// The Python that has PyTorch and Triton, for the worker that runs Triton kernels.
#pragma once

#include <string>

#include "base/result.h"

namespace kw::device::triton {

struct Python {
  std::string path;
  std::string triton;  // its version
};

// `wanted`, or, where it is empty, that of the active environment, of .venv here or beside the binary, or the system's.
Result<Python> find_python(const std::string& wanted = {});

}  // namespace kw::device::triton
