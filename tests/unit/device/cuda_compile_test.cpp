// CUDA without a GPU: kernels compiled by NVRTC, and what its assembler says of them.
#include "device/cuda/compile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "device/cuda/contract.h"
#include "device/cuda/ptxas_report.h"
#include "device/device.h"
#include "kernel_case.h"

namespace kw::device::cuda {
namespace {

using kernel::DType;

Nvrtc& nvrtc() {
  static const std::unique_ptr<Nvrtc> kNvrtc = [] {
    auto found = Nvrtc::open(KW_SOURCE_DIR "/.venv/lib/no-such-file");
    EXPECT_FALSE(found);
    found = Nvrtc::open();
    KW_ASSERT(found, "the tests need NVRTC: tools/make_venv.sh installs it");
    return *std::move(found);
  }();
  return *kNvrtc;
}

kernel::Manifest cuda_manifest() {
  kernel::Manifest manifest = pointwise_manifest();
  manifest.target = kernel::Target::Cuda;
  kernel::Entry& entry = manifest.passes[0].steps[0].entries[0];
  entry.file = "act.cu";
  entry.launch.grid[0] = "ceil_div(n, 256)";
  entry.launch.block[0] = "256";
  return manifest;
}

std::string cuda_source(const std::string& body, const std::string& before = {}) {
  return "#include \"kw/element.h\"\nusing T = KW_T;\n" + before +
         "extern \"C\" __global__ void act(const T* x, T* y, long long n) {\n"
         "  const long long i = blockIdx.x * 256LL + threadIdx.x;\n  " +
         body + "\n}\n";
}

// The same compiler with a byte more at its end, as another build of it would have, and its builtins beside it.
Result<std::unique_ptr<Nvrtc>> another_build(const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path one = nvrtc().path();
  for (const fs::directory_entry& entry : fs::directory_iterator(one.parent_path()))
    if (entry.path().filename().string().starts_with("libnvrtc-builtins"))
      fs::create_symlink(entry.path(), fs::path(folder) / entry.path().filename());
  const fs::path other = fs::path(folder) / one.filename();
  fs::copy_file(one, other);
  std::ofstream(other, std::ios::app).put('\0');
  return Nvrtc::open(other.string());
}

const char* const kDouble = "if (i < n) y[i] = T(float(x[i]) * 2);";

Result<CompiledSet> compile_one(const std::string& source, DType dtype = DType::F32,
                                const std::string& architecture = "sm_90", const Cache& cache = shared_cache()) {
  return compile(cuda_manifest(), {{"act.cu", source}}, {{"T", dtype}}, architecture, nvrtc(), cache);
}

TEST(CudaCompileTest, KernelsCompileForEveryArchitectureAndTypeWithoutAGpu) {
  for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
    for (const DType dtype : {DType::F32, DType::BF16, DType::F16, DType::F64}) {
      const auto set = compile_one(cuda_source(kDouble), dtype, architecture);
      ASSERT_TRUE(set) << set.error().message;
      ASSERT_EQ(set->files.size(), 1u);
      const auto cubin = read_file(set->files[0].library);
      ASSERT_TRUE(cubin);
      EXPECT_TRUE(
          cubin->starts_with("\x7f"
                             "ELF"));
      ASSERT_EQ(set->files[0].reports.size(), 1u);
      const KernelReport& report = set->files[0].reports[0];
      EXPECT_EQ(report.symbol, "act");
      EXPECT_EQ(report.architecture, architecture);
      EXPECT_GT(report.registers, 3);
      EXPECT_LT(report.registers, 40);
      EXPECT_FALSE(report.spills());
    }
  }
}

TEST(CudaCompileTest, PtxIsTextThatNoAssemblerHasSeen) {
  const auto set = compile_one(cuda_source(kDouble), DType::F32, "compute_80");
  ASSERT_TRUE(set) << set.error().message;
  const auto text = read_file(set->files[0].library);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find(".target sm_80"), std::string::npos);
  EXPECT_NE(text->find(".entry act"), std::string::npos);
  EXPECT_TRUE(set->files[0].reports.empty());
}

