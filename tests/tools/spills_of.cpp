// Which CUDA kernels of first schedules spill registers, by the assembler's report, for any architecture.
//
//   spills_of [--lean] FILE.py[:NAME]|FILE.kw …     of ops, as kw reads them
//   spills_of [--lean] --random FIRST COUNT         of random graphs of tiers 1 and 2
//
// With --lean, of the schedule that `kw verify` tries where the first one spills.
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "act/act.h"
#include "device/cuda/compile.h"
#include "device/worker_main.h"
#include "ir/random/random_graph.h"
#include "ir/text/print.h"
#include "understand/decisions/decide.h"
#include "understand/read_source.h"

namespace {

using namespace kw;

Result<act::Generated> generated(const std::string& source, const std::optional<std::string>& math, bool lean) {
  KW_TRY(const understand::LocatedSource located, understand::locate_source(source, math));
  KW_TRY(const understand::Reading reading, understand::read_source(located, {}));
  profile::Source of;
  of.kind = located.kind;
  of.file = located.path;
  KW_TRY(const profile::Profile profile, understand::decide(reading, "op", of, {}));
  std::vector<profile::ScheduleRow> rows;
  if (lean)
    for (const char* pass : {"forward", "backward"})
      rows.push_back({.target = "cuda", .pass = pass, .parameters = {{"lean", "1"}}});
  return act::act(profile, rows, kernel::Target::Cuda);
}

// Whether any kernel does; each that does is a line.
Result<bool> spills(const std::string& name, const act::Generated& kernels, device::cuda::Nvrtc& nvrtc) {
  const device::Cache cache(device::default_cache_folder());
  bool any = false;
  for (const char* architecture : {"sm_80", "sm_90", "sm_100"})
    for (const ir::DType type : {ir::DType::F32, ir::DType::BF16, ir::DType::F16}) {
      kernel::TypeBinding types;
      for (const auto& [parameter, dtypes] : kernels.manifest.types) types[parameter] = type;
      KW_TRY(const device::CompiledSet set,
             device::cuda::compile(kernels.manifest, kernels.files, types, architecture, nvrtc, cache));
      for (const device::CompiledFile& file : set.files)
        for (const device::KernelReport& kernel : file.reports) {
          if (!kernel.spills()) continue;
          any = true;
          std::cout << name << ": " << kernel.symbol << " for " << architecture << ", " << ir::info(type).name << ": "
                    << kernel.registers << " registers, " << kernel.spill_store_bytes << " bytes stored and "
                    << kernel.spill_load_bytes << " loaded" << std::endl;
        }
      if (types.empty()) break;
    }
  return any;
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = device::worker_main(argc, argv)) return *code;
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool lean = !words.empty() && words[0] == "--lean";
  if (lean) words.erase(words.begin());
  const auto nvrtc = device::cuda::Nvrtc::open();
  if (!nvrtc || words.empty()) {
    std::cerr << (nvrtc ? "usage: spills_of [--lean] FILE.py|FILE.kw ..., or --random FIRST COUNT\n"
                        : render(nvrtc.error()));
    return 2;
  }
  int ops = 0, spilling = 0;
  const auto look = [&](const std::string& name, const std::optional<std::string>& math) {
    const auto kernels = generated(math ? "" : name, math, lean);
    if (!kernels) {
      std::cout << name << ": " << render(kernels.error()) << "\n";
      return;
    }
    const auto found = spills(name, *kernels, **nvrtc);
    if (!found) std::cout << name << ": " << render(found.error()) << "\n";
    ++ops;
    spilling += found && *found ? 1 : 0;
  };
  if (words[0] == "--random" && words.size() == 3) {
    const auto first = std::stoull(words[1]), count = std::stoull(words[2]);
    for (auto seed = first; seed < first + count; ++seed)
      look("seed " + std::to_string(seed),
           ir::text::print(
               ir::random_graph(seed, {.operations = 8, .highest_tier = 2, .differentiable = seed % 2 == 0})));
  } else {
    for (const std::string& source : words) look(source, std::nullopt);
  }
  std::cout << spilling << " of " << ops << " ops spill\n";
}
