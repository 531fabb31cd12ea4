// Cheats of the clock: time is taken outside the kernel's reach, so a kernel that brings its own clock is no faster.
#include <gtest/gtest.h>

#include "device/device.h"
#include "verify/hand_written.h"

namespace kw::verify {
namespace {

const char* const kManifest = R"({
  "schema": 1, "name": "nap", "target": "cpu", "sizes": ["n"], "types": {},
  "passes": [{
    "name": "forward",
    "buffers": [{"name": "x", "role": "input", "type": "f32", "shape": ["n"]},
                {"name": "y", "role": "output", "type": "f32", "shape": ["n"]}],
    "steps": [{"kind": "kernel", "entries": [{
      "symbol": "nap_forward", "file": "nap.cpp",
      "arguments": [{"kind": "read", "of": "x"}, {"kind": "write", "of": "y"},
                    {"kind": "size", "of": "n", "type": "i64"}]}]}]}]})";

// Takes 30 ms, and has clocks that stand still.
const char* const kSource = R"(
#include <sys/time.h>
#include <time.h>
#include <cstdint>
#include <thread>
extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t, timespec* t) noexcept {
  *t = {1, 0};
  return 0;
}
extern "C" __attribute__((visibility("default"))) int gettimeofday(timeval* t, void*) noexcept {
  *t = {1, 0};
  return 0;
}
void nap_forward(const float* x, float* y, std::int64_t n) {
  timespec nap{0, 30'000'000};
  nanosleep(&nap, nullptr);
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
}
)";

TEST(Timer, AKernelThatBringsItsOwnClockIsTimedByOurs) {
  const auto manifest = kernel::manifest_from_json(kManifest, "nap.json");
  ASSERT_TRUE(manifest) << render(manifest.error());
  device::DeviceOptions options;
  options.cache_folder = std::string(KW_BINARY_DIR) + "/kernel_cache";
  auto device = device::open_device(kernel::Target::Cpu, options);
  ASSERT_TRUE(device);
  const auto kernels = (*device)->compile(*manifest, {{"nap.cpp", kSource}}, {});
  ASSERT_TRUE(kernels) << render(kernels.error());
  device::Arena arena;
  ASSERT_TRUE(arena.add("x", {ir::DType::F32, {4}, {1}, 0}, device::Arena::Access::Read));
  ASSERT_TRUE(arena.add("y", {ir::DType::F32, {4}, {1}, 0}, device::Arena::Access::Write));
  ASSERT_TRUE(arena.allocate());
  kernel::Facts facts;
  facts.tensors = arena.tensors();
  facts.sizes["n"] = 4;
  facts.machine = (*device)->machine();
  const auto program = (*device)->prepare(manifest->passes[0], *kernels, facts);
  ASSERT_TRUE(program) << render(program.error());
  device::RunOptions timed;
  timed.timing = device::Timing{0, 3, 1, std::nullopt, {}};
  timed.from_outside = true;
  const auto outcome = (*device)->run({*program}, arena, timed);
  ASSERT_TRUE(outcome) << render(outcome.error());
  ASSERT_FALSE(outcome->fault) << outcome->fault->message;
  ASSERT_EQ(outcome->seconds[0].size(), 3u);
  for (const double seconds : outcome->seconds[0]) EXPECT_GT(seconds, 0.025);
  EXPECT_GT(outcome->wall_seconds, 0.075);
}

}  // namespace
}  // namespace kw::verify
