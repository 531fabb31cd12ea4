// What the worker asks of a GPU's driver, and what it makes of the answers: with a driver of our own, whose GPU is this
// process (fake_gpu/). tests/gpu/ does the same with a real one.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "device/cuda/sanitizer.h"
#include "device/device.h"
#include "kernel_case.h"

namespace kw::device {
namespace {

using kernel::DType;
using Kind = Fault::Kind;

class GpuRun : public testing::Test {
 protected:
  GpuRun() {
    DeviceOptions options;
    options.driver = KW_BINARY_DIR "/libfake_cuda_driver.so";
    options.cache_folder = (*cache_).folder();
    options.limits.time = std::chrono::milliseconds(5000);
    open(options);
    EXPECT_TRUE(write_file_atomically(cubin(), KW_BINARY_DIR "/libfake_cuda_kernels.so"));
  }
  void open(const DeviceOptions& options) {
    auto opened = open_device(kernel::Target::Cuda, options);
    KW_ASSERT(opened, "the tests need NVRTC: tools/make_venv.sh installs it");
    device_ = std::move(*opened);
  }
  std::string cubin() const { return (*cache_).folder() + "/kernels.cubin"; }

  void place(std::int64_t n, const Arena::Placement& placement = {}) {
    n_ = n;
    arena_ = Arena();
    ASSERT_TRUE(arena_.add("x", {DType::F32, {n}, {1}, 0}, Arena::Access::Read, placement));
    ASSERT_TRUE(arena_.add("y", {DType::F32, {n}, {1}, 0}, Arena::Access::Write, placement));
    ASSERT_TRUE(arena_.allocate());
    std::vector<float> x;
    for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<float>(i + 1));
    put_floats(arena_.bytes("x"), DType::F32, x);
    arena_.poison("y", 0);
  }

  Program program(const std::string& symbol, const kernel::Launch& launch = {{"4", "1", "1"}, {"256", "1", "1"}}) {
    using kernel::Argument;
    kernel::Entry entry{symbol, "k.cu", {}, {}, launch};
    entry.arguments = {{Argument::Kind::Read, "x"},
                       {Argument::Kind::Write, "y"},
                       {Argument::Kind::Size, "n", 0, "i64"},
                       {Argument::Kind::Scalar, "scale", 0, "f32"}};
    const kernel::Pass pass{"forward",
                            {{"x", kernel::Role::Input, "f32", {"n"}}, {"y", kernel::Role::Output, "f32", {"n"}}},
                            {{kernel::Step::Kind::Kernel, {entry}}}};
    const CompiledSet kernels{{}, {{"k.cu", cubin()}}, CallStyle::Launch, "sm_90"};
    kernel::Facts facts;
    facts.machine = device_->machine();
    facts.sizes = {{"n", n_}};
    facts.scalars = {{"scale", 0.5}};
    facts.tensors = arena_.tensors();
    auto prepared = device_->prepare(pass, kernels, facts);
    EXPECT_TRUE(prepared) << prepared.error().message;
    return prepared ? *prepared : Program();
  }

  RunOutcome run(const std::vector<Program>& programs, const RunOptions& options = {}) {
    auto outcome = device_->run(programs, arena_, options);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *outcome : RunOutcome();
  }
  void expect_fault(const std::string& symbol, Kind kind, const std::string& message) {
    const RunOutcome outcome = run({program(symbol)});
    ASSERT_TRUE(outcome.fault) << symbol;
    EXPECT_EQ(outcome.fault->message, message);
    EXPECT_EQ(static_cast<int>(outcome.fault->kind), static_cast<int>(kind));
  }
  std::vector<float> y() { return floats(arena_.bytes("y"), DType::F32); }

