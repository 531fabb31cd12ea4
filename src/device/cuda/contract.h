// What NVRTC compiles: a kernel's file, with its type parameters as macros, and the manifest's word on every signature.
// A kernel whose parameters are not what its manifest says does not compile.
//
//   #include "kw/element.h"
//   #define KW_T kw::bf16
//   #include "norm.cu"
//   static_assert(kw_contract::fits<decltype(&::norm_forward), void (*)(const kw::bf16*, float*, long long)>, "...");
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/manifest.h"
#include "kernel/types.h"

namespace kw::device::cuda {

// The name that CUDA C++ gives to an element type: "kw::bf16", "long long".
Result<std::string> cuda_type(kernel::DType dtype);

// `only`: the one kernel that is compiled; empty: all that the file holds. The others are declared, and their bodies
// become templates that nobody asks for, so that neither front end nor assembler spends time on them:
//
//   #define norm_forward_large(...) norm_forward_large(__VA_ARGS__); template <int> ... norm_forward_large(__VA_ARGS__)
//
// A file in which that cannot be (its kernels stand in an extern "C" block, or call each other) does not compile so.
Result<std::string> translation_unit(const kernel::Manifest& manifest, const std::string& file,
                                     const kernel::TypeBinding& types, const std::string& only = {});

// The kernels that the manifest names in a file, each once.
std::vector<const kernel::Entry*> entries_of(const kernel::Manifest& manifest, const std::string& file);

}  // namespace kw::device::cuda
