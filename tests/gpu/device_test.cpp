// The worker with a real GPU: kernels that are right, and each way in which one can be wrong. Needs an NVIDIA GPU and
// NVRTC, so it is no part of `make test`; bench/results/ holds recorded runs:
//
//   ninja -C build test_gpu && build/test_gpu
#include "device/device.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/file.h"
#include "device/cuda/compile.h"
#include "kernel/layout.h"

namespace kw::device {
namespace {

using kernel::DType;
using Kind = Fault::Kind;

// One device for all tests: after a fault the next kernel must run in a new worker.
Device& gpu() {
  static const std::unique_ptr<Device> kDevice = [] {
    DeviceOptions options;
    options.limits.time = std::chrono::milliseconds(3000);
    auto opened = open_device(kernel::Target::Cuda, options);
    if (!opened) {
      std::fputs(render(opened.error()).c_str(), stderr);
      std::exit(4);
    }
    if (const Status runs = (*opened)->can_run(); !runs) {
      std::fputs(render(runs.error()).c_str(), stderr);
      std::exit(4);
    }
    std::printf("%s\n", (*opened)->name().c_str());
    return *std::move(opened);
  }();
  return *kDevice;
}

struct GpuCase {
  DType dtype = DType::F32;
  std::string body;
  std::int64_t n = 1000;
  kernel::Launch launch = {{"ceil_div(n, 256)", "1", "1"}, {"256", "1", "1"}};
  Arena::Placement placement = {};
  std::optional<Timing> timing = {};
  double fill = 0;
};

struct GpuResult {
  RunOutcome outcome;
  std::vector<double> y;
};

void put(std::byte* at, DType dtype, double value) {
  const std::uint64_t bits = *element_bits(dtype, value);
  std::memcpy(at, &bits, static_cast<std::size_t>(ir::info(dtype).bytes));
}

double get(const std::byte* at, DType dtype) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(ir::info(dtype).bytes));
  if (dtype == DType::F64) return std::bit_cast<double>(bits);
  if (dtype == DType::F32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (dtype == DType::BF16) return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
  for (int code = 0; code < 1 << 16; ++code) {  // f16: small whole numbers only
    const double value = code - (1 << 15);
    if (*element_bits(dtype, value) == bits) return value;
  }
  return -1e300;
}

// With `check`, the sanitizer's complaint stands in the place of a fault.
GpuResult run_case(const GpuCase& c, std::optional<Device::Check> check);
GpuResult run_case(const GpuCase& c) { return run_case(c, std::nullopt); }

// y starts as `fill`, by a fill step before the kernel.
GpuResult run_case(const GpuCase& c, std::optional<Device::Check> check) {
  using kernel::Argument;
  GpuResult result;
  kernel::Manifest manifest;
  manifest.name = "act";
  manifest.target = kernel::Target::Cuda;
  manifest.sizes = {"n"};
  manifest.types = {{"T", {"bf16", "f16", "f32", "f64"}}};
  manifest.scalars = {{"scale", "real", "2"}};
  kernel::Entry entry{"act", "act.cu", {}, {}, c.launch};
  entry.arguments = {{Argument::Kind::Read, "x"},
                     {Argument::Kind::Update, "y"},
                     {Argument::Kind::Size, "n", 0, "i64"},
                     {Argument::Kind::Scalar, "scale", 0, "f32"}};
  kernel::Step fill{kernel::Step::Kind::Fill, {}, "y", c.fill};
  manifest.passes = {{"forward",
                      {{"x", kernel::Role::Input, "T", {"n"}}, {"y", kernel::Role::Output, "T", {"n"}}},
                      {fill, {kernel::Step::Kind::Kernel, {entry}}}}};
  const std::string source =
      "#include \"kw/element.h\"\nusing T = KW_T;\nusing W = kw::wide<T>;\n"
      "extern \"C\" __global__ void act(const T* x, T* y, long long n, float scale) {\n"
      "  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n  " +
      c.body + "\n}\n";
  const auto kernels = gpu().compile(manifest, {{"act.cu", source}}, {{"T", c.dtype}});
  EXPECT_TRUE(kernels) << render(kernels.error());
  if (!kernels) return result;
  Arena arena;
  const kernel::Tensor tensor{c.dtype, {c.n}, {1}, 0};
  EXPECT_TRUE(arena.add("x", tensor, Arena::Access::Read, c.placement));
  EXPECT_TRUE(arena.add("y", tensor, Arena::Access::Write, c.placement));
  EXPECT_TRUE(arena.allocate());
  const auto size = static_cast<std::size_t>(ir::info(c.dtype).bytes);
  for (std::int64_t i = 0; i < std::min<std::int64_t>(c.n, 1 << 20); ++i)
    put(arena.bytes("x").data() + static_cast<std::size_t>(i) * size, c.dtype, static_cast<double>(i % 100));
  arena.poison("y", 0xAB);
  kernel::Facts facts;
  facts.machine = gpu().machine();
  facts.sizes = {{"n", c.n}};
  facts.scalars = {{"scale", 2.0}};
  facts.tensors = arena.tensors();
  const auto program = gpu().prepare(manifest.passes[0], *kernels, facts);
  EXPECT_TRUE(program) << program.error().message;
  if (!program) return result;
  if (check) {
    const auto complaint = gpu().sanitize({*program}, arena, *check);
    EXPECT_TRUE(complaint) << render(complaint.error());
    if (complaint && *complaint) result.outcome.fault = Fault{Kind::Strayed, "act", **complaint};
    return result;
  }
  RunOptions options;
  options.timing = c.timing;
  auto outcome = gpu().run({*program}, arena, options);
  EXPECT_TRUE(outcome) << render(outcome.error());
  if (!outcome) return result;
  result.outcome = *std::move(outcome);
  for (std::int64_t i = 0; i < std::min<std::int64_t>(c.n, 4096); ++i)
    result.y.push_back(get(arena.bytes("y").data() + static_cast<std::size_t>(i) * size, c.dtype));
  return result;
}

const char* const kRight = "if (i < n) y[i] = T(W(x[i]) * W(scale) + W(1));";

void expect_right(const GpuCase& c) {
  const GpuResult result = run_case(c);
  ASSERT_FALSE(result.outcome.fault) << result.outcome.fault->message;
  ASSERT_FALSE(result.y.empty());
  for (std::size_t i = 0; i < result.y.size(); ++i) ASSERT_EQ(result.y[i], 2.0 * static_cast<double>(i % 100) + 1) << i;
}

// The fault, in words; and the next kernel runs.
void expect_fault(const GpuCase& c, Kind kind, const std::string& message) {
  const GpuResult result = run_case(c);
  ASSERT_TRUE(result.outcome.fault) << "the fault was not noticed";
  EXPECT_EQ(static_cast<int>(result.outcome.fault->kind), static_cast<int>(kind)) << result.outcome.fault->message;
  EXPECT_NE(result.outcome.fault->message.find(message), std::string::npos) << result.outcome.fault->message;
  expect_right({.body = kRight});
}

TEST(GpuTest, AKernelComputesItsResultInEveryType) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::F16, DType::F64})
    expect_right({.dtype = dtype, .body = kRight});
}

