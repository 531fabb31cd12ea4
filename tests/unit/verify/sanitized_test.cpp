// A device whose sanitizer says what the test wants; tests/gpu/ has the real one.
#include "verify/sanitized.h"

#include <gtest/gtest.h>

#include "verify/trial.h"

namespace kw::verify {
namespace {

class Complaining final : public device::Device {
 public:
  explicit Complaining(Result<std::optional<std::string>> says) : says_(std::move(says)) {}
  kernel::Target target() const override { return kernel::Target::Cuda; }
  std::string name() const override { return "a device"; }
  kernel::Machine machine() const override { return {1, 1}; }
  std::uint64_t cache_bytes() const override { return 1; }
  Status can_run() const override { return {}; }
  std::vector<std::string> architectures() const override { return {"sm_90"}; }
  Result<device::CompiledSet> compile(const kernel::Manifest&, const device::Sources&, const kernel::TypeBinding&,
                                      const std::string&) override {
    return device::CompiledSet{};
  }
  Result<device::RunOutcome> run(const std::vector<device::Program>&, device::Arena&,
                                 const device::RunOptions&) override {
    ADD_FAILURE() << "it was run without the sanitizer";
    return device::RunOutcome{};
  }
  Result<std::optional<std::string>> sanitize(const std::vector<device::Program>&, device::Arena&, Check) override {
    return says_;
  }

 private:
  Result<std::optional<std::string>> says_;
};

Result<device::RunOutcome> run(Result<std::optional<std::string>> says) {
  SanitizedDevice device(std::make_unique<Complaining>(std::move(says)), device::Device::Check::Races);
  device::Arena arena;
  return device.run({}, arena, {});
}

TEST(SanitizedTest, AComplaintIsAFaultForTheGateSanitized) {
  const auto outcome = run(std::optional<std::string>("Race reported between Write access"));
  ASSERT_TRUE(outcome && outcome->fault);
  const Finding finding = finding_of(*outcome->fault, "forward");
  EXPECT_EQ(finding.gate, Gate::Sanitized);
  EXPECT_EQ(finding.message, "forward: Race reported between Write access");
}

TEST(SanitizedTest, NoComplaintIsNoFault) {
  const auto outcome = run(std::optional<std::string>());
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->fault);
}

TEST(SanitizedTest, ASanitizerThatDoesNotWorkIsTheMachinesFault) {
  const auto outcome = run(missing_tool("compute-sanitizer is not there", "install the CUDA toolkit"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::MissingTool);
}

using Reached = std::vector<std::set<std::string>>;

TEST(SanitizedTest, FewCallsReachEveryKernel) {
  EXPECT_EQ(calls_that_reach_all({}, 3), std::vector<std::size_t>());
  const Reached reached = {{"a"}, {"a", "b"}, {"b", "c"}, {"c"}, {"d"}};
  EXPECT_EQ(calls_that_reach_all(reached, 9), (std::vector<std::size_t>{1, 2, 4}));
  EXPECT_EQ(calls_that_reach_all(reached, 2), (std::vector<std::size_t>{1, 2}));
}

TEST(SanitizedTest, OfTheCallsThatReachAKernelTheSmallestIsChosenAndNoEmptyOne) {
  const std::vector<std::set<std::string>> reached = {{"long"}, {"short"}, {"short", "tail"}, {"short"}, {"long"}};
  EXPECT_EQ(smallest_calls_that_reach_all(reached, {900, 40, 50, 0, 800}), (std::vector<std::size_t>{1, 2, 4}));
  EXPECT_TRUE(smallest_calls_that_reach_all({{"short"}}, {0}).empty());
}

}  // namespace
}  // namespace kw::verify
