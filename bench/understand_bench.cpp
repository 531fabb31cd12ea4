// Understanding each example without writing it: reading, derivative, decisions, profile text and reference. The column
// Time has Python's start in it (the bar is 150 ms), the column CPU is the engine alone (the bar is 20 ms).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>

#include "profile/yaml.h"
#include "understand/decisions/decide.h"
#include "understand/read_source.h"
#include "understand/reference/reference.h"

namespace {

using namespace kw;
using namespace kw::understand;

void understand_example(benchmark::State& state, const std::string& path) {
  for (auto _ : state) {
    const Result<Reading> reading = read_source({"torch", path, "", path, std::nullopt, ""}, {});
    if (!reading) return state.SkipWithError(reading.error().message.c_str());
    const profile::Source source{"torch", "source.py", reading->entry, path, std::string(64, '0'), {}};
    const Result<profile::Profile> profile = decide(*reading, "op", source, {});
    if (!profile) return state.SkipWithError(profile.error().message.c_str());
    benchmark::DoNotOptimize(profile::from_yaml(profile::to_yaml(*profile), "profile.yaml"));
    benchmark::DoNotOptimize(write_reference(reading->graph));
  }
}

// Registered before main runs the benchmarks.
const bool registered = [] {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(KW_SOURCE_DIR) + "/examples"))
    if (entry.path().extension() == ".py") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths)
    benchmark::RegisterBenchmark(("understand/" + std::filesystem::path(path).stem().string()).c_str(),
                                 understand_example, path)
        ->Unit(benchmark::kMillisecond)
        ->Iterations(5);
  return true;
}();

}  // namespace
