// Cheats of the clock that reach it: samples are taken in the process that the kernel runs in, by a function that the
// kernel can put another in place of. The engine's own clock, in another process, does not agree with them.
#include <gtest/gtest.h>

#include "base/text.h"
#include "device/device.h"
#include "ir/text/parse.h"
#include "verify/speed.h"

namespace kw::verify {
namespace {

const char* const kManifest = R"({
  "schema": 1, "name": "twice", "target": "cpu", "sizes": ["rows", "cols"], "types": {},
  "passes": [{
    "name": "forward",
    "buffers": [{"name": "x", "role": "input", "type": "f32", "shape": ["rows", "cols"]},
                {"name": "y", "role": "output", "type": "f32", "shape": ["rows", "cols"]}],
    "steps": [{"kind": "kernel", "entries": [{
      "symbol": "twice_forward", "file": "twice.cpp",
      "arguments": [{"kind": "read", "of": "x"}, {"kind": "write", "of": "y"},
                    {"kind": "size", "of": "rows", "type": "i64"}, {"kind": "size", "of": "cols", "type": "i64"}]}]}]}]})";

constexpr double kNap = 0.4e-3;  // seconds that a call takes at least

// Right, and slow.
const std::string kSource = R"(#include <time.h>
#include <cstdint>
void twice_forward(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
  timespec nap{0, 400'000};
  nanosleep(&nap, nullptr);
  for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = 2 * x[i];
}
)";

// As soon as it is loaded, the process that it runs in has a clock that goes at an eighth of the speed: its own is
// called wherever the program that was started calls the C library's.
const std::string kSlowClock = R"(
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstring>
namespace {
int slow_clock(clockid_t which, timespec* t) {
  const int failed = syscall(SYS_clock_gettime, which, t);
  if (failed != 0 || which != CLOCK_MONOTONIC) return failed;
  const std::int64_t slow = (t->tv_sec * std::int64_t{1'000'000'000} + t->tv_nsec) / 8;
  t->tv_sec = slow / 1'000'000'000, t->tv_nsec = slow % 1'000'000'000;
  return 0;
}
int replace_in(dl_phdr_info* program, std::size_t, void*) {
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < program->dlpi_phnum; ++i)
    if (program->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(program->dlpi_addr + program->dlpi_phdr[i].p_vaddr);
  ElfW(Addr) symbols = 0, names = 0, tables[2] = {0, 0}, bytes[2] = {0, 0};
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) names = entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELA) tables[0] = entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ) bytes[0] = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL) tables[1] = entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) bytes[1] = entry->d_un.d_val;
  }
  const long page = sysconf(_SC_PAGESIZE);
  for (int table = 0; table < 2; ++table)
    for (std::size_t i = 0; i < bytes[table] / sizeof(ElfW(Rela)); ++i) {
      const auto& one = reinterpret_cast<const ElfW(Rela)*>(tables[table])[i];
      const auto& symbol = reinterpret_cast<const ElfW(Sym)*>(symbols)[ELF64_R_SYM(one.r_info)];
      if (std::strcmp(reinterpret_cast<const char*>(names) + symbol.st_name, "clock_gettime") != 0) continue;
      const ElfW(Addr) slot = program->dlpi_addr + one.r_offset;
      mprotect(reinterpret_cast<void*>(slot / page * page), page, PROT_READ | PROT_WRITE);
      *reinterpret_cast<void**>(slot) = reinterpret_cast<void*>(&slow_clock);
    }
  return 1;  // the first is the program itself
}
__attribute__((constructor)) void replace() { dl_iterate_phdr(replace_in, nullptr); }
}  // namespace
)";

// Between samples the cache is evicted, which takes a while; where call follows call, it does nothing.
const std::string kIdleWhereCallFollowsCall = R"(#include <time.h>
#include <cstdint>
static double seconds() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
void twice_forward(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
  static double last = 0;
  if (seconds() - last > 100e-6) {
    timespec nap{0, 400'000};
    nanosleep(&nap, nullptr);
    for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = 2 * x[i];
  }
  last = seconds();
}
)";

struct Slow {
  Subject subject;
  std::unique_ptr<device::Device> device;
  device::CompiledSet kernels;
};

