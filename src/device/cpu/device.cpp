#include "device/cpu/device.h"

#include <cstdlib>

#include "base/file.h"
#include "device/cpu/compile.h"
#include "device/cpu/settings.h"

namespace kw::device::cpu {
namespace {

class CpuDevice final : public Device {
 public:
  CpuDevice(Compiler compiler, const DeviceOptions& options)
      : compiler_(std::move(compiler)), cache_(options.cache_folder), worker_(options.limits, options.worker_program) {
    if (!options.compiler_flags.empty()) compile_.flags = options.compiler_flags;
    compile_.after = [](const std::string&) { return settings_source(); };
  }

  kernel::Target target() const override { return kernel::Target::Cpu; }
  std::string name() const override { return "cpu (" + compiler_.version + ")"; }
  kernel::Machine machine() const override { return {worker_.limits().threads, 0}; }
  std::uint64_t cache_bytes() const override {
    // As the first core sees it: sysconf adds up caches that no core fills.
    constexpr std::uint64_t kUsual = std::uint64_t{32} << 20;
    const auto text = read_file("/sys/devices/system/cpu/cpu0/cache/index3/size");  // "32768K"
    const auto kilobytes = text ? std::strtoull(text->c_str(), nullptr, 10) : 0;
    return kilobytes > 0 ? kilobytes << 10 : kUsual;
  }
  Status can_run() const override { return {}; }
  std::vector<std::string> architectures() const override { return {"native"}; }

  Result<CompiledSet> compile(const kernel::Manifest& manifest, const Sources& sources,
                              const kernel::TypeBinding& types, const std::string& architecture) override {
    if (!architecture.empty() && architecture != "native")
      return bad_input("cpu kernels are compiled for this machine alone, not for " + architecture);
    return cpu::compile(manifest, sources, types, compiler_, cache_, compile_);
  }

  Result<RunOutcome> run(const std::vector<Program>& programs, Arena& arena, const RunOptions& options) override {
    return worker_.run(programs, arena, options);
  }

 private:
  Compiler compiler_;
  CompileOptions compile_;
  Cache cache_;
  Worker worker_;
};

}  // namespace

Result<std::unique_ptr<Device>> open(const DeviceOptions& options) {
  KW_TRY(Compiler compiler, find_compiler(options.compiler));
  return std::make_unique<CpuDevice>(std::move(compiler), options);
}

}  // namespace kw::device::cpu