  FreshCache cache_;
  std::unique_ptr<Device> device_;
  Arena arena_;
  std::int64_t n_ = 0;
};

TEST_F(GpuRun, TheDeviceIsWhatItsDriverSays) {
  EXPECT_TRUE(device_->name().starts_with("a GPU that is not there, sm_90 (NVRTC"));
  EXPECT_TRUE(device_->can_run());
  EXPECT_EQ(device_->machine().multiprocessors, 132);
  EXPECT_EQ(device_->cache_bytes(), std::uint64_t{1} << 20);
  EXPECT_EQ(device_->architectures(), (std::vector<std::string>{"sm_90", "sm_80", "sm_100"}));
}

TEST_F(GpuRun, AKernelComputesItsResultOnCopiesOfTheBuffers) {
  for (const std::int64_t n : {1, 7, 1024, 600'000}) {  // the last is longer than what the GPU maps at once
    place(n);
    const RunOutcome outcome = run({program("scales")});
    ASSERT_FALSE(outcome.fault) << outcome.fault->message;
    const std::vector<float> got = y();
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 0.5f * static_cast<float>(i + 1));
    ASSERT_EQ(outcome.seconds.size(), 1u);
    EXPECT_GT(outcome.seconds[0].at(0), 0);
  }
}

TEST_F(GpuRun, AKernelIsLaunchedAsItsManifestSays) {
  place(10);
  const RunOutcome outcome = run({program("tells_its_launch", {{"n", "2", "3"}, {"8", "4", "2"}, "4*n"})});
  ASSERT_FALSE(outcome.fault) << outcome.fault->message;
  EXPECT_EQ(y(), (std::vector<float>{10, 2, 3, 8, 4, 2, 40, 0, 0, 0}));
}

TEST_F(GpuRun, AnEmptyGridIsNoLaunch) {
  place(3);
  const RunOutcome outcome = run({program("scales", {{"0", "1", "1"}, {"256", "1", "1"}})});
  ASSERT_FALSE(outcome.fault) << outcome.fault->message;
  EXPECT_EQ(y(), (std::vector<float>{0, 0, 0}));
}

TEST_F(GpuRun, MoreSharedMemoryThanTheGpuHasCannotBeLaunched) {
  place(3);
  EXPECT_FALSE(run({program("scales", {{"1", "1", "1"}, {"32", "1", "1"}, "60000"})}).fault);
  const RunOutcome outcome = run({program("scales", {{"1", "1", "1"}, {"32", "1", "1"}, "100000"})});
  ASSERT_TRUE(outcome.fault);
  EXPECT_EQ(outcome.fault->message,
            "the kernel cannot be launched: 100000 bytes of dynamic shared memory: invalid argument");
}

TEST_F(GpuRun, FillsWriteEveryElement) {
  for (const auto& [dtype, value] : std::vector<std::pair<DType, double>>{
           {DType::U8, 7}, {DType::BF16, 1.5}, {DType::F32, -2.25}, {DType::I64, 0}, {DType::F64, 0.1}}) {
    Arena arena;
    ASSERT_TRUE(arena.add("w", {dtype, {5}, {1}, 0}, Arena::Access::Write));
    ASSERT_TRUE(arena.allocate());
    arena.poison("w", 0xFF);
    kernel::Facts facts;
    facts.tensors = arena.tensors();
    kernel::Step step{kernel::Step::Kind::Fill, {}, "w", value};
    const auto program = device_->prepare({"forward", {}, {step}}, {}, facts);
    ASSERT_TRUE(program);
    const auto outcome = device_->run({*program}, arena);
    ASSERT_TRUE(outcome);
    ASSERT_FALSE(outcome->fault) << outcome->fault->message;
    const std::uint64_t bits = *element_bits(dtype, value);
    const auto size = static_cast<std::size_t>(ir::info(dtype).bytes);
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_EQ(std::memcmp(arena.bytes("w").data() + i * size, &bits, size), 0) << ir::info(dtype).name << " " << i;
  }
}

TEST_F(GpuRun, WhatAKernelDoesWrongIsItsFaultAndTheNextOneRuns) {
  place(7);
  expect_fault("writes_far_away", Kind::Strayed,
               "writes_far_away touched memory outside all buffers: an illegal memory access was encountered");
  expect_fault("reads_past_the_end", Kind::Strayed,
               "reads_past_the_end touched memory outside all buffers: an illegal memory access was encountered");
  place(7);
  expect_fault("writes_past_the_end", Kind::Strayed, "the kernel wrote 1 byte past the end of y");
  place(7);
  expect_fault("writes_before_the_start", Kind::Strayed, "the kernel wrote 12 bytes before the start of y");
  place(7);
  expect_fault("writes_far_before_the_start", Kind::Strayed, "the kernel wrote 119997 bytes before the start of y");
  place(7);
  expect_fault("writes_its_input", Kind::WroteToInput, "the kernel wrote to byte 10 of x, which it may only read");
  EXPECT_FALSE(run({program("scales")}).fault);
  EXPECT_EQ(y()[1], 1);
}

TEST_F(GpuRun, ADriverThatReservesNoAddressesStillHasMargins) {
  ::setenv("KW_FAKE_GPU_RESERVES_NOTHING", "1", 1);
  place(7);
  EXPECT_FALSE(run({program("scales")}).fault);
  EXPECT_EQ(y()[6], 3.5f);
  expect_fault("writes_past_the_end", Kind::Strayed, "the kernel wrote 1 byte past the end of y");
  place(7);
  expect_fault("writes_far_before_the_start", Kind::Strayed, "the kernel wrote 119997 bytes before the start of y");
  place(7);
  expect_fault("writes_far_behind_the_end", Kind::Strayed, "the kernel wrote 119973 bytes past the end of y");
  ::unsetenv("KW_FAKE_GPU_RESERVES_NOTHING");
}

TEST_F(GpuRun, ABufferMayBeginAtItsFence) {
  place(7, {64, 0, true});
  expect_fault("writes_before_the_start", Kind::Strayed,
               "writes_before_the_start touched memory outside all buffers: an illegal memory access was encountered");
  place(7, {64, 0, true});
  EXPECT_FALSE(run({program("scales")}).fault);
  EXPECT_EQ(y()[6], 3.5f);
}

TEST_F(GpuRun, MisalignmentIsKept) {
  place(7, {64, 4, false});
  EXPECT_FALSE(run({program("scales")}).fault);
  EXPECT_EQ(y()[6], 3.5f);
}

TEST_F(GpuRun, TheSecondOfTwoKernelsIsTheOneThatFails) {
  place(7);
  Program both = program("scales");
  both.calls.push_back(program("writes_far_away").calls[0]);
  const RunOutcome outcome = run({program("scales"), both});
  ASSERT_TRUE(outcome.fault);
  EXPECT_EQ(outcome.fault->kernel, "writes_far_away");
}

TEST_F(GpuRun, AKernelThatNeverEndsIsEnded) {
  DeviceOptions options;
  options.driver = KW_BINARY_DIR "/libfake_cuda_driver.so";
  options.limits.time = std::chrono::milliseconds(300);
  open(options);
  place(7);
  expect_fault("never_ends", Kind::OutOfTime, "never_ends did not end within 0.3 s");
}

TEST_F(GpuRun, ASymbolOrACubinThatIsNotThereDoesNotLoad) {
  place(7);
  expect_fault("no_such_kernel", Kind::NotLoadable, "the kernel does not load: no_such_kernel: unspecified");
  ASSERT_TRUE(write_file_atomically(cubin(), "/no/such/object"));
  const RunOutcome outcome = run({program("scales")});
  ASSERT_TRUE(outcome.fault);
  EXPECT_EQ(static_cast<int>(outcome.fault->kind), static_cast<int>(Kind::NotLoadable));
}

TEST_F(GpuRun, MoreBuffersThanTheGpuHoldsAreTheMachinesLack) {
  place(std::int64_t{40} << 20);
  const auto outcome = device_->run({program("scales")}, arena_);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::MissingTool);
  EXPECT_EQ(outcome.error().message, "the GPU refuses memory for the buffers: out of memory");
  place(7);
  EXPECT_FALSE(run({program("scales")}).fault);
}