// All pairs of numbers of 16 bits, as both halves of a word: as in the wide type, and then rounded. A subnormal product
// of two bf16 is rounded twice there, and may be the next one.
TEST(GpuTest, PairsOfNarrowNumbersRoundAsSingleOnesDo) {
  for (const std::string type : {"bf16", "f16"})
    for (const auto& [names, sign] :
         {std::pair("products", "*"), std::pair("sums", "+"), std::pair("differences", "-")}) {
      const std::string body =
          "using N = kw::" + type + "; float wrong = 0;\n" +
          "  for (unsigned first = i * 16; first < i * 16 + 16; ++first)\n"
          "    for (unsigned second = 0; second < 65536; ++second) {\n"
          "      N a, b; a.bits = first; b.bits = second;\n"
          "      const unsigned pair = kw::" +
          type + "_" + names + "(first * 65537, second * 65537);\n" + "      const float wide = float(a) " + sign +
          " float(b);\n" +
          "      const int wanted = N(wide).bits, low = pair & 65535, high = pair >> 16;\n"
          "      const int free = " +
          (type + names == "bf16products" ? "fabsf(wide) < 0x1p-126f" : "false") +
          ";\n"
          "      if (wide == wide) wrong += low != high || low > wanted + free || low < wanted - free;\n"
          "      if (wide != wide) { N n; n.bits = low; wrong += float(n) == float(n); }\n"
          "    }\n"
          "  y[i] = wrong;";
      const GpuResult result = run_case({.body = body, .n = 4096, .launch = {{"64", "1", "1"}, {"64", "1", "1"}}});
      ASSERT_FALSE(result.outcome.fault) << result.outcome.fault->message;
      EXPECT_EQ(result.y, std::vector<double>(4096, 0.0)) << type << " " << names;
    }
}

TEST(GpuTest, SizesFromOneToManyBlocks) {
  for (const std::int64_t n : {1, 31, 257, 1 << 20, (1 << 22) + 3}) expect_right({.body = kRight, .n = n});
}

TEST(GpuTest, BuffersMayBeMisalignedOrBeginAtTheirFence) {
  expect_right({.body = kRight, .placement = {64, 4, false}});
  expect_right({.body = kRight, .placement = {64, 0, true}});
}

