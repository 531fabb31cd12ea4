// A Python package of kernels: a folder that builds into a wheel and is imported by a training job. It is text alone:
// the build compiles the C++ and, with NVRTC, the CUDA.
//
//   pyproject.toml  build_backend.py  README.md
//   my_kernels/__init__.py  my_kernels/rms_norm.py  my_kernels/_op.py  my_kernels/record.json
//   my_kernels/reference/rms_norm.py  my_kernels/source/rms_norm.py
//   csrc/rms_norm.cpp  csrc/cpu/rms_norm_forward.cpp  csrc/cuda/rms_norm_forward.cu  csrc/build.json
//   tests/test_rms_norm.py  benchmark.py
#pragma once

#include <map>
#include <string>
#include <vector>

#include "act/package/op_form.h"

namespace kw::act {

struct PackageOptions {
  std::string name;  // of the Python package: an identifier
  std::vector<kernel::Target> targets = {kernel::Target::Cpu, kernel::Target::Cuda};
  std::vector<std::string> architectures = {"sm_90"};  // cubins; PTX of the oldest serves the later ones
};

// The folder in "package:DIR" or "cpp:DIR", and the name that its last part gives to what is in it.
Result<std::string> set_directory(const std::string& into, const std::string& set);
std::string package_name(const std::string& directory);

// Path in the package's folder → text.
Result<std::map<std::string, std::string>> package(const std::vector<Ingredients>& kernels,
                                                   const PackageOptions& options);

}  // namespace kw::act
