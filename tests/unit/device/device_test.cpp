// Devices behind their one interface.
#include "device/device.h"

#include <gtest/gtest.h>

#include "kernel_case.h"

namespace kw::device {
namespace {

using kernel::DType;
using kernel::Target;

TEST(DeviceTest, AKernelIsCompiledPreparedAndRunWithoutKnowingTheDevice) {
  const FreshCache cache;
  DeviceOptions options;
  options.cache_folder = (*cache).folder();
  options.limits.threads = 2;
  const auto device = open_device(Target::Cpu, options);
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ((*device)->machine().threads, 2);
  EXPECT_TRUE((*device)->can_run());
  const kernel::Manifest manifest = pointwise_manifest();
  const Sources sources = {
      {"act.cpp", pointwise_source("for (std::int64_t i = 0; i < n; ++i) y[i] = T(float(x[i]) + 1);")}};
  const auto kernels = (*device)->compile(manifest, sources, {{"T", DType::F32}});
  ASSERT_TRUE(kernels) << kernels.error().message;
  Arena arena;
  ASSERT_TRUE(arena.add("x", {DType::F32, {2}, {1}, 0}, Arena::Access::Read));
  ASSERT_TRUE(arena.add("y", {DType::F32, {2}, {1}, 0}, Arena::Access::Write));
  ASSERT_TRUE(arena.allocate());
  put_floats(arena.bytes("x"), DType::F32, {1, 2});
  kernel::Facts facts;
  facts.machine = (*device)->machine();
  facts.sizes = {{"n", 2}};
  facts.tensors = arena.tensors();
  const auto program = (*device)->prepare(manifest.passes[0], *kernels, facts);
  ASSERT_TRUE(program) << program.error().message;
  const auto outcome = (*device)->run({*program}, arena);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_FALSE(outcome->fault) << outcome->fault->message;
  EXPECT_EQ(floats(arena.bytes("y"), DType::F32), (std::vector<float>{2, 3}));
}

TEST(DeviceTest, TheProcessorCompilesForItselfAlone) {
  const auto device = open_device(Target::Cpu);
  ASSERT_TRUE(device);
  EXPECT_EQ((*device)->architectures(), std::vector<std::string>{"native"});
  const auto kernels = (*device)->compile(pointwise_manifest(), {{"act.cpp", ""}}, {{"T", DType::F32}}, "sm_90");
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.error().message, "cpu kernels are compiled for this machine alone, not for sm_90");
}

TEST(DeviceTest, ACompilerThatIsNotThereIsMissed) {
  DeviceOptions options;
  options.compiler = "no-such-compiler";
  const auto device = open_device(Target::Cpu, options);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind, ErrorKind::MissingTool);
}

// A launch, as it would go to a GPU or to its emulation.
struct LaunchCase {
  kernel::Manifest manifest = pointwise_manifest();
  CompiledSet kernels{{{"T", DType::F32}}, {{"act.cpp", "act.cubin"}}, CallStyle::Launch, "sm_90"};
  kernel::Facts facts;
  LaunchCase() {
    kernel::Entry& entry = manifest.passes[0].steps[0].entries[0];
    entry.arguments.push_back({kernel::Argument::Kind::Scalar, "eps", 0, "f32"});
    entry.launch.grid[0] = "ceil_div(n, 256)";
    entry.launch.block[0] = "256";
    entry.launch.shared_bytes = "4*n";
    facts.sizes = {{"n", 1000}};
    facts.scalars = {{"eps", 1.0}};
    facts.tensors = {{"x", {DType::F32, {1000}, {1}, 64}}, {"y", {DType::F32, {1000}, {1}, 8192}}};
  }
};

TEST(LaunchTest, TheManifestsExpressionsBecomeGridBlockAndSharedMemory) {
  const LaunchCase launch;
  const auto program = prepare(launch.manifest.passes[0], launch.kernels, launch.facts);
  ASSERT_TRUE(program) << program.error().message;
  const auto& call = std::get<KernelCall>(program->calls.at(0));
  EXPECT_EQ(call.symbol, "act");
  EXPECT_EQ(call.library, "act.cubin");
  ASSERT_TRUE(call.launch);
  EXPECT_EQ(call.launch->grid, (std::array<std::int64_t, 3>{4, 1, 1}));
  EXPECT_EQ(call.launch->block, (std::array<std::int64_t, 3>{256, 1, 1}));
  EXPECT_EQ(call.launch->shared_bytes, 4000);
  ASSERT_EQ(call.slots.size(), 4u);
  EXPECT_EQ(std::get<BufferSlot>(call.slots[1]).offset, 8192u);
  EXPECT_EQ(std::get<BitsSlot>(call.slots[2]).bits, 1000u);
  EXPECT_EQ(std::get<BitsSlot>(call.slots[3]).bits, 0x3F800000u);  // 1.0f: the bits of the kernel's own type
}

TEST(LaunchTest, AnEmulatedLaunchCallsAShimWithNumbersAndAGeometry) {
  LaunchCase launch;
  launch.kernels.style = CallStyle::Emulated;
  const auto program = prepare(launch.manifest.passes[0], launch.kernels, launch.facts);
  ASSERT_TRUE(program) << program.error().message;
  const auto& call = std::get<KernelCall>(program->calls.at(0));
  EXPECT_EQ(call.symbol, "kw_call_act");
  ASSERT_EQ(call.slots.size(), 4u);
  EXPECT_EQ(std::get<std::int64_t>(call.slots[2]), 1000);
  ASSERT_TRUE(call.launch);
  EXPECT_EQ(call.launch->grid, (std::array<std::int64_t, 3>{4, 1, 1}));
  EXPECT_EQ(call.launch->block, (std::array<std::int64_t, 3>{256, 1, 1}));
  EXPECT_EQ(call.launch->shared_bytes, 4000);
}

TEST(LaunchTest, AGeometryThatNoGpuTakesIsRefused) {
  const auto message = [](const auto& change) {
    LaunchCase launch;
    change(launch.manifest.passes[0].steps[0].entries[0].launch);
    const auto program = prepare(launch.manifest.passes[0], launch.kernels, launch.facts);
    return program ? std::string("accepted") : program.error().message;
  };
  EXPECT_EQ(message([](kernel::Launch& l) { l.block[0] = "2*n"; }), "act would run 2000 threads along x");
  EXPECT_EQ(message([](kernel::Launch& l) { l.block[1] = "8"; }), "act would run 2048 threads in a block");
  EXPECT_EQ(message([](kernel::Launch& l) { l.block[2] = "0"; }), "act would run 0 threads along z");
  EXPECT_EQ(message([](kernel::Launch& l) { l.grid[1] = "66*n"; }), "act would run 66000 blocks along y");
  EXPECT_EQ(message([](kernel::Launch& l) { l.shared_bytes = "-1*n"; }), "act would have -1000 bytes of shared memory");
  EXPECT_EQ(message([](kernel::Launch& l) { l.shared_bytes = "500*n"; }),
            "act would have 500000 bytes of shared memory");
  EXPECT_EQ(message([](kernel::Launch& l) { l.grid[0] = "0"; }), "accepted");
}

}  // namespace
}  // namespace kw::device
