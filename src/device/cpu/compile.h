// Builds the C++ kernels of a manifest, for one binding of its type parameters, into shared objects.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/cache.h"
#include "device/cpu/compiler.h"
#include "kernel/manifest.h"
#include "kernel/types.h"

namespace kw::device::cpu {

// Path, as the manifest names it (or as a kernel includes it) → text.
using Sources = std::map<std::string, std::string>;

struct CompiledFile {
  std::string file;     // of the manifest
  std::string library;  // the shared object
  std::string key;      // hash of all that it was made from
  std::vector<std::string> flags;
  std::string compiler;  // what the compiler says of itself
  bool cached = false;   // no compiler ran
  double seconds = 0;    // that it ran
};

struct CompiledSet {
  kernel::TypeBinding types;
  std::vector<CompiledFile> files;
  const CompiledFile* find(const std::string& file) const;
};

struct CompileOptions {
  std::vector<std::string> flags = kernel_flags();
  std::chrono::seconds patience{120};
};

// A kernel that does not compile is an error of kind GateFailed, with the compiler's own words.
Result<CompiledSet> compile(const kernel::Manifest& manifest, const Sources& sources, const kernel::TypeBinding& types,
                            const Compiler& compiler, const Cache& cache, const CompileOptions& options = {});

}  // namespace kw::device::cpu
