// Kernels through the whole road: compiled, loaded by a worker, run. What they do wrong is theirs.
#include "device/worker.h"

#include <gtest/gtest.h>

#include "kernel_case.h"

namespace kw::device {
namespace {

using kernel::DType;
using Kind = Fault::Kind;

const std::vector<float> kX = {1, -2, 3.5f, 0, 100, -0.25f, 7};

TEST(WorkerTest, AKernelComputesItsResult) {
  for (const DType dtype : {DType::F32, DType::F64, DType::BF16, DType::F16}) {
    PointwiseOptions options;
    options.dtype = dtype;
    const PointwiseRun run = run_pointwise(
        pointwise_source("for (std::int64_t i = 0; i < n; ++i) y[i] = T(float(x[i]) * 2 + 1);"), kX, options);
    ASSERT_FALSE(run.outcome.fault) << run.outcome.fault->message;
    EXPECT_EQ(run.y, (std::vector<float>{3, -3, 8, 1, 201, 0.5f, 15})) << ir::info(dtype).name;
    ASSERT_EQ(run.outcome.seconds.size(), 1u);
    EXPECT_EQ(run.outcome.seconds[0].size(), 1u);
  }
}

TEST(WorkerTest, AKernelRunsWithTheThreadsThatItIsGiven) {
  const std::string source =
      "#include <omp.h>\n" +
      pointwise_source("for (std::int64_t i = 0; i < n; ++i) y[i] = T(float(omp_get_max_threads()));");
  for (const int threads : {1, 3}) {
    PointwiseOptions options;
    options.limits.threads = threads;
    const PointwiseRun run = run_pointwise(source, {0}, options);
    ASSERT_FALSE(run.outcome.fault) << run.outcome.fault->message;
    EXPECT_EQ(run.y[0], static_cast<float>(threads));
  }
}

TEST(WorkerTest, WhatAKernelPrintsIsKeptAndHarmsNothing) {
  const PointwiseRun run = run_pointwise(
      "#include <cstdio>\n" + pointwise_source("std::printf(\"{\\\"nanoseconds\\\": []}\\n\"); std::fflush(stdout); "
                                               "std::fprintf(stderr, \"seen\\n\"); y[0] = x[0];"),
      {5});
  ASSERT_FALSE(run.outcome.fault) << run.outcome.fault->message;
  EXPECT_EQ(run.y[0], 5);
  EXPECT_NE(run.outcome.output.find("nanoseconds"), std::string::npos);
  EXPECT_NE(run.outcome.output.find("seen"), std::string::npos);
}

struct Failing {
  const char* name;
  const char* body;
  Kind kind;
  const char* message;
};

const Failing kFailing[] = {
    {"NullPointer", "*reinterpret_cast<T*>(n - 7) = x[0];", Kind::Crashed,
     "act crashed: Segmentation fault at address 0x0 (a null pointer: an allocation that failed?)"},
    {"WildPointer", "*reinterpret_cast<volatile T*>(0x123456789000) = x[0];", Kind::Crashed,
     "act crashed: Segmentation fault at address 0x123456789000, outside all buffers"},
    {"Abort", "std::abort();", Kind::Crashed, "act crashed: Aborted"},
    {"DivisionByZero", "y[0] = T(float(n / (n - 7)));", Kind::Crashed, "act crashed: Floating point exception"},
    {"Exception", "throw 3;", Kind::Crashed, "act crashed: Aborted"},
    {"EndlessLoop", "for (volatile int i = 0;;) i = i + 1;", Kind::OutOfTime, "act did not end within 0.7 s"},
    {"Exit", "std::exit(0);", Kind::Exited, "act ended its process"},
    {"QuickExit", "_Exit(3);", Kind::Exited, "the kernel ended its process with code 3"},
    {"TooMuchMemory", "std::vector<double> v(std::size_t{1} << 30); y[0] = T(float(v[5]));", Kind::OutOfMemory,
     "act asked for more memory than it may have"},
    {"TooMuchMemoryInPieces",
     "for (int i = 0; i < 1000; ++i) { auto* v = new std::vector<char>(1 << 20, 1); y[0] = T(float((*v)[77])); }",
     Kind::OutOfMemory, "act asked for more memory than it may have"},
    {"WritesPastTheFence", "for (std::int64_t i = 0; i < 5000; ++i) y[i] = x[0];", Kind::Strayed,
     "act wrote to 37 bytes past the end of y"},
    {"WritesIntoTheGuardZone", "for (std::int64_t i = 0; i <= n; ++i) y[i] = T(1);", Kind::Strayed,
     "the kernel wrote 1 byte past the end of y"},
    {"WritesBeforeTheStart", "for (std::int64_t i = 0; i < n; ++i) y[i] = x[i]; y[-1] = T(0);", Kind::Strayed,
     "the kernel wrote 4 bytes before the start of y"},
    {"ReadsPastTheFence", "for (std::int64_t i = 0; i < n; ++i) y[i] = x[i + 100];", Kind::Strayed,
     "act read 373 bytes past the end of x"},
    {"WritesToAnInput", "const_cast<T*>(x)[2] = T(0);", Kind::WroteToInput,
     "act wrote to byte 8 of x, which it may only read"},
};

class FailingKernel : public testing::TestWithParam<Failing> {};

// All of them in one source, so that it is compiled once: x[0] says which it is to be.
std::string failing_source() {
  std::string body = "switch (int(float(x[0]))) {\n";
  for (std::size_t i = 0; i < std::size(kFailing); ++i)
    body += "case " + std::to_string(i) + ": {\n" + kFailing[i].body + "\n} break;\n";
  return pointwise_source(body + "}");
}

TEST_P(FailingKernel, CostsItsWorkerAndIsReported) {
  PointwiseOptions options;
  options.limits.time = std::chrono::milliseconds(700);
  options.limits.memory = std::uint64_t{64} << 20;
  if (GetParam().kind != Kind::OutOfTime) options.limits.time = std::chrono::seconds(30);
  std::vector<float> x = kX;
  for (std::size_t i = 0; i < std::size(kFailing); ++i)
    if (std::string_view(kFailing[i].name) == GetParam().name) x[0] = static_cast<float>(i);
  const PointwiseRun run = run_pointwise(failing_source(), x, options);
  ASSERT_TRUE(run.outcome.fault) << "the fault was not noticed";
  EXPECT_EQ(static_cast<int>(run.outcome.fault->kind), static_cast<int>(GetParam().kind)) << run.outcome.fault->message;
  EXPECT_EQ(run.outcome.fault->message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(All, FailingKernel, testing::ValuesIn(kFailing),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(WorkerTest, ABufferThatIsAlignedToItsElementEndsAtTheFence) {
  PointwiseOptions options;
  options.placement = {4, 0, false};
  const PointwiseRun run = run_pointwise(pointwise_source("y[n] = x[0];"), kX, options);
  ASSERT_TRUE(run.outcome.fault);
  EXPECT_EQ(run.outcome.fault->message, "act wrote to 1 byte past the end of y");
  options.placement = {64, 0, true};
  const PointwiseRun start = run_pointwise(pointwise_source("y[0] = x[-1];"), kX, options);
  ASSERT_TRUE(start.outcome.fault);
  EXPECT_EQ(start.outcome.fault->message, "act read 4 bytes before the start of x");
}

TEST(WorkerTest, AKernelThatHidesFromTheClockIsEndedByTheEngine) {
  PointwiseOptions options;
  options.limits.time = std::chrono::milliseconds(300);
  const PointwiseRun run = run_pointwise(
      "#include <signal.h>\n#include <unistd.h>\n" +
          pointwise_source(
              "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, nullptr); for (;;) usleep(1000);"),
      kX, options);
  ASSERT_TRUE(run.outcome.fault);
  EXPECT_EQ(static_cast<int>(run.outcome.fault->kind), static_cast<int>(Kind::OutOfTime));
  EXPECT_EQ(run.outcome.fault->message, "the kernel did not end within 0.3 s");
}

constexpr const char* kTakesAllMemory =
    "for (int i = 0; i < 1000; ++i) { auto* v = new std::vector<char>(1 << 20, 1); kept = (*v)[77]; }";

TEST(WorkerTest, WhatALibraryDoesAsItIsLoadedIsLimitedToo) {
  PointwiseOptions options;
  options.limits.memory = std::uint64_t{64} << 20;
  const std::string kernel = pointwise_source("y[0] = x[0];");
  const auto on_load = [](const std::string& body) {
    return "static volatile int kept = 0;\n__attribute__((constructor)) static void load() { " + body + " }\n";
  };
  const PointwiseRun greedy = run_pointwise(kernel + on_load(kTakesAllMemory), kX, options);
  ASSERT_TRUE(greedy.outcome.fault);
  EXPECT_EQ(greedy.outcome.fault->message, "the kernel asked for more memory than it may have");
  options.limits.time = std::chrono::milliseconds(300);
  const PointwiseRun slow = run_pointwise(kernel + on_load("for (;;) kept = kept + 1;"), kX, options);
  ASSERT_TRUE(slow.outcome.fault);
  EXPECT_EQ(slow.outcome.fault->message, "the kernel did not end within 0.3 s");
}

TEST(WorkerTest, CodeFromOutsideCannotRaiseItsLimits) {
  PointwiseOptions options;
  options.limits.memory = std::uint64_t{64} << 20;
  options.run.from_outside = true;
  const std::string includes = "#include <sys/resource.h>\nstatic volatile int kept = 0;\n";
  const std::string raises =
      "rlimit limit; getrlimit(RLIMIT_DATA, &limit); limit.rlim_cur = limit.rlim_max; setrlimit(RLIMIT_DATA, &limit); ";
  const PointwiseRun kernel =
      run_pointwise(includes + pointwise_source(raises + kTakesAllMemory + " y[0] = x[0];"), kX, options);
  ASSERT_TRUE(kernel.outcome.fault);
  EXPECT_EQ(kernel.outcome.fault->message, "act asked for more memory than it may have");
  const std::string on_load = "__attribute__((constructor)) static void load() { " + raises + kTakesAllMemory + " }\n";
  const PointwiseRun library = run_pointwise(includes + pointwise_source("y[0] = x[0];") + on_load, kX, options);
  ASSERT_TRUE(library.outcome.fault);
  EXPECT_EQ(library.outcome.fault->message, "the kernel asked for more memory than it may have");
}

// One worker, several runs: state that a kernel keeps shows whether the process is the same.
class CountingKernel : public testing::Test {
 protected:
  CountingKernel() {
    const kernel::Manifest manifest = pointwise_manifest();
    const std::string source =
        pointwise_source("static int calls = 0; ++calls; if (float(x[0]) < 0) std::abort(); y[0] = T(float(calls));");
    const auto set =
        cpu::compile(manifest, {{"act.cpp", source}}, {{"T", DType::F32}}, test_compiler(), shared_cache());
    EXPECT_TRUE(arena_.add("x", {DType::F32, {1}, {1}, 0}, Arena::Access::Read));
    EXPECT_TRUE(arena_.add("y", {DType::F32, {1}, {1}, 0}, Arena::Access::Write));
    EXPECT_TRUE(arena_.allocate());
    kernel::Facts facts;
    facts.sizes = {{"n", 1}};
    facts.tensors = arena_.tensors();
    program_ = *prepare(manifest.passes[0], *set, facts);
  }
  float count(Worker& worker, bool from_outside = false, float x = 1) {
    put_floats(arena_.bytes("x"), DType::F32, {x});
    RunOptions options;
    options.from_outside = from_outside;
    const auto outcome = worker.run({program_}, arena_, options);
    EXPECT_TRUE(outcome);
    return outcome->fault ? -1 : floats(arena_.bytes("y"), DType::F32)[0];
  }
  Arena arena_;
  Program program_;
};

TEST_F(CountingKernel, OurOwnCodeKeepsItsWorker) {
  Worker worker({std::chrono::seconds(20), 1 << 28, 1});
  EXPECT_EQ(count(worker), 1);
  EXPECT_EQ(count(worker), 2);
}

TEST_F(CountingKernel, CodeFromOutsideGetsANewWorkerEachTime) {
  Worker worker({std::chrono::seconds(20), 1 << 28, 1});
  EXPECT_EQ(count(worker, true), 1);
  EXPECT_EQ(count(worker, true), 1);
}

TEST_F(CountingKernel, AfterAFaultTheNextRunHasANewWorker) {
  Worker worker({std::chrono::seconds(20), 1 << 28, 1});
  EXPECT_EQ(count(worker), 1);
  EXPECT_EQ(count(worker, false, -1), -1);
  EXPECT_EQ(count(worker), 1);
}

TEST_F(CountingKernel, TimingWarmsUpAndGivesTheSamplesOfEachProgram) {
  Worker worker({std::chrono::seconds(20), 1 << 28, 1});
  RunOptions options;
  options.timing = Timing{2, 5, 3, program_, {}, false};
  const auto outcome = worker.run({program_, program_}, arena_, options);
  ASSERT_TRUE(outcome);
  ASSERT_FALSE(outcome->fault) << outcome->fault->message;
  ASSERT_EQ(outcome->seconds.size(), 2u);
  for (const auto& samples : outcome->seconds) {
    EXPECT_EQ(samples.size(), 5u);
    for (const double sample : samples) EXPECT_GE(sample, 0);
  }
  // 2 programs, warmed up twice, then 5 samples of 3 calls, each sample after one call of `before`.
  EXPECT_EQ(floats(arena_.bytes("y"), DType::F32)[0], 2 * 2 + 2 * 5 * (3 + 1));
}

TEST_F(CountingKernel, ABudgetEndsTheSampling) {
  Worker worker({std::chrono::seconds(20), 1 << 28, 1});
  RunOptions options;
  options.timing = Timing{0, 100'000'000, 1, std::nullopt, std::chrono::milliseconds(50), false};
  const auto outcome = worker.run({program_}, arena_, options);
  ASSERT_TRUE(outcome);
  ASSERT_FALSE(outcome->fault) << outcome->fault->message;
  EXPECT_GT(outcome->seconds[0].size(), 1u);
  EXPECT_LT(outcome->wall_seconds, 10);
}

TEST(WorkerTest, ALibraryThatDoesNotLoadIsAFault) {
  Arena arena;
  ASSERT_TRUE(arena.allocate());
  Worker worker;
  const auto missing = worker.run({Program{{KernelCall{"/no/such/library.so", "kw_call_act", "act", {}}}}}, arena);
  ASSERT_TRUE(missing);
  ASSERT_TRUE(missing->fault);
  EXPECT_EQ(static_cast<int>(missing->fault->kind), static_cast<int>(Kind::NotLoadable));
  EXPECT_NE(missing->fault->message.find("/no/such/library.so"), std::string::npos);
}

TEST(WorkerTest, AProgramThatIsNoWorkerIsNoticed) {
  Arena arena;
  ASSERT_TRUE(arena.allocate());
  Worker absent({}, "/no/such/program");
  EXPECT_FALSE(absent.run({}, arena));
  Worker stranger({}, "/bin/true");
  const auto outcome = stranger.run({}, arena);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->fault);
}

}  // namespace
}  // namespace kw::device
