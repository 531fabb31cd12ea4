#include "device/cuda/device.h"

#include <fmt/format.h>

#include "device/cuda/compile.h"
#include "device/cuda/nvrtc.h"
#include "device/cuda/sanitizer.h"
#include "device/nvidia.h"

namespace kw::device::cuda {
namespace {

class CudaDevice final : public Device {
 public:
  CudaDevice(std::unique_ptr<Nvrtc> nvrtc, std::optional<Gpu> gpu, const DeviceOptions& options)
      : nvrtc_(std::move(nvrtc)),
        gpu_(std::move(gpu)),
        target_{options.gpu, options.driver},
        options_(options),
        cache_(options.cache_folder),
        worker_(options.limits, options.worker_program) {}

  kernel::Target target() const override { return kernel::Target::Cuda; }
  std::string name() const override {
    const std::string compiler = "NVRTC " + nvrtc_->version();
    return gpu_ ? fmt::format("{}, {} ({})", gpu_->name, own_architecture(), compiler) : "no GPU (" + compiler + ")";
  }
  kernel::Machine machine() const override { return {worker_.limits().threads, gpu_ ? gpu_->multiprocessors : 0}; }
  std::uint64_t cache_bytes() const override {
    constexpr std::uint64_t kUsual = std::uint64_t{64} << 20;
    return gpu_ && gpu_->cache_bytes > 0 ? gpu_->cache_bytes : kUsual;
  }
  Status can_run() const override {
    if (gpu_) return {};
    return missing_tool("there is no NVIDIA GPU, or no driver for it",
                        "run on a machine with one, or use the target cpu");
  }

  std::vector<std::string> architectures() const override {
    std::vector<std::string> all;
    if (gpu_) all.push_back(own_architecture());
    for (const char* name : kArchitectures)
      if (!gpu_ || name != all.front()) all.emplace_back(name);
    return all;
  }

  Result<CompiledSet> compile(const kernel::Manifest& manifest, const Sources& sources,
                              const kernel::TypeBinding& types, const std::string& architecture) override {
    return cuda::compile(manifest, sources, types, architecture.empty() ? default_architecture() : architecture,
                         *nvrtc_, cache_);
  }
  Result<CompiledSet> compile_when_called(const kernel::Manifest& manifest, const Sources& sources,
                                          const kernel::TypeBinding& types) override {
    return cuda::compile_when_called(manifest, sources, types, default_architecture(), *nvrtc_, cache_);
  }

  Result<RunOutcome> run(const std::vector<Program>& programs, Arena& arena, const RunOptions& options) override {
    KW_CHECK(can_run());
    RunOptions here = options;
    here.gpu = target_;
    return worker_.run(programs, arena, here);
  }

  Result<std::optional<std::string>> sanitize(const std::vector<Program>& programs, Arena& arena,
                                              Check check) override {
    KW_CHECK(can_run());
    std::string sanitizer = options_.sanitizer;
    if (sanitizer.empty()) {
      KW_TRY(sanitizer, find_sanitizer());
    }
    return cuda::sanitize(programs, arena, check, sanitizer, options_.worker_program, options_.limits, target_);
  }

 private:
  std::string default_architecture() const { return gpu_ ? own_architecture() : "sm_90"; }
  std::string own_architecture() const { return fmt::format("sm_{}{}", gpu_->major, gpu_->minor); }

  std::unique_ptr<Nvrtc> nvrtc_;
  std::optional<Gpu> gpu_;
  GpuTarget target_;
  DeviceOptions options_;
  Cache cache_;
  Worker worker_;
};

}  // namespace

Result<std::unique_ptr<Device>> open(const DeviceOptions& options) {
  KW_TRY(std::unique_ptr<Nvrtc> nvrtc, Nvrtc::open({}, options.worker_program));
  std::vector<Gpu> gpus;
  look_for_driver(gpus, options.driver);
  std::optional<Gpu> gpu;
  if (options.gpu >= 0 && static_cast<std::size_t>(options.gpu) < gpus.size())
    gpu = gpus[static_cast<std::size_t>(options.gpu)];
  return std::make_unique<CudaDevice>(std::move(nvrtc), std::move(gpu), options);
}

}  // namespace kw::device::cuda
