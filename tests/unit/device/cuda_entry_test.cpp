// One cubin for each kernel: what is compiled, when, how often, and which kernels must stay together.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "device/cuda/compile.h"
#include "device/cuda/contract.h"
#include "device/cuda/cubin.h"
#include "device/device.h"
#include "kernel_case.h"

namespace kw::device::cuda {
namespace {

using kernel::DType;

Nvrtc& nvrtc() {
  static const std::unique_ptr<Nvrtc> kNvrtc = [] {
    auto found = Nvrtc::open();
    KW_ASSERT(found, "the tests need NVRTC: tools/make_venv.sh installs it");
    return *std::move(found);
  }();
  return *kNvrtc;
}

// Two kernels in one file: `act` for small calls, `act_large` for all others.
kernel::Manifest two_kernels() {
  kernel::Manifest manifest = pointwise_manifest();
  manifest.target = kernel::Target::Cuda;
  kernel::Entry& entry = manifest.passes[0].steps[0].entries[0];
  entry.file = "act.cu";
  entry.launch.grid[0] = "ceil_div(n, 256)";
  entry.launch.block[0] = "256";
  kernel::Entry large = entry;
  large.symbol = "act_large";
  entry.guards.push_back("n <= 1000");
  manifest.passes[0].steps[0].entries.push_back(std::move(large));
  return manifest;
}

const kernel::Entry& small_kernel(const kernel::Manifest& manifest) { return manifest.passes[0].steps[0].entries[0]; }
const kernel::Entry& large_kernel(const kernel::Manifest& manifest) { return manifest.passes[0].steps[0].entries[1]; }

std::string kernel_text(const std::string& name, const std::string& body) {
  return "extern \"C\" __global__ void __launch_bounds__(256) " + name +
         "(const T* __restrict__ x, T* __restrict__ y, long long n) {\n"
         "  const long long i = blockIdx.x * 256LL + threadIdx.x;\n"
         "  if (i < n) " +
         body + "\n}\n";
}
std::string two_texts(const std::string& before, const std::string& small, const std::string& large) {
  return "using T = KW_T;\n" + before + kernel_text("act", small) + kernel_text("act_large", large);
}
const std::string kPlain = two_texts("", "y[i] = T(float(x[i]) * 2);", "y[i] = T(float(x[i]) * 3);");

Result<CompiledSet> later(const std::string& source, const Cache& cache) {
  return compile_when_called(two_kernels(), {{"act.cu", source}}, {{"T", DType::F32}}, "sm_90", nvrtc(), cache);
}
Result<CompiledSet> at_once(const std::string& source, const Cache& cache) {
  return compile(two_kernels(), {{"act.cu", source}}, {{"T", DType::F32}}, "sm_90", nvrtc(), cache);
}

int cubins_in(const Cache& cache) {
  int count = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(cache.folder()))
    count += file.path().extension() == ".cubin" ? 1 : 0;
  return count;
}

std::vector<std::string> reported(const CompiledFile& file) {
  std::vector<std::string> symbols;
  for (const KernelReport& report : file.reports) symbols.push_back(report.symbol);
  std::sort(symbols.begin(), symbols.end());
  return symbols;
}
using Names = std::vector<std::string>;

TEST(CudaEntryTest, EachKernelOfAFileHasItsOwnCubinAndReport) {
  const FreshCache cache;
  const auto set = at_once(kPlain, *cache);
  ASSERT_TRUE(set) << set.error().message;
  ASSERT_EQ(set->files.size(), 2u);
  EXPECT_EQ(set->files[0].symbol, "act");
  EXPECT_EQ(reported(set->files[0]), Names{"act"});
  EXPECT_EQ(set->files[1].symbol, "act_large");
  EXPECT_EQ(reported(set->files[1]), Names{"act_large"});
  EXPECT_GT(set->files[1].reports[0].registers, 3);
  EXPECT_NE(set->files[0].library, set->files[1].library);
  EXPECT_EQ(cubins_in(*cache), 2);
}

TEST(CudaEntryTest, ACallCompilesTheKernelsThatItNeedsAndNoOther) {
  const FreshCache cache;
  DeviceOptions options;
  options.cache_folder = (*cache).folder();
  options.gpu = 1000;
  const auto device = open_device(kernel::Target::Cuda, options);
  ASSERT_TRUE(device) << device.error().message;
  const kernel::Manifest manifest = two_kernels();
  const auto set = (*device)->compile_when_called(manifest, {{"act.cu", kPlain}}, {{"T", DType::F32}});
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(cubins_in(*cache), 0);
  kernel::Facts facts;
  const auto call = [&](std::int64_t n) {
    facts.sizes["n"] = n;
    for (const char* name : {"x", "y"}) facts.tensors[name] = {DType::F32, {n}, {1}, 4096};
    return (*device)->prepare(manifest.passes[0], *set, facts);
  };
  const auto small = call(10);
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_EQ(std::get<KernelCall>(small->calls.at(0)).symbol, "act");
  EXPECT_EQ(cubins_in(*cache), 1);
  const double seconds = set->seconds();
  EXPECT_GT(seconds, 0);
  ASSERT_TRUE(call(20));
  EXPECT_EQ(set->seconds(), seconds) << "another shape, the same kernel: nothing is compiled";
  const auto large = call(5000);
  ASSERT_TRUE(large) << large.error().message;
  EXPECT_EQ(std::get<KernelCall>(large->calls.at(0)).symbol, "act_large");
  EXPECT_NE(std::get<KernelCall>(large->calls.at(0)).library, std::get<KernelCall>(small->calls.at(0)).library);
  EXPECT_EQ(cubins_in(*cache), 2);
}

TEST(CudaEntryTest, ACacheHitCompilesNothing) {
  const FreshCache cache;
  const kernel::Manifest manifest = two_kernels();
  const kernel::Entry* const wanted[] = {&large_kernel(manifest)};
  const auto first = later(kPlain, *cache);
  ASSERT_TRUE(first) << first.error().message;
  const auto made = first->find(wanted);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(made->at(0).cached);
  const auto second = later(kPlain, *cache);
  ASSERT_TRUE(second);
  const auto found = second->find(wanted);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->at(0).cached);
  EXPECT_EQ(second->seconds(), 0);
  EXPECT_EQ(found->at(0).library, made->at(0).library);
  EXPECT_EQ(found->at(0).reports, made->at(0).reports);
  EXPECT_EQ(cubins_in(*cache), 1);
}

