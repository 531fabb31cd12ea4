// The bridge between a kernel's own signature and a worker that knows only slots of eight bytes. It is compiled
// together with the kernel, so that a kernel whose signature is not what its manifest says does not compile.
//
//   extern "C" void kw_call_norm_forward(const KwSlot* a) {
//     norm_forward((const kw::bf16*)a[0].pointer, (float*)a[1].pointer, (std::int64_t)a[2].whole, (float)a[3].real);
//   }
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/manifest.h"
#include "kernel/types.h"

namespace kw::device::cpu {

// The name that C++ gives to an element type: "kw::bf16", "std::int64_t".
Result<std::string> cpp_type(kernel::DType dtype);

std::string shim_symbol(std::string_view kernel);  // "kw_call_norm_forward"

// A translation unit: type parameters as macros (T is KW_T), the file itself, and a bridge to each kernel that the
// manifest calls in it.
Result<std::string> shim_source(const kernel::Manifest& manifest, const std::string& file,
                                const kernel::TypeBinding& types);

}  // namespace kw::device::cpu
