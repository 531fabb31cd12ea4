#include "device/triton/device.h"

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "device/nvidia.h"
#include "device/triton/python.h"

namespace kw::device::triton {
namespace {

constexpr int kPretended = 3;                 // multiprocessors of the interpreter: enough that programs share work
constexpr std::chrono::seconds kImport{120};  // for a worker to import PyTorch and Triton on a busy machine

// A file of Python is not compiled before it is launched; that it is Python at all is known earlier.
Result<std::string> checked(const std::string& python, const std::string& file, const std::string& text) {
  Command command;
  command.argv = {python, "-c", "import sys; compile(sys.stdin.read(), sys.argv[1], 'exec')", file};
  command.input = text;
  command.timeout = std::chrono::seconds(60);
  KW_TRY(const Finished finished, run(command));
  if (finished.ok()) return text;
  return fail(ErrorKind::GateFailed, fmt::format("{} is not Python:\n{}", file, trim(finished.errors)));
}

class TritonDevice final : public Device {
 public:
  TritonDevice(Python python, std::optional<Gpu> gpu, const DeviceOptions& options, Worker worker)
      : python_(std::move(python)),
        gpu_(std::move(gpu)),
        options_(options),
        cache_(options.cache_folder),
        worker_(std::move(worker)) {}

  kernel::Target target() const override { return kernel::Target::Triton; }
  std::string name() const override {
    return gpu_ ? fmt::format("{}, sm_{}{} (Triton {})", gpu_->name, gpu_->major, gpu_->minor, python_.triton)
                : "the interpreter of Triton " + python_.triton;
  }
  kernel::Machine machine() const override { return {1, gpu_ ? gpu_->multiprocessors : kPretended}; }
  std::uint64_t cache_bytes() const override {
    constexpr std::uint64_t kUsual = std::uint64_t{64} << 20;
    return gpu_ && gpu_->cache_bytes > 0 ? gpu_->cache_bytes : kUsual;
  }
  Status can_run() const override { return {}; }
  std::vector<std::string> architectures() const override {
    return {gpu_ ? fmt::format("sm_{}{}", gpu_->major, gpu_->minor) : "interpreter"};
  }

  Result<CompiledSet> compile(const kernel::Manifest& manifest, const Sources& sources,
                              const kernel::TypeBinding& types, const std::string&) override {
    CompiledSet set{types, {}, CallStyle::Python, architectures()[0]};
    for (const std::string& file : manifest.files()) {
      const auto found = sources.find(file);
      if (found == sources.end()) return bad_input(fmt::format("the manifest names {}, which is not there", file));
      Sha256 hash;
      hash.add("triton kernel 1:" + python_.path + ":" + python_.triton + ":" + file + ":");
      hash.add(found->second);
      CompiledFile compiled{file, {}, hash.hex(), {}, "Triton " + python_.triton, false, 0};
      KW_TRY(const Cache::Made made,
             cache_.file(compiled.key, ".py", [&] { return checked(python_.path, file, found->second); }));
      compiled.library = made.path;
      compiled.cached = made.hit;
      set.files.push_back(std::move(compiled));
    }
    return set;
  }

  Result<RunOutcome> run(const std::vector<Program>& programs, Arena& arena, const RunOptions& options) override {
    return worker_.run(programs, arena, options);
  }

 private:
  Python python_;
  std::optional<Gpu> gpu_;
  DeviceOptions options_;
  Cache cache_;
  Worker worker_;
};

// The worker's files lie in the cache, so that one imports the other.
Result<std::string> worker_file(const std::string& cache_folder) {
  const std::string worker(embedded::file("python/kernelwright/triton_worker.py"));
  const std::string interpreter(embedded::file("python/kernelwright/interpreter.py"));
  Sha256 hash;
  hash.add(worker);
  hash.add(interpreter);
  const std::string folder = cache_folder + "/triton_worker_" + hash.hex().substr(0, 16);
  for (const auto& [name, text] : {std::pair{"triton_worker.py", &worker}, std::pair{"interpreter.py", &interpreter}})
    if (!file_exists(folder + "/" + name)) KW_CHECK(write_file_atomically(folder + "/" + name, *text));
  return folder + "/triton_worker.py";
}

}  // namespace

Result<std::unique_ptr<Device>> open(const DeviceOptions& options) {
  KW_TRY(Python python, find_python(options.python));
  std::vector<Gpu> gpus;
  look_for_driver(gpus, options.driver);
  std::optional<Gpu> gpu;
  if (options.gpu >= 0 && static_cast<std::size_t>(options.gpu) < gpus.size())
    gpu = gpus[static_cast<std::size_t>(options.gpu)];
  KW_TRY(const std::string file, worker_file(options.cache_folder));
  Worker worker(options.limits);
  worker.set_command({python.path, file, gpu ? "--gpu" : "--interpreter"}, kImport);
  worker.set_environment({{"OMP_NUM_THREADS", "1"}, {"PYTHONDONTWRITEBYTECODE", "1"}, {"PYTHONWARNINGS", "ignore"}});
  return std::make_unique<TritonDevice>(std::move(python), std::move(gpu), options, std::move(worker));
}

}  // namespace kw::device::triton
