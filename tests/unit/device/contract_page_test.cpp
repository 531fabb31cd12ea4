// The examples of docs/contract.md are what the page says they are: they compile, and compute.
#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "base/text.h"
#include "device/cuda/compile.h"
#include "device/device.h"
#include "device/emulate/device.h"
#include "kernel_case.h"

namespace kw::device {
namespace {

using kernel::DType;

// The block of the page that opens with ```KIND.
std::string example(const std::string& kind) {
  const auto page = read_text(KW_SOURCE_DIR "/docs/contract.md");
  EXPECT_TRUE(page) << page.error().message;
  const std::string open = "```" + kind + "\n";
  const std::size_t begin = page->find(open);
  EXPECT_NE(begin, std::string::npos) << kind;
  if (begin == std::string::npos) return {};
  return page->substr(begin + open.size(), page->find("```", begin + 3) - begin - open.size());
}

TEST(ContractPageTest, TheExampleForCpuComputesWhatItSays) {
  const auto manifest = kernel::manifest_from_json(example("json"), "contract.md");
  ASSERT_TRUE(manifest) << render(manifest.error());
  DeviceOptions options;
  options.cache_folder = shared_cache().folder();
  auto device = open_device(kernel::Target::Cpu, options);
  ASSERT_TRUE(device);
  for (const DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    const auto kernels = (*device)->compile(*manifest, {{"scaled_silu.cpp", example("cpp")}}, {{"T", dtype}});
    ASSERT_TRUE(kernels) << render(kernels.error());
    Arena arena;
    ASSERT_TRUE(arena.add("x", {dtype, {3}, {1}, 0}, Arena::Access::Read));
    ASSERT_TRUE(arena.add("y", {dtype, {3}, {1}, 0}, Arena::Access::Write));
    ASSERT_TRUE(arena.allocate());
    put_floats(arena.bytes("x"), dtype, {-1, 0, 2});
    kernel::Facts facts;
    facts.sizes = {{"n", 3}};
    facts.scalars = {{"scale", 2.0}};
    facts.tensors = arena.tensors();
    const auto program = (*device)->prepare(manifest->passes[0], *kernels, facts);
    ASSERT_TRUE(program) << program.error().message;
    const auto outcome = (*device)->run({*program}, arena);
    ASSERT_TRUE(outcome);
    ASSERT_FALSE(outcome->fault) << outcome->fault->message;
    const std::vector<float> y = floats(arena.bytes("y"), dtype);
    for (const auto& [got, x] : {std::pair(y[0], -1.0), std::pair(y[1], 0.0), std::pair(y[2], 2.0)})
      EXPECT_NEAR(got, 2 * x / (1 + std::exp(-x)), 0.01);
  }
}

TEST(ContractPageTest, TheExampleForCudaCompilesByTheManifestThatItDescribes) {
  std::string text = example("json");
  text = replace_all(text, "\"target\": \"cpu\"", "\"target\": \"cuda\"");
  text = replace_all(text, "scaled_silu.cpp", "scaled_silu.cu");
  text =
      replace_all(text, "\"guards\": [\"dense(x)\"]", "\"guards\": [\"dense(x)\"], \"launch\": " + example("launch"));
  const auto manifest = kernel::manifest_from_json(text, "contract.md");
  ASSERT_TRUE(manifest) << render(manifest.error());
  EXPECT_EQ(manifest->passes[0].steps[0].entries[0].launch.grid[0], "ceil_div(n, 256)");
  auto nvrtc = cuda::Nvrtc::open();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
    const auto kernels = cuda::compile(*manifest, {{"scaled_silu.cu", example("cuda")}}, {{"T", DType::BF16}},
                                       architecture, **nvrtc, shared_cache());
    ASSERT_TRUE(kernels) << render(kernels.error());
    EXPECT_FALSE(kernels->files[0].reports.at(0).spills());
  }
  const auto emulated = emulate::open({});
  ASSERT_TRUE(emulated) << emulated.error().message;
  const auto kernels = (*emulated)->compile(*manifest, {{"scaled_silu.cu", example("cuda")}}, {{"T", DType::BF16}}, "");
  EXPECT_TRUE(kernels) << render(kernels.error());
  const auto plain = (*emulated)->compile(
      *manifest, {{"scaled_silu.cu", "extern \"C\" __global__ void scaled_silu() {}\n"}}, {{"T", DType::BF16}}, "");
  ASSERT_FALSE(plain);
  EXPECT_NE(plain.error().message.find("There is no GPU here"), std::string::npos) << plain.error().message;
}

}  // namespace
}  // namespace kw::device