TEST(CudaCompileTest, SpillsAndSharedMemoryAreReported) {
  const auto set = compile_one(cuda_source(
      R"(  __shared__ float shared[1024];
  float v[96];
#pragma unroll
  for (int k = 0; k < 96; ++k) v[k] = float(x[k * n + i]);
  shared[threadIdx.x] = v[3];
  __syncthreads();
#pragma unroll
  for (int round = 0; round < 4; ++round)
#pragma unroll
    for (int k = 0; k < 96; ++k) v[k] = v[k] * v[(k * 7 + round) % 96] + shared[k];
#pragma unroll
  for (int k = 0; k < 96; ++k) y[k * n + i] = T(v[k]);)",
      "extern \"C\" __global__ void __launch_bounds__(1024, 2) act(const T* x, T* y, long long n);\n"));
  ASSERT_TRUE(set) << set.error().message;
  ASSERT_EQ(set->files[0].reports.size(), 1u);
  const KernelReport& report = set->files[0].reports[0];
  EXPECT_EQ(report.registers, 32);  // 65536 of a multiprocessor for 2 blocks of 1024 threads
  EXPECT_TRUE(report.spills());
  EXPECT_GT(report.spill_store_bytes, 100);
  EXPECT_GT(report.spill_load_bytes, 100);
  EXPECT_GT(report.stack_bytes, 100);
  EXPECT_EQ(report.shared_bytes, 4096);
  EXPECT_EQ(report.barriers, 1);
}

TEST(CudaCompileTest, ResultsAreCachedByContentTypeAndArchitecture) {
  const FreshCache cache;
  const std::string source = cuda_source(kDouble);
  const auto first = compile_one(source, DType::F32, "sm_90", *cache);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->files[0].cached);
  EXPECT_GT(first->files[0].seconds, 0);
  const auto again = compile_one(source, DType::F32, "sm_90", *cache);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->files[0].cached);
  EXPECT_EQ(again->files[0].library, first->files[0].library);
  EXPECT_EQ(again->files[0].reports, first->files[0].reports);
  EXPECT_FALSE(compile_one(source, DType::F32, "sm_80", *cache)->files[0].cached);
  EXPECT_FALSE(compile_one(source, DType::F16, "sm_90", *cache)->files[0].cached);
  EXPECT_FALSE(compile_one(source + "// another text\n", DType::F32, "sm_90", *cache)->files[0].cached);
}

TEST(CudaCompileTest, AnotherBuildOfTheCompilerIsNotServedByWhatThisOneMade) {
  const FreshCache cache;
  const auto folder = TemporaryDirectory::make();
  ASSERT_TRUE(folder);
  const auto other = another_build(folder->path());
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ((*other)->version(), nvrtc().version());
  ASSERT_TRUE(compile_one(cuda_source(kDouble), DType::F32, "sm_90", *cache));
  for (const bool again : {false, true}) {
    const auto set =
        compile(cuda_manifest(), {{"act.cu", cuda_source(kDouble)}}, {{"T", DType::F32}}, "sm_90", **other, *cache);
    ASSERT_TRUE(set) << set.error().message;
    EXPECT_EQ(set->files[0].cached, again);
  }
}

TEST(CudaCompileTest, TwoCompilationsOfOneTextGiveTheSameBytes) {
  const FreshCache one, two;
  const auto a = compile_one(cuda_source(kDouble), DType::F32, "sm_90", *one);
  const auto b = compile_one(cuda_source(kDouble), DType::F32, "sm_90", *two);
  ASSERT_TRUE(a && b);
  EXPECT_FALSE(b->files[0].cached);
  EXPECT_EQ(*read_file(a->files[0].library), *read_file(b->files[0].library));
  EXPECT_EQ(a->files[0].reports.size(), 1u);
  EXPECT_EQ(a->files[0].reports, b->files[0].reports) << "a compiler that remembers its results reports nothing";
}

TEST(CudaCompileTest, AReportThatWasLostIsMadeAgain) {
  const FreshCache cache;
  const auto first = compile_one(cuda_source(kDouble), DType::F32, "sm_90", *cache);
  ASSERT_TRUE(first);
  std::string report = first->files[0].library;
  report.replace(report.rfind(".cubin"), 6, ".json");
  ASSERT_TRUE(write_file_atomically(report, "[{"));
  const auto again = compile_one(cuda_source(kDouble), DType::F32, "sm_90", *cache);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->files[0].reports, first->files[0].reports);
}