Result<Slow> compiled(const std::string& source) {
  KW_TRY(const ir::Graph graph, ir::text::parse("op twice(x: f32[rows, cols])\n  y = x * 2.0\nreturn y\n"));
  KW_TRY(kernel::Manifest manifest, kernel::manifest_from_json(kManifest, "twice.json"));
  Slow slow{subject_of(graph, std::move(manifest), {{"twice.cpp", source}}), nullptr, {}};
  slow.subject.approved_forward = graph;
  slow.subject.from_outside = true;
  device::DeviceOptions options;
  options.cache_folder = std::string(KW_BINARY_DIR) + "/kernel_cache";
  KW_TRY(slow.device, device::open_device(kernel::Target::Cpu, options));
  KW_TRY(slow.kernels, slow.device->compile(slow.subject.manifest, slow.subject.files, {}));
  return slow;
}

Result<Speeds> speeds_with(const std::string& source) {
  KW_TRY(const Slow slow, compiled(source));
  SpeedOptions quick;
  quick.stop.budget = std::chrono::milliseconds(100);
  return speeds_of(slow.subject, *slow.device, slow.kernels, {{"rows", 300}, {"cols", 10}}, quick);
}

// The samples of one run, in seconds, and the time that it took by the engine's clock.
Result<device::RunOutcome> samples_with(const std::string& source) {
  KW_TRY(const Slow slow, compiled(source));
  device::Arena arena;
  kernel::Facts facts;
  for (const char* name : {"x", "y"}) {
    const auto access = *name == 'x' ? device::Arena::Access::Read : device::Arena::Access::Write;
    KW_CHECK(arena.add(name, {ir::DType::F32, {30, 10}, {10, 1}, 0}, access));
  }
  KW_CHECK(arena.allocate());
  facts.tensors = arena.tensors();
  facts.sizes = {{"rows", 30}, {"cols", 10}};
  facts.machine = slow.device->machine();
  KW_TRY(const device::Program program, slow.device->prepare(slow.subject.manifest.passes[0], slow.kernels, facts));
  device::RunOptions timed;
  timed.from_outside = true;
  timed.timing = device::Timing{.warm_up = 1, .samples = 50};
  return slow.device->run({program}, arena, timed);
}

TEST(TimerCheat, ASlowerClockIsReached) {
  const auto honest = samples_with(kSource);
  ASSERT_TRUE(honest) << render(honest.error());
  for (const double seconds : honest->seconds[0]) EXPECT_GT(seconds, kNap);
  const auto cheat = samples_with(kSource + kSlowClock);
  ASSERT_TRUE(cheat) << render(cheat.error());
  ASSERT_FALSE(cheat->fault) << cheat->fault->message;
  ASSERT_EQ(cheat->seconds[0].size(), 50u);
  EXPECT_LT(*std::min_element(cheat->seconds[0].begin(), cheat->seconds[0].end()), kNap / 4);
  EXPECT_GT(cheat->wall_seconds, 50 * kNap);
}

TEST(TimerCheat, AKernelThatIsOnlySlowIsTimed) {
  const auto speeds = speeds_with(kSource);
  ASSERT_TRUE(speeds) << render(speeds.error());
  EXPECT_FALSE(speeds->finding) << speeds->finding->message;
  ASSERT_EQ(speeds->passes.size(), 1u);
  EXPECT_GT(speeds->passes[0].share.kernel.time.median, kNap);
}

TEST(TimerCheat, AKernelThatSlowsTheClockAndIsIdleWhereAnotherLooksIsFoundOut) {
  const auto speeds = speeds_with(kIdleWhereCallFollowsCall + kSlowClock);
  ASSERT_TRUE(speeds) << render(speeds.error());
  ASSERT_TRUE(speeds->finding);
  EXPECT_EQ(speeds->finding->message.find("as it was timed, forward: "), 0u) << speeds->finding->message;
}

TEST(TimerCheat, AKernelThatSlowsTheClockIsFoundOutByAnother) {
  const auto speeds = speeds_with(kSource + kSlowClock);
  ASSERT_TRUE(speeds) << render(speeds.error());
  ASSERT_TRUE(speeds->finding);
  EXPECT_EQ(speeds->finding->gate, Gate::Runs);
  const std::string& message = speeds->finding->message;
  EXPECT_EQ(message.find("as it was timed, forward: "), 0u) << message;
  EXPECT_NE(message.find("calls took "), std::string::npos) << message;
  EXPECT_NE(message.find(" by the engine's clock and "), std::string::npos) << message;
  EXPECT_NE(message.find(" by that of the process "), std::string::npos) << message;
  EXPECT_TRUE(speeds->passes.empty());
  Report report;
  for (const GateInfo& gate : gates()) report.verdicts.push_back({gate.gate, Outcome::Passed, "", {}});
  add(*speeds, report);
  EXPECT_EQ(report.verdict(Gate::Runs).outcome, Outcome::Failed);
  EXPECT_FALSE(report.passed());
}

}  // namespace
}  // namespace kw::verify
