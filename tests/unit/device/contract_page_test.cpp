// The examples of docs/contract.md are what the page says they are.
#include <gtest/gtest.h>

#include "base/file.h"
#include "device/cuda/compile.h"
#include "kernel_case.h"

namespace kw::device {
namespace {

// The text between `open` and `close`, the first of them.
std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t begin = text.find(open);
  EXPECT_NE(begin, std::string::npos) << open;
  if (begin == std::string::npos) return {};
  return text.substr(begin + open.size(), text.find(close, begin + open.size()) - begin - open.size());
}

std::string page() {
  const auto text = read_text(KW_SOURCE_DIR "/docs/contract.md");
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or("");
}

TEST(ContractPageTest, TheManifestIsOne) {
  const auto manifest = kernel::manifest_from_json(between(page(), "```json\n", "```"), "contract.md");
  EXPECT_TRUE(manifest) << render(manifest.error());
}

TEST(ContractPageTest, TheExampleForCudaCompilesByItsManifest) {
  const std::string source = between(page(), "```cuda\n", "```");
  const auto manifest = kernel::manifest_from_json(between(source, "/* kw manifest\n", "*/"), "contract.md");
  ASSERT_TRUE(manifest) << render(manifest.error());
  auto nvrtc = cuda::Nvrtc::open();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
    const auto kernels = cuda::compile(*manifest, {{"doubled.cu", source}}, {{"T", kernel::DType::BF16}}, architecture,
                                       **nvrtc, shared_cache());
    ASSERT_TRUE(kernels) << render(kernels.error());
    EXPECT_FALSE(kernels->files[0].reports.at(0).spills());
  }
}

}  // namespace
}  // namespace kw::device
