// Every CUDA kernel that is generated for an example compiles for every architecture, and spills on none.
#include <gtest/gtest.h>

#include <future>

#include "act/act.h"
#include "device/cuda/compile.h"
#include "example_profiles.h"

namespace kw::test {
namespace {

using ir::DType;

device::cuda::Nvrtc& nvrtc() {
  static const std::unique_ptr<device::cuda::Nvrtc> kNvrtc = [] {
    auto found = device::cuda::Nvrtc::open();
    KW_ASSERT(found, "the tests need NVRTC: tools/make_venv.sh installs it");
    return *std::move(found);
  }();
  return *kNvrtc;
}

// The type that users have; in the slow tests all others, and mixtures of two.
std::vector<kernel::TypeBinding> type_choices(const kernel::Manifest& manifest) {
  std::vector<DType> types = {DType::BF16};
  if (slow_tests()) types.insert(types.end(), {DType::F32, DType::F16, DType::F64});
  std::vector<kernel::TypeBinding> choices;
  for (const DType type : types)
    for (const DType other : types) {
      if (type != other && manifest.types.size() < 2) continue;
      kernel::TypeBinding& binding = choices.emplace_back();
      for (const auto& [name, dtypes] : manifest.types) binding[name] = binding.empty() ? type : other;
    }
  return choices;
}

struct Built {
  std::string what;  // "sm_90, T = bf16"
  Result<device::CompiledSet> kernels;
};

// All architectures at once.
std::vector<Built> build(const std::string& example) {
  const auto generated = act::act(example_profile(example), {}, kernel::Target::Cuda);
  EXPECT_TRUE(generated) << render(generated.error());
  if (!generated) return {};
  const device::Cache cache(std::string(KW_BINARY_DIR) + "/kernel_cache");
  std::vector<std::future<std::vector<Built>>> architectures;
  for (const std::string architecture : {"sm_80", "sm_90", "sm_100"})
    architectures.push_back(std::async(std::launch::async, [&, architecture] {
      std::vector<Built> all;
      for (const kernel::TypeBinding& types : type_choices(generated->manifest))
        all.push_back(
            {architecture + ", " + kernel::text(types),
             device::cuda::compile(generated->manifest, generated->files, types, architecture, nvrtc(), cache)});
      return all;
    }));
  std::vector<Built> all;
  for (auto& architecture : architectures)
    for (Built& one : architecture.get()) all.push_back(std::move(one));
  return all;
}

class CudaExamples : public ::testing::TestWithParam<std::string> {};

TEST_P(CudaExamples, CompileForEveryArchitecture) {
  const std::vector<Built> all = build(GetParam());
  EXPECT_FALSE(all.empty());
  for (const Built& one : all) {
    ASSERT_TRUE(one.kernels) << one.what << ": " << render(one.kernels.error());
    for (const device::CompiledFile& file : one.kernels->files) {
      ASSERT_EQ(file.reports.size(), 1u) << file.file << ": each kernel has a cubin of its own";
      EXPECT_EQ(file.reports[0].architecture, one.what.substr(0, one.what.find(',')));
    }
  }
}

TEST_P(CudaExamples, KeepAllThatAThreadHoldsInRegistersOnEveryArchitecture) {
  for (const Built& one : build(GetParam())) {
    ASSERT_TRUE(one.kernels) << one.what << ": " << render(one.kernels.error());
    for (const device::CompiledFile& file : one.kernels->files)
      for (const device::KernelReport& report : file.reports)
        EXPECT_FALSE(report.spills()) << report.symbol << " for " << one.what << ": " << report.registers
                                      << " registers, " << report.spill_store_bytes << " bytes stored and "
                                      << report.spill_load_bytes << " loaded";
  }
}

INSTANTIATE_TEST_SUITE_P(All, CudaExamples, ::testing::ValuesIn(generated_examples()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kw::test
