#include "device/cpu/compile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "device/cpu/shim.h"
#include "kernel_case.h"

namespace kw::device::cpu {
namespace {

using kernel::DType;

const char* const kCopy = "for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];";

Result<CompiledSet> build(const std::string& source, const Cache& cache, DType dtype = DType::F32,
                          const Compiler& compiler = test_compiler(), const CompileOptions& options = {}) {
  return compile(pointwise_manifest(), {{"act.cpp", source}}, {{"T", dtype}}, compiler, cache, options);
}

TEST(CompileTest, TheSecondTimeNoCompilerRuns) {
  const FreshCache cache;
  const auto first = build(pointwise_source(kCopy), *cache);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->files[0].cached);
  EXPECT_GT(first->files[0].seconds, 0);
  Compiler broken = test_compiler();  // the same compiler by all that the key knows, and it cannot run
  CompileOptions options;
  const std::string kept = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const auto second = build(pointwise_source(kCopy), *cache, DType::F32, broken, options);
  ::setenv("PATH", kept.c_str(), 1);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(second->files[0].cached);
  EXPECT_EQ(second->files[0].seconds, 0);
  EXPECT_EQ(second->files[0].library, first->files[0].library);
}

TEST(CompileTest, WhateverGoesIntoItChangesTheKey) {
  const FreshCache cache;
  const auto key = [&](const std::string& source, DType dtype, const Compiler& compiler,
                       std::vector<std::string> flags) {
    CompileOptions options;
    options.flags = std::move(flags);
    const auto set = build(source, *cache, dtype, compiler, options);
    EXPECT_TRUE(set) << set.error().message;
    return set ? set->files[0].key : "";
  };
  const std::vector<std::string> plain = {"-std=c++20", "-O0", "-fPIC", "-shared"};
  std::vector<std::string> other = plain;
  other[1] = "-O1";
  Compiler newer = test_compiler(), elsewhere = test_compiler();
  newer.version += " (newer)";
  elsewhere.machine += "another processor";
  const std::string source = pointwise_source(kCopy);
  const std::set<std::string> keys = {key(source, DType::F32, test_compiler(), plain),
                                      key(source, DType::F64, test_compiler(), plain),
                                      key(source + "\n", DType::F32, test_compiler(), plain),
                                      key(source, DType::F32, newer, plain),
                                      key(source, DType::F32, elsewhere, plain),
                                      key(source, DType::F32, test_compiler(), other)};
  EXPECT_EQ(keys.size(), 6u);
}

TEST(CompileTest, AFileThatNoOtherNamesIsNoneOfTheirs) {
  const FreshCache cache;
  const auto key = [&](const Sources& beside) {
    Sources sources = beside;
    sources["act.cpp"] = pointwise_source(kCopy) + "// other.h\n";
    const auto set = compile(pointwise_manifest(), sources, {{"T", DType::F32}}, test_compiler(), *cache);
    EXPECT_TRUE(set) << set.error().message;
    return set ? set->files[0].key : "";
  };
  EXPECT_EQ(key({{"backward.cpp", "int a;"}}), key({{"backward.cpp", "int b;"}}));
  EXPECT_NE(key({{"other.h", "int a;"}}), key({{"other.h", "int b;"}}));
}

TEST(CompileTest, AtOnceOneCompilesAndTheOthersWait) {
  const FreshCache cache;
  std::vector<std::optional<Result<CompiledSet>>> results(4);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results)
      threads.emplace_back([&] { result = build(pointwise_source(kCopy), *cache, DType::BF16); });
  }
  int compiled = 0;
  for (const auto& result : results) {
    ASSERT_TRUE(*result) << result->error().message;
    compiled += !(*result)->files[0].cached;
  }
  EXPECT_EQ(compiled, 1);
}

TEST(CompileTest, ADamagedFileIsMadeAgain) {
  const FreshCache cache;
  const auto first = build(pointwise_source(kCopy), *cache);
  ASSERT_TRUE(first);
  const std::string library = first->files[0].library, whole = *read_file(library);
  for (const std::string& damage : {whole.substr(0, whole.size() / 2), std::string()}) {
    std::ofstream(library, std::ios::binary) << damage;
    const auto again = build(pointwise_source(kCopy), *cache);
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->files[0].cached);
    EXPECT_EQ(read_file(library)->size(), whole.size());
  }
}

TEST(CompileTest, WhatFailsLeavesNothingBehind) {
  const FreshCache cache;
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(build(pointwise_source("nonsense"), *cache));
  for (const auto& entry : std::filesystem::recursive_directory_iterator((*cache).folder()))
    EXPECT_TRUE(entry.is_directory() || entry.path().extension() == ".lock") << entry.path();
}

TEST(CompileTest, ACompileErrorHasTheCompilersWordsAndTheKernelsLine) {
  const auto set = build(pointwise_source("y[0] = undeclared_name;"), shared_cache());
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().kind, ErrorKind::GateFailed);
  EXPECT_NE(set.error().message.find("act.cpp does not compile"), std::string::npos);
  EXPECT_NE(set.error().message.find("act.cpp:9:"), std::string::npos) << set.error().message;
  EXPECT_NE(set.error().message.find("undeclared_name"), std::string::npos);
}