TEST(GpuTest, AnEmptyGridIsNoLaunch) {
  const GpuResult result =
      run_case({.body = kRight, .n = 8, .launch = {{"0", "1", "1"}, {"256", "1", "1"}}, .fill = 3.5});
  ASSERT_FALSE(result.outcome.fault) << result.outcome.fault->message;
  EXPECT_EQ(result.y, std::vector<double>(8, 3.5));
}

TEST(GpuTest, FillsReachEveryElementOfEveryWidth) {
  for (const DType dtype : {DType::BF16, DType::F32, DType::F64}) {
    const GpuResult result = run_case({.dtype = dtype, .body = "", .n = 3000, .fill = 1.25});
    ASSERT_FALSE(result.outcome.fault) << result.outcome.fault->message;
    EXPECT_EQ(result.y, std::vector<double>(3000, 1.25)) << ir::info(dtype).name;
  }
}

TEST(GpuTest, MoreSharedMemoryThanIsUsualIsGranted) {
  const char* body =
      "extern __shared__ float parts[]; if (i < n) { parts[20000 + threadIdx.x] = W(x[i]); "
      "y[i] = T(parts[20000 + threadIdx.x] * scale + 1); }";
  const kernel::Launch launch{{"ceil_div(n, 256)", "1", "1"}, {"256", "1", "1"}, "4*(20000 + 256)"};
  expect_right({.body = body, .launch = launch});
}

TEST(GpuTest, MoreSharedMemoryThanThereIsCannotBeLaunched) {
  const char* body =
      "__shared__ float parts[256]; if (i < n) { parts[threadIdx.x] = W(x[i]); "
      "y[i] = T(parts[threadIdx.x] * scale + 1); }";  // beside all that a block may have
  expect_fault({.body = body, .launch = {{"1", "1", "1"}, {"256", "1", "1"}, "232448"}}, Kind::NotLoadable,
               "cannot be launched");
}

TEST(GpuTest, AWrongResultIsWrongAndNoFault) {
  const GpuResult result = run_case({.body = "if (i < n) y[i] = T(W(x[i]) + 1);"});
  ASSERT_FALSE(result.outcome.fault) << result.outcome.fault->message;
  EXPECT_EQ(result.y[0], 1);
  EXPECT_NE(result.y[5], 11);
}

TEST(GpuTest, AnUnwrittenTailKeepsItsFill) {
  const GpuResult result = run_case({.body = "if (i < n - 1) y[i] = T(W(x[i]) * 2 + 1);", .n = 300, .fill = -7});
  ASSERT_FALSE(result.outcome.fault) << result.outcome.fault->message;
  EXPECT_EQ(result.y[298], 2 * 98 + 1);
  EXPECT_EQ(result.y[299], -7);
}

TEST(GpuTest, WritesFarOutsideAreStopped) {
  expect_fault({.body = "if (i == 0) y[n + (1 << 26)] = T(1.0f);"}, Kind::Strayed, "act touched memory outside");
}

TEST(GpuTest, ReadsPastTheEndAreStopped) {
  // The buffer ends where its mapping does, but for the alignment: 4 KiB further there is nothing.
  expect_fault({.body = "if (i < n) y[i] = x[i + 1024];"}, Kind::Strayed, "act touched memory outside");
}

TEST(GpuTest, ReadsBeforeTheStartAreStoppedWhereTheBufferBeginsAtItsFence) {
  expect_fault({.body = "if (i < n) y[i] = x[i - 1];", .placement = {64, 0, true}}, Kind::Strayed,
               "act touched memory outside");
}

TEST(GpuTest, ANullPointerIsStopped) {
  expect_fault({.body = "if (i == 0) *(volatile float*)(n - 1000) = 1.0f;"}, Kind::Strayed,
               "act touched memory outside");
}

TEST(GpuTest, AWriteJustPastTheEndIsSeen) {
  expect_fault({.body = "if (i <= n) y[i] = T(1.0f);"}, Kind::Strayed, "the kernel wrote 1 byte past the end of y");
}

TEST(GpuTest, AWriteBeforeTheStartIsSeen) {
  expect_fault({.body = "if (i == 0) y[-1] = T(0.0f);"}, Kind::Strayed, "before the start of y");
  expect_fault({.body = "if (i == 0) y[-50000] = T(0.0f);"}, Kind::Strayed, "before the start of y");
}

TEST(GpuTest, AWriteToAnInputIsSeen) {
  expect_fault({.body = "if (i == 7) const_cast<T*>(x)[i] = T(-1.0f);"}, Kind::WroteToInput,
               "of x, which it may only read");
}

TEST(GpuTest, AMisalignedVectorIsAFault) {
  expect_fault({.body = "if (i == 0) *(float4*)(y + 1) = float4{1, 2, 3, 4};"}, Kind::Crashed, "misaligned");
}

