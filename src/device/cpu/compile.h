// Builds the C++ kernels of a manifest, for one binding of its type parameters, into shared objects.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/cache.h"
#include "device/compiled.h"
#include "device/cpu/compiler.h"
#include "kernel/manifest.h"
#include "kernel/types.h"

namespace kw::device::cpu {

struct CompileOptions {
  std::vector<std::string> flags = kernel_flags();
  std::vector<std::string> runtime = {"runtime/cpu/"};  // folders of headers; of two with one name the later counts
  // Of a kernel's file: the text that follows the bridges to its kernels.
  std::function<std::string(const std::string& source)> after = {};
  std::chrono::seconds patience{120};
};

// A kernel that does not compile is an error of kind GateFailed, with the compiler's own words.
Result<CompiledSet> compile(const kernel::Manifest& manifest, const Sources& sources, const kernel::TypeBinding& types,
                            const Compiler& compiler, const Cache& cache, const CompileOptions& options = {});

}  // namespace kw::device::cpu