TEST(CudaEntryTest, AKernelIsCompiledOnceHoweverManyThreadsAskForIt) {
  const FreshCache cache;
  const kernel::Manifest manifest = two_kernels();
  const auto set = later(kPlain, *cache);
  ASSERT_TRUE(set) << set.error().message;
  std::vector<std::thread> threads;
  std::array<double, 6> seconds{};
  for (double& one : seconds)
    threads.emplace_back([&] {
      const kernel::Entry* const wanted[] = {&small_kernel(manifest)};
      const auto found = set->find(wanted);
      if (found) one = found->at(0).seconds;
    });
  for (std::thread& thread : threads) thread.join();
  for (const double one : seconds) EXPECT_EQ(one, set->seconds()) << "all have the one that was made";
  EXPECT_GT(set->seconds(), 0);
  EXPECT_EQ(cubins_in(*cache), 1);
}

TEST(CudaEntryTest, OfTwoProcessesOneCompilesAndBothHaveTheKernel) {
  const FreshCache cache;
  const kernel::Manifest manifest = two_kernels();
  std::array<pid_t, 2> children{};
  for (pid_t& child : children) {
    child = ::fork();
    if (child != 0) continue;
    const auto own = Nvrtc::open();
    if (!own) ::_exit(10);
    const auto set = compile_when_called(manifest, {{"act.cu", kPlain}}, {{"T", DType::F32}}, "sm_90", **own, *cache);
    const kernel::Entry* const wanted[] = {&small_kernel(manifest)};
    const auto found = set ? set->find(wanted) : Failure(set.error());
    if (!found || reported(found->at(0)) != Names{"act"}) ::_exit(11);
    ::_exit(found->at(0).cached ? 0 : 1);
  }
  int compiled = 0;
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_LE(WEXITSTATUS(status), 1);
    compiled += WEXITSTATUS(status);
  }
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(cubins_in(*cache), 1);
}

TEST(CudaEntryTest, TheKernelByItselfHasTheFiguresThatItHasAmongTheOthers) {
  const FreshCache cache;
  const auto set = at_once(kPlain, *cache);
  ASSERT_TRUE(set) << set.error().message;
  const auto unit = translation_unit(two_kernels(), "act.cu", {{"T", DType::F32}});
  ASSERT_TRUE(unit);
  const auto whole = compile_text("act.cu", *unit, {{"act.cu", kPlain}}, "sm_90", nvrtc(), *cache);
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_EQ(whole->reports.size(), 2u);
  for (const CompiledFile& file : set->files)
    EXPECT_NE(std::find(whole->reports.begin(), whole->reports.end(), file.reports.at(0)), whole->reports.end());
}