TEST(CudaCompileTest, ThreadsCompileBesideEachOther) {
  const FreshCache cache;
  std::vector<std::thread> threads;
  std::array<bool, 4> good{};
  for (std::size_t i = 0; i < good.size(); ++i)
    threads.emplace_back([&, i] {
      const auto set =
          compile_one(cuda_source(kDouble) + "// " + std::to_string(i) + "\n", DType::F32, "sm_90", *cache);
      good[i] = set && set->files[0].reports.size() == 1;
    });
  for (std::thread& thread : threads) thread.join();
  for (const bool one : good) EXPECT_TRUE(one);
}

TEST(CudaErrorTest, AnErrorOfTheKernelHasItsFileAndLine) {
  const auto set = compile_one(cuda_source("y[i] = T(unknown(x[i]));"));
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().kind, ErrorKind::GateFailed);
  EXPECT_NE(set.error().message.find("identifier \"unknown\" is undefined"), std::string::npos);
  ASSERT_TRUE(set.error().place);
  EXPECT_EQ(set.error().place->file, "act.cu");
  EXPECT_EQ(set.error().place->line, 5);
  EXPECT_EQ(set.error().source_line, "  y[i] = T(unknown(x[i]));");
}

TEST(CudaErrorTest, AKernelWithOtherParametersThanItsManifestDoesNotCompile) {
  const auto with = [&](const std::string& parameters) {
    return compile_one("using T = KW_T;\nextern \"C\" __global__ void act(" + parameters + ") {}\n", DType::BF16);
  };
  EXPECT_TRUE(with("const T* x, T* y, long long n"));
  EXPECT_TRUE(with("const T* __restrict__ x, T* __restrict__ y, long n")) << "a long is as wide";
  for (const char* parameters : {"const T* x, T* y, int n", "const T* x, T* y", "const T* x, const T* y, long n",
                                 "T* x, T* y, long n", "const float* x, T* y, long n", "const T* x, T* y, double n",
                                 "const T* x, T* y, unsigned long n", "const T* x, T* y, long n, float eps"}) {
    const auto set = with(parameters);
    ASSERT_FALSE(set) << parameters;
    EXPECT_NE(set.error().message.find("the manifest calls act(const kw::bf16*, kw::bf16*, long long), and the kernel "
                                       "has other parameters"),
              std::string::npos)
        << set.error().message;
  }
}

TEST(CudaErrorTest, AKernelThatIsNotThereIsMissed) {
  const auto function = compile_one("extern \"C\" __device__ void act(const KW_T* x, KW_T* y, long long n) {}\n");
  ASSERT_FALSE(function);
  EXPECT_EQ(function.error().message, "act.cu holds no kernel act");
  const auto mangled = compile_one("__global__ void act(const KW_T* x, KW_T* y, long long n) {}\n");
  ASSERT_FALSE(mangled);
  EXPECT_EQ(mangled.error().message, "act.cu holds no kernel act");
  EXPECT_FALSE(compile_one("\n"));
}

TEST(CudaErrorTest, ACompilationThatDoesNotEndIsEnded) {
  CompileOptions options;
  options.patience = std::chrono::seconds(1);
  const std::string source = R"(
template <long long N, int D> struct Tree { static constexpr long long value = Tree<2 * N, D - 1>::value + Tree<2 * N + 1, D - 1>::value; };
template <long long N> struct Tree<N, 0> { static constexpr long long value = N; };
)" + cuda_source("y[i] = T(float(Tree<1, 30>::value));");
  const auto set =
      compile(cuda_manifest(), {{"act.cu", source}}, {{"T", DType::F32}}, "sm_90", nvrtc(), shared_cache(), options);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().message, "act.cu does not compile within 1 s");
  EXPECT_TRUE(compile_one(cuda_source(kDouble) + "// afterwards\n")) << "the next has a new process";
}

TEST(CudaErrorTest, NothingButWhatIsGivenIsIncluded) {
  const auto set = compile_one("#include \"/etc/passwd\"\n" + cuda_source(kDouble));
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().message, "act.cu includes /etc/passwd, which is not among the kernel's files");
  EXPECT_FALSE(compile_one("#include \"kw/no_such_header.h\"\n" + cuda_source(kDouble)));
}

TEST(CudaErrorTest, AnArchitectureThatDoesNotExistIsRefused) {
  const auto word = compile_one(cuda_source(kDouble), DType::F32, "hopper");
  ASSERT_FALSE(word);
  EXPECT_EQ(word.error().message, "'hopper' is no architecture");
  const auto old = compile_one(cuda_source(kDouble), DType::F32, "sm_20");
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().kind, ErrorKind::MissingTool);
}