TEST_F(GpuRun, SamplesAreTakenByTheGpusClockAfterAnUntimedLeadIn) {
  place(7);
  RunOptions options;
  options.timing = Timing{2, 5, 3, program("counts"), {}, false};
  const RunOutcome outcome = run({program("takes_a_while"), program("counts")}, options);
  ASSERT_FALSE(outcome.fault) << outcome.fault->message;
  ASSERT_EQ(outcome.seconds.size(), 2u);
  for (const auto& samples : outcome.seconds) EXPECT_EQ(samples.size(), 5u);
  for (const double sample : outcome.seconds[0]) EXPECT_GE(sample, 0.003);
  for (const double sample : outcome.seconds[1]) EXPECT_LT(sample, 0.003);
  EXPECT_EQ(y()[0], 2 + 5 * (3 + 2));  // warm-up, samples of 3 calls, and a lead-in before each of the two programs
}

TEST_F(GpuRun, ResidentBuffersAreNotCopiedAgain) {
  place(7);
  RunOptions options;
  options.timing = Timing{0, 1, 2, std::nullopt, {}, false};
  const Program adds = program("adds_to_its_output");
  run({adds}, options);
  EXPECT_EQ(y()[0], 2);
  options.timing->resident = true;
  run({adds}, options);
  EXPECT_EQ(y()[0], 2) << "nothing comes back";
  options.timing->resident = false;
  run({adds}, options);
  EXPECT_EQ(y()[0], 4) << "the arena is copied there anew";
  options.timing->resident = true;
  place(7);
  run({program("adds_to_its_output")}, options);
  run({program("counts")});
  EXPECT_EQ(y()[0], 1) << "another arena is copied whatever is said";
}