TEST(CudaEntryTest, KernelsThatShareAVariableStayTogether) {
  for (const char* variable : {"__device__ int calls;\n", "static __device__ int calls = 7;\n",
                               "namespace mine { __constant__ int calls; }\nusing mine::calls;\n"}) {
    const FreshCache cache;
    const auto set = at_once(two_texts(variable, "y[i] = T(calls);", "y[i] = T(calls + 1);"), *cache);
    ASSERT_TRUE(set) << set.error().message;
    ASSERT_EQ(set->files.size(), 1u) << variable;
    EXPECT_EQ(set->files[0].symbol, "");
    EXPECT_EQ(reported(set->files[0]), (Names{"act", "act_large"}));
  }
}

TEST(CudaEntryTest, AFileThatCannotBeTakenApartIsCompiledWhole) {
  const std::string block =
      "using T = KW_T;\nextern \"C\" {\n__global__ void act(const T* x, T* y, long long n) {}\n"
      "__global__ void act_large(const T* x, T* y, long long n) { y[0] = x[0]; }\n}\n";
  const FreshCache cache;
  const auto set = at_once(block, *cache);
  ASSERT_TRUE(set) << set.error().message;
  ASSERT_EQ(set->files.size(), 1u);
  EXPECT_EQ(reported(set->files[0]), (Names{"act", "act_large"}));
  const auto again = at_once(block, *cache);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->seconds(), 0) << "that it cannot be taken apart is remembered";
}

TEST(CudaEntryTest, KernelsThatAMacroWritesAreTakenApartToo) {
  const FreshCache cache;
  const auto set = at_once(
      "using T = KW_T;\n#define KERNEL(end, factor) extern \"C\" __global__ void act##end(const T* x, T* y, long long "
      "n) "
      "{ y[threadIdx.x] = T(float(x[threadIdx.x]) * factor); }\nKERNEL(, 2)\nKERNEL(_large, 3)\n",
      *cache);
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->files.size(), 2u);
}

TEST(CudaEntryTest, AKernelThatDoesNotCompileFailsTheCallThatNeedsItWithItsFileAndLine) {
  const FreshCache cache;
  const std::string source = two_texts("template <class A> struct Broken { static_assert(sizeof(A) == 99); };\n",
                                       "y[i] = x[i];", "y[i] = T(sizeof(Broken<T>));");
  const kernel::Manifest manifest = two_kernels();
  const auto set = later(source, *cache);
  ASSERT_TRUE(set) << set.error().message;
  const kernel::Entry* const good[] = {&small_kernel(manifest)};
  EXPECT_TRUE(set->find(good));
  const kernel::Entry* const bad[] = {&large_kernel(manifest)};
  const auto found = set->find(bad);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::GateFailed);
  ASSERT_TRUE(found.error().place);
  EXPECT_EQ(found.error().place->file, "act.cu");
  EXPECT_EQ(found.error().place->line, 2);
  EXPECT_FALSE(at_once(source, *cache));
}

TEST(CudaEntryTest, AKernelWithOtherParametersIsRefusedWhenItIsCompiledByItself) {
  std::string source = kPlain;
  const std::size_t at = source.rfind("long long n");
  source.replace(at, 11, "int n");
  const auto set = at_once(source, shared_cache());
  ASSERT_FALSE(set);
  EXPECT_NE(set.error().message.find("the manifest calls act_large(const float*, float*, long long), and the kernel"),
            std::string::npos)
      << set.error().message;
}

TEST(CubinTest, WhatIsNoWholeCubinIsTakenToHaveVariables) {
  EXPECT_TRUE(has_variables(""));
  EXPECT_TRUE(has_variables("no cubin at all, but long enough to be the header of an ELF file, which has 64 bytes"));
  const auto set = at_once(kPlain, shared_cache());
  ASSERT_TRUE(set) << set.error().message;
  const auto cubin = read_file(set->files[0].library);
  ASSERT_TRUE(cubin);
  EXPECT_FALSE(has_variables(*cubin));
  for (const std::size_t length : {std::size_t{40}, std::size_t{64}, cubin->size() / 2})
    EXPECT_TRUE(has_variables(cubin->substr(0, length))) << length;
}

}  // namespace
}  // namespace kw::device::cuda