TEST(CompileTest, AKernelWithOtherParametersThanItsManifestDoesNotCompile) {
  const std::string head = "#include <cstdint>\n#include \"kw/element.h\"\nusing T = KW_T;\n";
  for (const char* signature :
       {"extern \"C\" void act(const T* x, T* y) {}", "extern \"C\" void act(const T* x, T* y, int n) {}",
        "extern \"C\" void act(T* x, T* y, std::int64_t n) {}",
        "extern \"C\" int act(const T* x, T* y, std::int64_t n) { return 0; }",
        "extern \"C\" void act(const double* x, T* y, std::int64_t n) {}",
        "extern \"C\" void other(const T* x, T* y, std::int64_t n) {}"}) {
    const auto set = build(head + signature, shared_cache());
    ASSERT_FALSE(set) << signature;
    EXPECT_EQ(set.error().kind, ErrorKind::GateFailed) << signature;
  }
  EXPECT_TRUE(build(head + "extern \"C\" void act(const T* x, T* y, std::int64_t n) noexcept {}", shared_cache()));
}

TEST(CompileTest, WhatTheManifestDoesNotAllowIsRefused) {
  const auto message = [](const Result<CompiledSet>& set) { return set ? std::string() : set.error().message; };
  const kernel::Manifest manifest = pointwise_manifest();
  EXPECT_EQ(message(compile(manifest, {}, {{"T", DType::F32}}, test_compiler(), shared_cache())),
            "the manifest names act.cpp, which is not there");
  EXPECT_EQ(message(compile(manifest, {{"act.cpp", ""}}, {}, test_compiler(), shared_cache())),
            "the type parameter T has no dtype");
  EXPECT_EQ(message(compile(manifest, {{"act.cpp", ""}}, {{"T", DType::I64}}, test_compiler(), shared_cache())),
            "T may not be i64");
  EXPECT_EQ(message(compile(manifest, {{"act.cpp", ""}, {"../x.h", ""}}, {{"T", DType::F32}}, test_compiler(),
                            shared_cache())),
            "'../x.h' is no name for a kernel's file");
  EXPECT_EQ(message(compile(manifest, {{"act.cpp", ""}, {"kw/element.h", ""}}, {{"T", DType::F32}}, test_compiler(),
                            shared_cache())),
            "'kw/element.h' is no name for a kernel's file");
}

TEST(CompileTest, ACompilerThatTakesTooLongIsEnded) {
  CompileOptions options;
  options.patience = std::chrono::seconds(1);
  const std::string slow =
      "template <int N> struct F { static constexpr long v = F<N - 1>::v + F<N - 2>::v; };\n"
      "constexpr int spin() { int s = 0; for (int i = 0; i < 200000000; ++i) s ^= i; return s; }\n"
      "constexpr int kSpun = spin();\n";
  options.flags.push_back("-fconstexpr-ops-limit=2000000000000");
  options.flags.push_back("-fconstexpr-loop-limit=2000000000");
  const auto set = build(slow + pointwise_source(kCopy), shared_cache(), DType::F32, test_compiler(), options);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().message, "act.cpp does not compile within 1 s");
}

TEST(CompilerTest, WhatIsNotThereIsSaidWithWhatInstallsIt) {
  const auto missing = find_compiler("no-such-compiler");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::MissingTool);
  EXPECT_EQ(missing.error().hint, "apt-get install g++");
  EXPECT_FALSE(find_compiler()->version.empty());
}

TEST(ShimTest, IsReadable) {
  kernel::Manifest manifest = pointwise_manifest();
  manifest.scalars = {{"eps", "real", ""}, {"flag", "bool", ""}};
  auto& arguments = manifest.passes[0].steps[0].entries[0].arguments;
  arguments.push_back({kernel::Argument::Kind::Scalar, "eps", 0, "T|f32"});
  arguments.push_back({kernel::Argument::Kind::Scalar, "flag", 0, "bool"});
  EXPECT_EQ(*shim_source(manifest, "act.cpp", {{"T", DType::BF16}}), R"(// How the manifest of act calls act.cpp.
#include "kw/element.h"

#define KW_T kw::bf16
#include "act.cpp"

union KwSlot {
  void* pointer;
  std::int64_t whole;
  double real;
};

// The parameters of act as the manifest gives them: an error here says that the kernel has others.
static constexpr void (*kw_act)(const kw::bf16*, kw::bf16*, std::int64_t, float, bool) = &::act;
extern "C" __attribute__((visibility("default"))) void kw_call_act([[maybe_unused]] const KwSlot* a) noexcept {
  kw_act(static_cast<const kw::bf16*>(a[0].pointer), static_cast<kw::bf16*>(a[1].pointer), static_cast<std::int64_t>(a[2].whole), static_cast<float>(a[3].real), static_cast<bool>(a[4].whole));
}
)");
}

}  // namespace
}  // namespace kw::device::cpu