// A sanitizer that says what it is told to.
class Sanitized : public GpuRun {
 protected:
  void open_with(const std::string& says) {
    script_ = (*cache_).folder() + "/compute-sanitizer";
    ASSERT_TRUE(write_file_atomically(script_, "#!/bin/bash\n[[ $1 == --tool && $3 == --log-file ]] || exit 9\n" +
                                                   ("tool=$2 log=$4; shift 4; \"$@\"; code=$?; " + says) +
                                                   "; exit $code\n"));
    ASSERT_EQ(::chmod(script_.c_str(), 0755), 0);
    DeviceOptions options;
    options.driver = KW_BINARY_DIR "/libfake_cuda_driver.so";
    options.sanitizer = script_;
    open(options);
    place(7);
  }
  std::string script_;
};

TEST_F(Sanitized, AKernelWithoutFaultHasNoComplaint) {
  open_with("echo '========= COMPUTE-SANITIZER' > $log; echo '========= ERROR SUMMARY: 0 errors' >> $log");
  const auto complaint = device_->sanitize({program("scales")}, arena_, Device::Check::Memory);
  ASSERT_TRUE(complaint) << complaint.error().message;
  EXPECT_FALSE(*complaint);
  EXPECT_EQ(y()[6], 3.5f) << "the kernel ran, on memory that holds the buffers alone";
}

TEST_F(Sanitized, AComplaintIsGivenInItsOwnWordsByTheToolThatWasAsked) {
  open_with(
      "printf '========= COMPUTE-SANITIZER\\n========= Invalid by %s\\n=========     at act\\n=========\\n"
      "========= Another\\n========= ERROR SUMMARY: 2 errors\\n' $tool > $log");
  const auto complaint = device_->sanitize({program("scales")}, arena_, Device::Check::Races);
  ASSERT_TRUE(complaint) << complaint.error().message;
  ASSERT_TRUE(*complaint);
  EXPECT_EQ(**complaint, "Invalid by racecheck; at act");
}

TEST_F(Sanitized, ASanitizerThatDoesNotWorkIsMissed) {
  open_with("echo '========= Error: Device not supported. Please refer to the documentation' > $log");
  const auto complaint = device_->sanitize({program("scales")}, arena_, Device::Check::Barriers);
  ASSERT_FALSE(complaint);
  EXPECT_EQ(complaint.error().kind, ErrorKind::MissingTool);
  open_with("true");
  EXPECT_FALSE(device_->sanitize({program("scales")}, arena_, Device::Check::Memory));
}

TEST(SanitizerLogTest, ASummaryDecides) {
  using cuda::first_complaint;
  EXPECT_FALSE(*first_complaint("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"));
  EXPECT_EQ(**first_complaint("========= Error: Race reported between Write access at act+0x70\n"
                              "=========     and Read access at act+0x90 [32 hazards]\n=========\n"
                              "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"),
            "Error: Race reported between Write access at act+0x70; and Read access at act+0x90 [32 hazards]");
  EXPECT_FALSE(first_complaint(""));
  EXPECT_FALSE(first_complaint("========= COMPUTE-SANITIZER\n"));
}

TEST_F(GpuRun, WithoutADriverNothingRuns) {
  DeviceOptions options;
  options.driver = "/no/such/driver.so";
  open(options);
  ASSERT_FALSE(device_->can_run());
  EXPECT_EQ(device_->can_run().error().message, "there is no NVIDIA GPU, or no driver for it");
}

}  // namespace
}  // namespace kw::device
