// Builds the CUDA kernels of a manifest, for one binding of its type parameters and one architecture, into cubins.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/cache.h"
#include "device/compiled.h"
#include "device/cuda/nvrtc.h"
#include "kernel/manifest.h"
#include "kernel/types.h"

namespace kw::device::cuda {

// How every CUDA kernel is built. As on the cpu, nothing here changes a result that the source spells out: no fused
// multiply-add that was not asked for, no approximate division or square root, no flushing of small numbers.
const std::vector<std::string>& kernel_options();

struct CompileOptions {
  std::vector<std::string> options = kernel_options();
  std::chrono::seconds patience{120};
};

// `architecture`: "sm_80", "sm_90a", ... for cubins, one for each kernel, all compiled at once; "compute_80" for PTX of
// whole files, which no assembler has seen and of which nothing is reported. A kernel that does not compile is an error
// of kind GateFailed, with the place of the first complaint and the compiler's own words.
//
// Kernels of one file stay together in one cubin where they must: where they share variables in the GPU's memory, or
// where the file does not compile with all but one of them left out (contract.h).
Result<CompiledSet> compile(const kernel::Manifest& manifest, const Sources& sources, const kernel::TypeBinding& types,
                            const std::string& architecture, Nvrtc& nvrtc, const Cache& cache,
                            const CompileOptions& options = {});

// Compiles nothing until a kernel is called. `nvrtc` outlives the set.
Result<CompiledSet> compile_when_called(const kernel::Manifest& manifest, const Sources& sources,
                                        const kernel::TypeBinding& types, const std::string& architecture, Nvrtc& nvrtc,
                                        const Cache& cache, const CompileOptions& options = {});

// One translation unit by itself, under the same rules: `text` may include sources and "kw/NAME.h".
Result<CompiledFile> compile_text(const std::string& name, const std::string& text, const Sources& sources,
                                  const std::string& architecture, Nvrtc& nvrtc, const Cache& cache,
                                  const CompileOptions& options = {});

}  // namespace kw::device::cuda
