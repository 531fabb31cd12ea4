// One interface over all that kernels run on, so that who judges or times a kernel need not know where it runs.
//
//   KW_TRY(auto device, open_device(manifest.target));
//   KW_TRY(const CompiledSet kernels, device->compile(manifest, files, types));
//   facts.machine = device->machine();
//   ... an Arena with every buffer of the pass; facts.tensors = arena.tensors() ...
//   KW_TRY(const Program program, device->prepare(pass, kernels, facts));
//   KW_TRY(const RunOutcome outcome, device->run({program}, arena));
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/arena.h"
#include "device/cache.h"
#include "device/compiled.h"
#include "device/program.h"
#include "device/worker.h"
#include "kernel/call.h"
#include "kernel/manifest.h"

namespace kw::device {

class Device {
 public:
  virtual ~Device() = default;

  virtual kernel::Target target() const = 0;
  virtual std::string name() const = 0;  // for people: "cpu (g++ 12.2.0)", "NVIDIA H200, sm_90 (NVRTC 13.0)"

  // What expressions of a manifest may ask about the machine. Guards and launches are evaluated with this.
  virtual kernel::Machine machine() const = 0;

  virtual std::uint64_t cache_bytes() const = 0;  // of the last level, which all of the device shares

  // Nothing, if kernels can run here; else why not (a GPU is missing). Compiling may work all the same.
  virtual Status can_run() const = 0;

  // What it compiles for: "native", or "sm_80", "sm_90", ... The first is what runs here, where anything does.
  virtual std::vector<std::string> architectures() const = 0;

  // A kernel that does not compile is an error of kind GateFailed, with the compiler's own words. Results are cached.
  // No architecture: the first.
  virtual Result<CompiledSet> compile(const kernel::Manifest& manifest, const Sources& sources,
                                      const kernel::TypeBinding& types, const std::string& architecture = {}) = 0;

  // The same, but a kernel may be compiled no sooner than `prepare` finds that a call needs it.
  virtual Result<CompiledSet> compile_when_called(const kernel::Manifest& manifest, const Sources& sources,
                                                  const kernel::TypeBinding& types) {
    return compile(manifest, sources, types);
  }

  // A call of a pass, with every buffer in facts.tensors as Arena::tensors gives them. Fails as `compile` does where a
  // kernel that the call needs does not compile.
  virtual Result<Program> prepare(const kernel::Pass& pass, const CompiledSet& kernels, const kernel::Facts& facts);

  // Runs in a worker process. An error is the engine's own; what a kernel does wrong is a fault. Afterwards the arena
  // holds what the kernels wrote.
  virtual Result<RunOutcome> run(const std::vector<Program>& programs, Arena& arena,
                                 const RunOptions& options = {}) = 0;

  // The same under a sanitizer, each program once, which takes far longer: what it complains of, in its own words, or
  // nothing. MissingTool, where the device has none or it does not work here.
  enum class Check : std::uint8_t { Memory, Races, Barriers };
  virtual Result<std::optional<std::string>> sanitize(const std::vector<Program>& programs, Arena& arena, Check check);

 protected:
  Device() = default;
};

struct DeviceOptions {
  Limits limits;
  std::string cache_folder = default_cache_folder();
  std::string compiler;                           // cpu: as find_compiler takes it
  std::vector<std::string> compiler_flags;        // cpu: instead of its own, where there are any
  std::string worker_program = "/proc/self/exe";  // a binary whose main calls worker_main
  int gpu = 0;                                    // cuda: which one
  std::string driver = "libcuda.so.1";            // cuda: the library of the driver
  std::string python;                             // triton: the one that has it; empty: the one that is found
  std::string sanitizer;                          // cuda: compute-sanitizer; empty: the one that is found
};

// triton: needs a Python that has it; without a GPU kernels run in its interpreter.
// cpu: needs a compiler. cuda: needs NVRTC; without a GPU it compiles, and can_run says why it does no more.
Result<std::unique_ptr<Device>> open_device(kernel::Target target, const DeviceOptions& options = {});

}  // namespace kw::device
