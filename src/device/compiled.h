// Kernels that a device can run: what a compiler made of the files of a manifest, for one binding of its type
// parameters and one architecture.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/manifest.h"
#include "kernel/types.h"

namespace kw::device {

// Path, as the manifest names it (or as a kernel includes it) → text.
using Sources = std::map<std::string, std::string>;

// What the assembler says of one kernel (cuda).
struct KernelReport {
  std::string symbol;
  std::string architecture;  // "sm_90"
  int registers = 0;         // of each thread
  int stack_bytes = 0;       // of each thread, in local memory: arrays that it indexes, and spills
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  int shared_bytes = 0;  // static; what the launch adds is not known here
  int barriers = 0;
  bool spills() const { return spill_store_bytes > 0 || spill_load_bytes > 0; }
  bool operator==(const KernelReport&) const = default;
};

struct CompiledFile {
  std::string file;     // of the manifest
  std::string library;  // the shared object, or the cubin
  std::string key;      // hash of all that it was made from
  std::vector<std::string> flags;
  std::string compiler;  // what the compiler says of itself
  bool cached = false;   // no compiler ran
  double seconds = 0;    // that it ran
  std::vector<KernelReport> reports = {};
  std::string symbol = {};  // the one kernel of the file that is in here; empty: all of them
};

// How the kernels of a set are called.
enum class CallStyle : std::uint8_t {
  Shim,      // a host function that takes slots (cpu/shim.h)
  Emulated,  // the same: one thread of a launch that the emulation runs (emulate/grid.h)
  Launch,    // a kernel of a GPU
  Python,    // a function of a Python file, by a worker in Python (triton/device.h)
};

// Compiles kernels of a set when they are first called, each once. May be asked from several threads.
class LateCompiler {
 public:
  virtual ~LateCompiler() = default;
  virtual Result<CompiledFile> compile(const kernel::Entry& entry) = 0;
  virtual double seconds() const = 0;  // that compilers have run for it
};

struct CompiledSet {
  kernel::TypeBinding types;
  std::vector<CompiledFile> files;
  CallStyle style = CallStyle::Shim;
  std::string architecture = "native";
  std::shared_ptr<LateCompiler> late = {};  // none: all that can be called is among the files

  // What holds these kernels, in their order; where some are not compiled yet, all cores compile them.
  Result<std::vector<CompiledFile>> find(std::span<const kernel::Entry* const> entries) const;
  double seconds() const;  // that compilers ran
};

}  // namespace kw::device
