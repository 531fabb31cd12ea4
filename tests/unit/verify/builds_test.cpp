// Mixtures of types are compiled beside the judge: what is foreseen is compiled before it is called, and once.
#include "verify/builds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace kw::verify {
namespace {

using kernel::TypeBinding;

// Counts what it is asked to compile, and compiles nothing.
class Counted final : public device::LateCompiler {
 public:
  Result<device::CompiledFile> compile(const kernel::Entry& entry) override {
    const std::lock_guard lock(mutex_);
    ++asked[entry.symbol];
    if (entry.symbol == "broken") return fail(ErrorKind::GateFailed, "broken does not compile");
    return device::CompiledFile{entry.file, {}, {}, {}, {}, false, 0, {}, entry.symbol};
  }
  double seconds() const override { return 0.5; }
  std::size_t kinds() {
    const std::lock_guard lock(mutex_);
    return asked.size();
  }
  std::map<std::string, int> asked;

 private:
  std::mutex mutex_;
};

class CountingDevice final : public device::Device {
 public:
  kernel::Target target() const override { return kernel::Target::Cuda; }
  std::string name() const override { return "counting"; }
  kernel::Machine machine() const override { return {1, 1}; }
  std::uint64_t cache_bytes() const override { return 1; }
  Status can_run() const override { return {}; }
  std::vector<std::string> architectures() const override { return {"none"}; }
  Result<device::CompiledSet> compile(const kernel::Manifest&, const device::Sources&, const TypeBinding& types,
                                      const std::string&) override {
    return device::CompiledSet{types, {}, device::CallStyle::Launch, "none"};
  }
  Result<device::CompiledSet> compile_when_called(const kernel::Manifest&, const device::Sources&,
                                                  const TypeBinding& types) override {
    const std::lock_guard lock(mutex_);
    auto& counted = sets[types.at("T")];
    counted = std::make_shared<Counted>();
    return device::CompiledSet{types, {}, device::CallStyle::Launch, "none", counted};
  }
  Result<device::RunOutcome> run(const std::vector<device::Program>&, device::Arena&,
                                 const device::RunOptions&) override {
    return fail(ErrorKind::Internal, "nothing runs here");
  }
  std::map<ir::DType, std::shared_ptr<Counted>> sets;

 private:
  std::mutex mutex_;
};

kernel::Manifest three_kernels() {
  kernel::Manifest manifest;
  kernel::Step step;
  for (const char* symbol : {"fast", "broken", "large"}) step.entries.push_back({symbol, "act.cu", {}, {}, {}});
  manifest.passes = {{"forward", {}, {step}}};
  return manifest;
}

std::vector<TypeBinding> mixtures() { return {{{"T", ir::DType::BF16}}, {{"T", ir::DType::F32}}}; }

TEST(BuildsTest, NothingIsCompiledThatWasNeitherCalledNorForeseen) {
  CountingDevice device;
  const kernel::Manifest manifest = three_kernels();
  {
    Builds builds(device, manifest, {}, mixtures());
    for (const TypeBinding& types : mixtures()) EXPECT_TRUE(builds.of(types));
    EXPECT_EQ(builds.seconds(), 1.0);
  }
  for (const auto& [type, set] : device.sets) EXPECT_TRUE(set->asked.empty());
}

TEST(BuildsTest, WhatOneMixtureCalledIsCompiledForAllOfThem) {
  CountingDevice device;
  const kernel::Manifest manifest = three_kernels();
  {
    Builds builds(device, manifest, {}, mixtures());
    for (const TypeBinding& types : mixtures()) ASSERT_TRUE(builds.of(types));
    builds.foresee({"fast", "broken"});
    builds.foresee({"large"});  // once is enough
    const auto enough = [&] {
      return std::all_of(device.sets.begin(), device.sets.end(),
                         [](const auto& set) { return set.second->kinds() == 2; });
    };
    for (int i = 0; i < 2000 && !enough(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_EQ(device.sets.size(), 2u);
  for (const auto& [type, set] : device.sets)
    EXPECT_EQ(set->asked, (std::map<std::string, int>{{"fast", 1}, {"broken", 1}}));
}

TEST(BuildsTest, WhatIsDroppedKeepsNobodyWaiting) {
  CountingDevice device;
  const kernel::Manifest manifest = three_kernels();
  for (int i = 0; i < 50; ++i) {
    Builds builds(device, manifest, {}, mixtures());
    ASSERT_TRUE(builds.of(mixtures()[0]));
    builds.foresee({"fast"});
  }
}

}  // namespace
}  // namespace kw::verify
