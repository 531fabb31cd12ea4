#include "device/emulate/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/subprocess.h"
#include "base/text.h"
#include "device/cpu/compile.h"
#include "device/cpu/shim.h"
#include "device/emulate/launch_bounds.h"
#include "device/emulate/run.h"
#include "kernel/layout.h"

namespace kw::device::emulate {
namespace {

const std::vector<std::string>& flags() {
  static const std::vector<std::string> kFlags = {
      "-std=c++20",
      "-O1",
      // a*b + c may be rounded once, as NVRTC compiles it: the one pass of the compiler that does so is not among those
      // of -O1.
      "-march=native",
      "-ffp-contract=fast",
      "-fexpensive-optimizations",
      "-fno-math-errno",
      "-fPIC",
      "-shared",
      "-fvisibility=hidden",
      "-w",
      // A thread's own arrays are no buffers: an index beyond one of them crashes.
      "-fsanitize=bounds",
      "-fsanitize-undefined-trap-on-error",
  };
  return kFlags;
}

std::vector<std::string> sanitizing_flags() {
  std::vector<std::string> all = flags();
  std::replace(all.begin(), all.end(), std::string("-O1"), std::string("-O0"));  // compiles twice as fast
  std::erase(all, "-fsanitize-undefined-trap-on-error");                         // here a library says what is wrong
  for (const char* flag : {"-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=all",
                           "-fno-omit-frame-pointer", "-g1"})
    all.emplace_back(flag);
  return all;
}

std::string exported(const std::string& declaration) {
  return "\nextern \"C\" __attribute__((visibility(\"default\"))) " + declaration + "\n";
}

std::string attachment() {
  return exported(
      fmt::format("void {}(kw::emulate::Engine* engine) {{ kw::emulate::engine = engine; }}", kAttachSymbol));
}

// Of each kernel that says how many threads it may have: a constant that holds them.
std::string bounds_of(const kernel::Manifest& manifest, const std::string& source) {
  std::set<std::string> called;
  for (const kernel::Pass& pass : manifest.passes)
    for (const kernel::Step& step : pass.steps)
      for (const kernel::Entry& entry : step.entries) called.insert(entry.symbol);
  std::string all;
  for (const auto& [name, threads] : launch_bounds(source))
    if (called.contains(name))
      all += exported(fmt::format("const int {} = ({});", most_threads_symbol(cpu::shim_symbol(name)), threads));
  return all;
}

// With words of CUDA's own.
bool is_plain_cuda(const Sources& sources) {
  return std::any_of(sources.begin(), sources.end(), [](const auto& file) {
    return file.second.find("__global__") != std::string::npos || file.second.find("blockIdx") != std::string::npos;
  });
}

// The sanitizer's library, which a process must be started with.
Result<std::string> sanitizer_library(const cpu::Compiler& compiler) {
  Command command;
  command.argv = {compiler.path, "-print-file-name=libasan.so"};
  command.timeout = std::chrono::seconds(30);
  KW_TRY(const Finished finished, run(command));
  const std::string path(trim(finished.output));
  if (!finished.ok() || path.find('/') == std::string::npos)
    return missing_tool(compiler.path + " has no address sanitizer", "apt-get install libasan8 g++");
  return path;
}

class EmulatedDevice final : public Device {
 public:
  EmulatedDevice(cpu::Compiler compiler, const Options& options, Worker worker)
      : compiler_(std::move(compiler)),
        options_(options),
        cache_(options.device.cache_folder),
        worker_(std::move(worker)) {}

  kernel::Target target() const override { return kernel::Target::Cuda; }
  std::string name() const override { return "cuda, emulated (" + compiler_.version + ")"; }
  kernel::Machine machine() const override { return {1, options_.multiprocessors}; }
  std::uint64_t cache_bytes() const override { return std::uint64_t{1} << 20; }  // nothing is timed here
  Status can_run() const override { return {}; }
  std::vector<std::string> architectures() const override { return {"emulated"}; }

  Result<CompiledSet> compile(const kernel::Manifest& manifest, const Sources& sources,
                              const kernel::TypeBinding& types, const std::string& architecture) override {
    if (!architecture.empty() && architecture != "emulated")
      return bad_input("the emulation compiles for itself alone, not for " + architecture);
    cpu::CompileOptions compile;
    compile.flags = options_.sanitize ? sanitizing_flags() : flags();
    compile.runtime = {"runtime/cuda/", "runtime/emulate/"};
    compile.after = [&manifest](const std::string& source) { return attachment() + bounds_of(manifest, source); };
    auto built = cpu::compile(manifest, sources, types, compiler_, cache_, compile);
    if (!built && is_plain_cuda(sources))
      built.error().message +=
          "\nThere is no GPU here, and the emulation knows the words of runtime/cuda/ alone: KW_KERNEL, kw::block(), "
          "kw::load() (docs/contract.md)";
    if (!built) return Failure(built.error());
    CompiledSet set = *std::move(built);
    set.style = CallStyle::Emulated;
    set.architecture = "emulated";
    return set;
  }

  Result<Program> prepare(const kernel::Pass& pass, const CompiledSet& kernels, const kernel::Facts& facts) override {
    KW_TRY(Program program, device::prepare(pass, kernels, facts));
    Emulation& emulation = program.emulation.emplace();
    emulation.seed = options_.seed;
    for (const kernel::Buffer& buffer : pass.buffers) {
      const bool input = buffer.role == kernel::Role::Input;
      const bool output = buffer.role == kernel::Role::Output || buffer.role == kernel::Role::Saved;
      const kernel::Tensor& tensor = facts.tensors.at(buffer.name);
      // An output that takes the memory of an input is that input, and writable.
      if (!buffer.alias.empty()) {
        for (Emulation::Buffer& other : emulation.buffers)
          if (other.name == buffer.alias) other.writable = true;
        continue;
      }
      const auto elements = static_cast<std::uint64_t>(kernel::storage_elements(tensor).value_or(0));
      const int bytes = ir::info(tensor.dtype).bytes;
      emulation.buffers.push_back({buffer.name, tensor.address, elements * static_cast<std::uint64_t>(bytes), bytes,
                                   tensor.shape, tensor.strides, input, output, !input});
    }
    return program;
  }

  Result<RunOutcome> run(const std::vector<Program>& programs, Arena& arena, const RunOptions& options) override {
    return worker_.run(programs, arena, options);
  }

 private:
  cpu::Compiler compiler_;
  Options options_;
  Cache cache_;
  Worker worker_;
};

}  // namespace

Result<std::unique_ptr<Device>> open(const Options& options) {
  KW_TRY(cpu::Compiler compiler, cpu::find_compiler(options.device.compiler));
  Worker worker(options.device.limits, options.device.worker_program);
  if (options.sanitize) {
    KW_TRY(const std::string library, sanitizer_library(compiler));
    worker.set_environment({{"LD_PRELOAD", library},
                            {"ASAN_OPTIONS",
                             "detect_leaks=0:handle_abort=0:abort_on_error=1:handle_segv=0:"
                             "handle_sigbus=0:handle_sigfpe=0:handle_sigill=0"},
                            {"UBSAN_OPTIONS", "print_stacktrace=0:abort_on_error=1"}});
  }
  return std::make_unique<EmulatedDevice>(std::move(compiler), options, std::move(worker));
}

}  // namespace kw::device::emulate
