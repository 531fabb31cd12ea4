// What NVRTC compiles: a kernel's file, with its type parameters as macros, and the manifest's word on every signature.
// A kernel whose parameters are not what its manifest says does not compile.
//
//   #include "kw/element.h"
//   #define KW_T kw::bf16
//   #include "norm.cu"
//   static_assert(kw_contract::fits<decltype(&::norm_forward), void (*)(const kw::bf16*, float*, long long)>, "...");
#pragma once

#include <string>

#include "base/result.h"
#include "kernel/manifest.h"
#include "kernel/types.h"

namespace kw::device::cuda {

// The name that CUDA C++ gives to an element type: "kw::bf16", "long long".
Result<std::string> cuda_type(kernel::DType dtype);

Result<std::string> translation_unit(const kernel::Manifest& manifest, const std::string& file,
                                     const kernel::TypeBinding& types);

}  // namespace kw::device::cuda
