// How long generated CUDA takes to compile, with NVRTC and without a GPU: each kernel by itself, each file whole, the
// first call of a pass, and all kernels of all examples on every core.
//
//   bench_cuda_compile [FOLDER [ARCHITECTURE]]
//
// FOLDER holds a folder per op (manifest.json and its .cu files); the golden files are the default. Milliseconds are
// the compiler's own, in a process that has compiled before; caches are empty.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "device/cuda/compile.h"
#include "device/cuda/contract.h"
#include "device/worker_main.h"

namespace {

using namespace kw;
using namespace kw::device;
using Clock = std::chrono::steady_clock;

struct Op {
  std::string name;
  kernel::Manifest manifest;
  Sources sources;
  kernel::TypeBinding types;
  std::vector<const kernel::Entry*> entries;
};

Result<Op> read_op(const std::filesystem::path& folder) {
  Op op;
  op.name = folder.filename().string();
  const std::string path = (folder / "manifest.json").string();
  KW_TRY(const std::string text, read_text(path));
  KW_TRY(op.manifest, kernel::manifest_from_json(text, path));
  for (const std::string& file : op.manifest.files()) {
    KW_TRY(op.sources[file], read_text((folder / file).string()));
  }
  for (const auto& [name, dtypes] : op.manifest.types) op.types[name] = ir::DType::BF16;
  return op;
}

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

class Bench {
 public:
  Bench(cuda::Nvrtc& nvrtc, std::string architecture) : nvrtc_(nvrtc), architecture_(std::move(architecture)) {}

  Status row(const Op& op) {
    KW_TRY(const TemporaryDirectory folder, TemporaryDirectory::make());
    const Cache cache(folder.path());
    KW_TRY(const CompiledSet set, later(op, cache));
    std::vector<double> alone;
    for (const kernel::Entry* entry : op.entries) {
      const kernel::Entry* const one[] = {entry};
      KW_TRY(const std::vector<CompiledFile> made, set.find(one));
      alone.push_back(1e3 * made[0].seconds);
    }
    double whole = 0, sum = 0;
    for (const auto& [file, text] : op.sources) {
      KW_TRY(const std::string unit, cuda::translation_unit(op.manifest, file, op.types));
      KW_TRY(const CompiledFile made, cuda::compile_text(file, unit, op.sources, architecture_, nvrtc_, cache));
      whole += 1e3 * made.seconds;
    }
    for (const double one : alone) sum += one;
    std::sort(alone.begin(), alone.end());
    std::string calls;
    for (const kernel::Pass& pass : op.manifest.passes) {
      KW_TRY(const double call, first_call(op, pass));
      calls += fmt::format(" {:.0f} |", call);
    }
    if (op.manifest.passes.size() < 2) calls += " |";
    fmt::print("| {} | {} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} |{}\n", op.name, alone.size(), alone.front(),
               alone[alone.size() / 2], alone.back(), sum, whole, calls);
    std::fflush(stdout);
    return {};
  }

  // The first kernel of every step of a pass, as a call at the common shape takes it.
  Result<double> first_call(const Op& op, const kernel::Pass& pass) {
    KW_TRY(const TemporaryDirectory folder, TemporaryDirectory::make());
    std::vector<const kernel::Entry*> needed;
    for (const kernel::Step& step : pass.steps)
      if (!step.entries.empty()) needed.push_back(&step.entries.front());
    const auto start = Clock::now();
    KW_TRY(const CompiledSet set, later(op, Cache(folder.path())));
    KW_CHECK(set.find(needed));
    return milliseconds_since(start);
  }

  // Everything, as many at once as there are cores.
  Status all(const std::vector<Op>& ops) {
    KW_TRY(const TemporaryDirectory folder, TemporaryDirectory::make());
    const Cache cache(folder.path());
    std::vector<CompiledSet> sets;
    std::vector<std::pair<std::size_t, const kernel::Entry*>> jobs;
    for (const Op& op : ops) {
      KW_TRY(CompiledSet set, later(op, cache));
      for (const kernel::Entry* entry : op.entries) jobs.emplace_back(sets.size(), entry);
      sets.push_back(std::move(set));
    }
    std::atomic<std::size_t> next = 0, failed = 0;
    const auto start = Clock::now();
    std::vector<std::thread> threads(std::max(1u, std::thread::hardware_concurrency()));
    for (std::thread& thread : threads)
      thread = std::thread([&] {
        for (std::size_t at = next++; at < jobs.size(); at = next++) {
          const kernel::Entry* const one[] = {jobs[at].second};
          if (!sets[jobs[at].first].find(one)) ++failed;
        }
      });
    for (std::thread& thread : threads) thread.join();
    const double seconds = milliseconds_since(start) / 1e3;
    if (failed > 0) return fail(ErrorKind::GateFailed, fmt::format("{} kernels do not compile", failed.load()));
    std::size_t files = 0;
    for (const Op& op : ops) files += op.sources.size();
    fmt::print("\n{} kernels of {} files on {} threads: {:.2f} s, {:.1f} kernels and {:.1f} files a second\n",
               jobs.size(), files, threads.size(), seconds, static_cast<double>(jobs.size()) / seconds,
               static_cast<double>(files) / seconds);
    return {};
  }

 private:
  Result<CompiledSet> later(const Op& op, const Cache& cache) {
    return cuda::compile_when_called(op.manifest, op.sources, op.types, architecture_, nvrtc_, cache);
  }
  cuda::Nvrtc& nvrtc_;
  const std::string architecture_;
};

Status run(const std::string& folder, const std::string& architecture) {
  std::vector<Op> ops;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!std::filesystem::exists(entry.path() / "manifest.json")) continue;
    KW_TRY(Op op, read_op(entry.path()));
    ops.push_back(std::move(op));
  }
  std::sort(ops.begin(), ops.end(), [](const Op& a, const Op& b) { return a.name < b.name; });
  for (Op& op : ops)
    for (const std::string& file : op.manifest.files())
      for (const kernel::Entry* entry : cuda::entries_of(op.manifest, file)) op.entries.push_back(entry);
  const auto start = Clock::now();
  KW_TRY(const auto nvrtc, cuda::Nvrtc::open());
  fmt::print("NVRTC {}, {}, bf16; found and opened in {:.0f} ms\n\n", nvrtc->version(), architecture,
             milliseconds_since(start));
  Bench bench(*nvrtc, architecture);
  KW_CHECK(bench.all(ops));  // and every process is warm afterwards
  fmt::print(
      "\n| op | kernels | ms each: least | median | most | sum | files whole | forward, first call | backward |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const Op& op : ops) KW_CHECK(bench.row(op));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = device::worker_main(argc, argv)) return *code;
  const auto done = run(argc > 1 ? argv[1] : KW_SOURCE_DIR "/tests/golden/cuda", argc > 2 ? argv[2] : "sm_90");
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().message);
  return 1;
}
