// A C++ library of kernels: headers with launch functions, the kernels, a CMake file and an example. No Python, and no
// PyTorch.
//
//   CMakeLists.txt  README.md  example.cpp  record.json
//   include/my_kernels/rms_norm.h  include/kw_host/tensor.h
//   src/rms_norm.cpp  src/cpu/rms_norm_forward.cpp  src/cuda/rms_norm_forward.cu
#pragma once

#include <map>
#include <string>
#include <vector>

#include "act/package/op_form.h"

namespace kw::act {

struct LibraryOptions {
  std::string name;  // of the library and its namespace
  std::vector<kernel::Target> targets = {kernel::Target::Cpu, kernel::Target::Cuda};
};

// Path in the library's folder → text.
Result<std::map<std::string, std::string>> library(const std::vector<Ingredients>& kernels,
                                                   const LibraryOptions& options);

}  // namespace kw::act
