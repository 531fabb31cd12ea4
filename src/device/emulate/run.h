// The emulation as a worker uses it: one run of a program at a time, call by call.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "device/emulate/grid.h"
#include "device/program.h"

namespace kw::device::emulate {

// What every compiled kernel offers beside its shims: it takes the engine that runs it.
inline constexpr const char* kAttachSymbol = "kw_emulate_attach";
using Attach = void (*)(kw::emulate::Engine*);

// The constant that holds how many threads a kernel's KW_KERNEL gives it at most: a GPU refuses to launch more.
inline std::string most_threads_symbol(const std::string& shim) { return shim + "_most_threads"; }

class Run {
 public:
  Run(const Emulation& emulation, std::byte* arena);

  void begin();  // forgets the run before
  std::optional<Finding> launch(const KernelCall& call, Attach attach, void (*kernel)(const void*),
                                const void* arguments);
  void filled(const FillCall& fill);
  std::optional<Finding> end() const;

 private:
  Emulation emulation_;
  std::byte* arena_;
  Memory memory_;
  Grid grid_{memory_};
  std::uint64_t launches_ = 0;
};

}  // namespace kw::device::emulate
