#include "verify/architectures.h"

#include <fmt/format.h>

#include <atomic>
#include <thread>

namespace kw::verify {
namespace {

struct Job {
  std::string architecture;
  const kernel::TypeBinding* types = nullptr;
  Result<device::CompiledSet> built = bad_input("not built");
};

// On all cores, each job once.
void compile_all(device::Device& device, const Subject& subject, std::vector<Job>& jobs) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  const std::size_t count = std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()), jobs.size());
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < jobs.size(); at = next++)
        jobs[at].built = device.compile(subject.manifest, subject.files, *jobs[at].types, jobs[at].architecture);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

Result<ArchitectureBuilds> build_for_architectures(const Subject& subject,
                                                   const std::vector<kernel::TypeBinding>& mixtures,
                                                   const device::DeviceOptions& options, bool spills) {
  ArchitectureBuilds out;
  const auto device = device::open_device(kernel::Target::Cuda, options);
  if (!device) {
    out.unable = device.error().message;
    return out;
  }
  out.architectures =
      subject.manifest.architectures.empty() ? (*device)->architectures() : subject.manifest.architectures;
  std::vector<Job> jobs;
  for (const std::string& architecture : out.architectures)
    for (const kernel::TypeBinding& types : mixtures) jobs.push_back({architecture, &types});
  compile_all(**device, subject, jobs);
  for (const Job& job : jobs) {
    const std::string where = job.architecture + (job.types->empty() ? "" : ", " + kernel::text(*job.types)) + ": ";
    if (!job.built) {
      if (job.built.error().kind != ErrorKind::GateFailed) return Failure(job.built.error());
      out.findings.push_back({Gate::Builds, where + job.built.error().message});
      continue;
    }
    for (const device::CompiledFile& file : job.built->files)
      for (const device::KernelReport& kernel : file.reports) {
        out.kernels.push_back({kernel.symbol, job.architecture, kernel::text(*job.types), kernel.registers,
                               kernel.spill_store_bytes, kernel.spill_load_bytes, kernel.stack_bytes,
                               kernel.shared_bytes});
        if (!kernel.spills()) continue;
        ++out.spilling;
        const bool own = job.types == &mixtures.front();
        if (const std::string in = kernel::text(*job.types) + " on " + job.architecture;
            !own && (out.spilling_elsewhere.empty() || out.spilling_elsewhere.back() != in))
          out.spilling_elsewhere.push_back(in);
        if (own && !spills)
          out.findings.push_back(
              {Gate::Builds, fmt::format("{}{} spills registers: {} bytes are stored and {} loaded", where,
                                         kernel.symbol, kernel.spill_store_bytes, kernel.spill_load_bytes)});
      }
  }
  return out;
}

}  // namespace kw::verify