TEST(GpuTest, ATrapIsAFault) { expect_fault({.body = "if (i == 3) __trap();"}, Kind::Crashed, "act crashed"); }

TEST(GpuTest, AKernelThatNeverEndsIsEndedInTime) {
  const auto start = std::chrono::steady_clock::now();
  const GpuResult result =
      run_case({.body = "while (W(*static_cast<const volatile T*>(x + i % n)) >= 0) {}\n  y[i % n] = T(1.0f);"});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_TRUE(result.outcome.fault);
  EXPECT_EQ(static_cast<int>(result.outcome.fault->kind), static_cast<int>(Kind::OutOfTime));
  EXPECT_EQ(result.outcome.fault->message, "act did not end within 3 s");
  EXPECT_LT(seconds, 30);
  std::printf("ended after %.1f s\n", seconds);
  expect_right({.body = kRight});
}

TEST(GpuTest, ABarrierThatNotAllThreadsReachIsEndedOrHarmless) {
  const GpuResult result = run_case({.body = "if (threadIdx.x < 100) __syncthreads(); if (i < n) y[i] = T(1.0f);"});
  if (result.outcome.fault) std::printf("%s\n", result.outcome.fault->message.c_str());
  expect_right({.body = kRight});
}

// compute-sanitizer is not on every machine, and does not work in every sandbox.
bool has_sanitizer() {
  Arena arena;
  if (!arena.allocate()) return false;
  const auto complaint = gpu().sanitize({}, arena, Device::Check::Memory);
  if (!complaint) std::printf("%s\n", render(complaint.error()).c_str());
  return complaint.has_value();
}

TEST(GpuSanitizerTest, ARightKernelHasNoComplaint) {
  if (!has_sanitizer()) GTEST_SKIP() << "compute-sanitizer is not on this machine";
  for (const auto check : {Device::Check::Memory, Device::Check::Races, Device::Check::Barriers}) {
    const GpuResult result = run_case({.body = kRight}, check);
    EXPECT_FALSE(result.outcome.fault) << result.outcome.fault->message;
  }
}

TEST(GpuSanitizerTest, AReadJustPastTheEndIsSeen) {
  if (!has_sanitizer()) GTEST_SKIP() << "compute-sanitizer is not on this machine";
  const GpuResult result = run_case({.body = "if (i < n) y[i] = x[i + 1];"}, Device::Check::Memory);
  ASSERT_TRUE(result.outcome.fault) << "it was not seen";
  std::printf("%s\n", result.outcome.fault->message.c_str());
  EXPECT_NE(result.outcome.fault->message.find("read"), std::string::npos);
}

TEST(GpuSanitizerTest, AMissingBarrierIsARace) {
  if (!has_sanitizer()) GTEST_SKIP() << "compute-sanitizer is not on this machine";
  const GpuResult result =
      run_case({.body = "__shared__ float parts[256]; parts[threadIdx.x] = float(i); if (i < n) y[i] = "
                        "T(parts[(threadIdx.x + 64) % 256]);"},
               Device::Check::Races);
  ASSERT_TRUE(result.outcome.fault) << "it was not seen";
  std::printf("%s\n", result.outcome.fault->message.c_str());
}

TEST(GpuTest, TimesAreOfTheGpuAndRepeat) {
  // 1 GiB through the memory: between a fifth and the whole of what any GPU reaches.
  const std::int64_t n = 1 << 27;
  GpuCase c{.body = "reinterpret_cast<float4*>(y)[i] = reinterpret_cast<const float4*>(x)[i];",
            .n = n,
            .launch = {{"n//1024", "1", "1"}, {"256", "1", "1"}}};
  c.timing = Timing{3, 20, 1, std::nullopt, {}, false};
  const GpuResult result = run_case(c);
  ASSERT_FALSE(result.outcome.fault) << result.outcome.fault->message;
  ASSERT_EQ(result.outcome.seconds.size(), 1u);
  std::vector<double> samples = result.outcome.seconds[0];
  ASSERT_EQ(samples.size(), 20u);
  std::sort(samples.begin(), samples.end());
  // The program is the fill of y (512 MiB) and the copy.
  const double bytes = 3.0 * 4 * static_cast<double>(n);
  std::printf("median %.1f us, %.2f TB/s, spread %.1f%%\n", samples[10] * 1e6, bytes / samples[10] / 1e12,
              100 * (samples[15] - samples[5]) / samples[10]);
  EXPECT_GT(bytes / samples[10], 0.2e12);
  EXPECT_LT(bytes / samples[10], 20e12);
  EXPECT_LT(samples[15] / samples[5], 1.2);
}

}  // namespace
}  // namespace kw::device