TEST(CudaErrorTest, FilesThatAreMissingOrTakeTheRuntimesNamesAreRefused) {
  EXPECT_FALSE(compile(cuda_manifest(), {}, {{"T", DType::F32}}, "sm_90", nvrtc(), shared_cache()));
  for (const char* path : {"kw/element.h", "../act.cu", "/act.cu", ""}) {
    const auto set = compile(cuda_manifest(), {{"act.cu", cuda_source(kDouble)}, {path, ""}}, {{"T", DType::F32}},
                             "sm_90", nvrtc(), shared_cache());
    EXPECT_FALSE(set) << path;
  }
  const auto unbound = compile(cuda_manifest(), {{"act.cu", ""}}, {}, "sm_90", nvrtc(), shared_cache());
  ASSERT_FALSE(unbound);
  EXPECT_EQ(unbound.error().message, "the type parameter T has no dtype");
  EXPECT_FALSE(compile(cuda_manifest(), {{"act.cu", ""}}, {{"T", DType::I32}}, "sm_90", nvrtc(), shared_cache()));
}

TEST(PtxasReportTest, EveryKernelOfALogHasItsFigures) {
  const auto reports = ptxas_reports(
      "ptxas info    : 16 bytes gmem\n"
      "ptxas info    : Compiling entry function 'spill' for 'sm_80'\n"
      "ptxas info    : Function properties for spill\n"
      "ptxas         .     1184 bytes stack frame, 1544 bytes spill stores, 1948 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 1184 bytes cumulative stack size, 4096 bytes smem, 372 "
      "bytes "
      "cmem[0]\n"
      "ptxas info    : Compile time = 50.577 ms\n"
      "ptxas info    : Compiling entry function 'act' for 'sm_80'\n"
      "ptxas info    : Function properties for act\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 10 registers, 380 bytes cmem[0]\n");
  EXPECT_EQ(reports, (std::vector<KernelReport>{{"spill", "sm_80", 32, 1184, 1544, 1948, 4096, 1},
                                                {"act", "sm_80", 10, 0, 0, 0, 0, 0}}));
  const auto back = reports_from_json(to_json(reports));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, reports);
}

TEST(PtxasReportTest, AFunctionThatAKernelCallsSpillsInItsName) {
  const auto reports = ptxas_reports(
      "ptxas info    : Compiling entry function 'act' for 'sm_90'\n"
      "ptxas info    : Function properties for act\n"
      "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Function properties for slow_path\n"
      "    40 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 0 barriers\n");
  EXPECT_EQ(reports, (std::vector<KernelReport>{{"act", "sm_90", 255, 8, 16, 24, 0, 0}}));
}

TEST(PtxasReportTest, ALogThatIsCutShortOrIsNoneGivesNothing) {
  EXPECT_TRUE(ptxas_reports("").empty());
  EXPECT_TRUE(ptxas_reports("ptxas info    : Used 10 registers\n").empty());
  EXPECT_TRUE(ptxas_reports("ptxas info    : Compiling entry function 'act' for 'sm_90'\n").empty());
  EXPECT_TRUE(ptxas_reports("Compiling entry function 'act\nUsed many registers, registers").empty());
  EXPECT_FALSE(reports_from_json("[{\"symbol\": 3}]"));
  EXPECT_FALSE(reports_from_json("no"));
}

TEST(CudaDeviceTest, WithoutAGpuItCompilesAndSaysWhyItDoesNoMore) {
  const FreshCache cache;
  DeviceOptions options;
  options.cache_folder = (*cache).folder();
  options.gpu = 1000;
  const auto device = open_device(kernel::Target::Cuda, options);
  ASSERT_TRUE(device) << device.error().message;
  const auto set = (*device)->compile(cuda_manifest(), {{"act.cu", cuda_source(kDouble)}}, {{"T", DType::F32}});
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(static_cast<int>(set->style), static_cast<int>(CallStyle::Launch));
  EXPECT_EQ((*device)->architectures(), (std::vector<std::string>{"sm_80", "sm_90", "sm_100"}));
  ASSERT_FALSE((*device)->can_run());
  EXPECT_EQ((*device)->can_run().error().kind, ErrorKind::MissingTool);
  Arena arena;
  ASSERT_TRUE(arena.allocate());
  EXPECT_FALSE((*device)->run({}, arena));
}

}  // namespace
}  // namespace kw::device::cuda
