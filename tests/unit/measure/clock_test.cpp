// When timing stops, on a device whose clock says what the test wants.
#include "measure/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>

namespace kw::measure {
namespace {

using std::chrono::milliseconds;

// Sample after sample of one program, in seconds.
using Script = std::function<double(int sample)>;

class ScriptedDevice final : public device::Device {
 public:
  explicit ScriptedDevice(std::vector<Script> scripts) : scripts_(std::move(scripts)), taken_(scripts_.size()) {}
  kernel::Target target() const override { return kernel::Target::Cpu; }
  std::string name() const override { return "scripted"; }
  kernel::Machine machine() const override { return {1, 1}; }
  std::uint64_t cache_bytes() const override { return 1; }
  Status can_run() const override { return {}; }
  std::vector<std::string> architectures() const override { return {"none"}; }
  Result<device::CompiledSet> compile(const kernel::Manifest&, const device::Sources&, const kernel::TypeBinding&,
                                      const std::string&) override {
    return device::CompiledSet{};
  }
  Result<device::RunOutcome> run(const std::vector<device::Program>& programs, device::Arena&,
                                 const device::RunOptions& options) override {
    EXPECT_EQ(programs.size(), scripts_.size());
    runs.push_back(options.timing.value());
    std::this_thread::sleep_for(each_takes);
    device::RunOutcome outcome;
    if (wall) outcome.wall_seconds = wall(options.timing->calls_per_sample) + (running_ ? 0 : start);
    outcome.fault = fault;
    running_ = !options.from_outside;
    for (size_t p = 0; p < scripts_.size(); ++p) {
      std::vector<double>& seconds = outcome.seconds.emplace_back();
      for (int i = 0; i < std::min(gives, options.timing->samples); ++i) seconds.push_back(scripts_[p](taken_[p]++));
    }
    return outcome;
  }
  // Of as many programs as there are scripts.
  Result<std::vector<Timed>> timed(const StopRule& rule, const device::Timing& how = {}, bool from_outside = false) {
    device::Arena arena;
    return time(*this, std::vector<device::Program>(scripts_.size()), arena, how, rule, from_outside);
  }

  std::vector<device::Timing> runs;  // as they were asked for
  std::optional<device::Fault> fault;
  std::function<double(int calls)> wall;  // of a run, by the engine's clock
  double start = 0;                       // of a process: one that ran code from outside ends
  milliseconds each_takes{0};
  int gives = 1000;  // samples in a run, at most

 private:
  std::vector<Script> scripts_;
  std::vector<int> taken_;  // samples
  bool running_ = false;    // a process
};

double steady(int) { return 1e-3; }
double restless(int sample) { return sample % 2 ? 2e-3 : 1e-3; }  // its interval is as wide as its median

constexpr StopRule kLong{.width = 0.02, .fewest = 10, .most = 50, .budget = milliseconds(60'000)};

TEST(ClockTest, StopsAtTheFewestSamplesWhereEveryIntervalIsNarrow) {
  ScriptedDevice device({steady, steady, steady});
  const auto timed = device.timed(kLong);
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(device.runs.size(), 1u);
  ASSERT_EQ(timed->size(), 3u);
  for (const Timed& one : *timed) {
    EXPECT_EQ(one.time.samples, 10);
    EXPECT_EQ(one.seconds, std::vector<double>(10, 1e-3));
    EXPECT_EQ(one.time.median, 1e-3);
  }
}

// Of twenty samples the interval is from the sixth to the fifteenth: five slow ones are beyond it.
TEST(ClockTest, GoesOnWithAllProgramsWhileTheIntervalOfOneIsWide) {
  ScriptedDevice device({steady, [](int sample) { return sample < 10 ? restless(sample) : 1e-3; }});
  const auto timed = device.timed(kLong);
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(device.runs.size(), 2u);
  for (const Timed& one : *timed) {
    EXPECT_EQ(one.time.samples, 20);
    EXPECT_EQ(one.time.width(), 0);
  }
}

TEST(ClockTest, NarrowIsWhatTheRuleSays) {
  const auto samples = [](double slower) {
    ScriptedDevice device({[=](int sample) { return sample % 2 ? 1e-3 * slower : 1e-3; }});
    const auto timed = device.timed(kLong);
    return timed ? timed->at(0).time.samples : -1;
  };
  EXPECT_EQ(samples(1.019), kLong.fewest);
  EXPECT_EQ(samples(1.022), kLong.most);
}

TEST(ClockTest, StopsAtTheMostSamplesHoweverWideAnIntervalIs) {
  ScriptedDevice device({restless, steady});
  const auto timed = device.timed(kLong);
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(device.runs.size(), 5u);
  for (const Timed& one : *timed) EXPECT_EQ(one.time.samples, kLong.most);
  EXPECT_GT(timed->at(0).time.width(), kLong.width);
}

TEST(ClockTest, StopsWhenTheBudgetIsSpentAndGrantsNoRunMoreThanIsLeft) {
  using Clock = std::chrono::steady_clock;
  StopRule rule = kLong;
  rule.most = 1'000'000;
  rule.budget = milliseconds(60);
  ScriptedDevice device({restless});
  device.each_takes = milliseconds(25);
  const Clock::time_point start = Clock::now();
  const auto timed = device.timed(rule);
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_GE(Clock::now() - start, rule.budget);
  EXPECT_LE(device.runs.size(), 3u);
  for (size_t run = 0; run < device.runs.size(); ++run) {
    EXPECT_LE(device.runs[run].budget, rule.budget - run * device.each_takes);
    EXPECT_GE(device.runs[run].budget, milliseconds(1)) << "0 would be no limit";
  }
  EXPECT_EQ(timed->at(0).time.samples, 10 * static_cast<int>(device.runs.size()));
}

TEST(ClockTest, TooFewSamplesAreNotEnoughHoweverNarrow) {
  ScriptedDevice device({steady});
  device.gives = 4;
  const auto timed = device.timed(kLong);
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(timed->at(0).time.samples, 12);
}

TEST(ClockTest, ARunWithoutSamplesIsTheLast) {
  ScriptedDevice device({restless});
  device.gives = 0;
  const auto timed = device.timed(kLong);
  ASSERT_TRUE(timed) << timed.error().message;
  EXPECT_EQ(device.runs.size(), 1u);
  EXPECT_EQ(timed->at(0).time.samples, 0);
}

TEST(ClockTest, EveryRunEvictsAndOnlyTheFirstWarmsUpAtLength) {
  ScriptedDevice device({restless});
  device::Timing how;
  how.warm_up = 7;
  how.before = device::Program{{device::FillCall{"plain_in"}}};
  ASSERT_TRUE(device.timed(kLong, how));
  ASSERT_EQ(device.runs.size(), 5u);
  for (size_t run = 0; run < device.runs.size(); ++run) {
    ASSERT_TRUE(device.runs[run].before) << run;
    EXPECT_EQ(device.runs[run].before->calls.size(), 1u);
    EXPECT_EQ(device.runs[run].samples, kLong.fewest);
    EXPECT_EQ(device.runs[run].warm_up, run == 0 ? 7 : 1);
    EXPECT_EQ(device.runs[run].resident, run > 0);
  }
}

TEST(ClockTest, HowManySamplesCodeFromOutsideGivesInARoundIsDrawn) {
  const auto asked = [](std::uint64_t seed) {
    ScriptedDevice device({restless});
    StopRule rule = kLong;
    rule.seed = seed;
    EXPECT_TRUE(device.timed(rule, {}, true));
    std::vector<int> samples;
    for (const device::Timing& run : device.runs) samples.push_back(run.samples);
    EXPECT_GE(*std::min_element(samples.begin(), samples.end()), kLong.fewest);
    return samples;
  };
  EXPECT_EQ(asked(1), asked(1));
  EXPECT_NE(asked(1), asked(2));
}

// ---- a clock that code from outside may reach ----
Result<Estimate> said_and_confirmed(ScriptedDevice& device, double said) {
  device::Arena arena;
  return confirmed(device, {}, {}, arena, {said, said, said, 10});
}

TEST(ConfirmedTest, OneClockThatSaysHalfOfWhatTheOtherSaysIsBelieved) {
  ScriptedDevice device({steady});
  device.start = 3;  // however long a process takes to
  device.wall = [](int calls) { return 1.9e-3 * calls; };
  const auto time = said_and_confirmed(device, 1e-3);
  ASSERT_TRUE(time) << time.error().message;
  EXPECT_EQ(time->median, 1e-3);
  ASSERT_EQ(device.runs.size(), 2u) << "one call and many";
  EXPECT_EQ(device.runs[0].calls_per_sample, 1);
  EXPECT_GE(device.runs[1].calls_per_sample, 250) << "a quarter of a second";
  EXPECT_LE(device.runs[1].calls_per_sample, 500);
}

TEST(ConfirmedTest, SamplesThatSayATenthAreNot) {
  ScriptedDevice device({steady});
  device.start = 3;
  device.wall = [](int calls) { return 1e-2 * calls; };
  const auto time = said_and_confirmed(device, 1e-3);
  ASSERT_FALSE(time);
  EXPECT_EQ(time.error().kind, ErrorKind::GateFailed);
  EXPECT_EQ(
      time.error().message,
      "calls took 10 ms each or more by the engine's clock and 1 ms at most by that of the process that they ran in");
}

TEST(ConfirmedTest, AMachineThatIsBusyForAWhileIsAskedAgain) {
  ScriptedDevice device({steady});
  device.wall = [&](int calls) { return (device.runs.size() <= 2 ? 1e-2 : 1e-3) * calls; };
  const auto time = said_and_confirmed(device, 1e-3);
  ASSERT_TRUE(time) << time.error().message;
  EXPECT_EQ(time->median, 1e-3);
  EXPECT_EQ(device.runs.size(), 4u);
}

// A clock may lie in some processes and not in others, too: what is confirmed is what is reported.
TEST(ConfirmedTest, WhereAMachineHasBecomeBusyTheTimeIsWhatBothClocksSayNow) {
  ScriptedDevice device({[](int) { return 1e-2; }});
  device.wall = [](int calls) { return 1e-2 * calls; };
  const auto time = said_and_confirmed(device, 1e-3);  // as it was when it was idle
  ASSERT_TRUE(time) << time.error().message;
  EXPECT_NEAR(time->median, 1e-2, 1e-9);
}

// The median of samples leaves out those in which something else had the cores; what many calls took does not.
TEST(ConfirmedTest, WhereEveryCallTakesLongerThanItsSamplesSaidTheEnginesTimeIsReported) {
  ScriptedDevice device({[](int) { return 0.122e-3; }});
  device.wall = [](int calls) { return 0.122e-3 * calls; };
  const auto time = said_and_confirmed(device, 0.0352e-3);
  ASSERT_TRUE(time) << time.error().message;
  EXPECT_NEAR(time->median, 0.122e-3, 1e-9);
  EXPECT_EQ(time->low, 0.0352e-3);
}

TEST(ConfirmedTest, CallsThatAreTooManyForTheTimeThereIsAreTriedWithFewer) {
  ScriptedDevice device({steady});
  device.wall = [&](int calls) {
    device.fault.reset();
    if (calls > 100) device.fault = device::Fault{device::Fault::Kind::OutOfTime, "f", "f did not end within 10 s"};
    return 1e-3 * calls;
  };
  EXPECT_TRUE(said_and_confirmed(device, 1e-3));
  EXPECT_LE(device.runs.back().calls_per_sample, 100);
  device.wall = [&](int) {
    device.fault = device::Fault{device::Fault::Kind::OutOfTime, "f", "f did not end within 10 s"};
    return 10.0;
  };
  const auto never = said_and_confirmed(device, 1e-3);
  ASSERT_FALSE(never);
  EXPECT_NE(never.error().message.find("f did not end within 10 s"), std::string::npos);
}

TEST(ConfirmedTest, AClockThatIsFasterThanTheEnginesIsNotBelieved) {
  ScriptedDevice device({[](int) { return 1e-2; }});
  device.wall = [](int calls) { return 1e-3 * calls; };
  EXPECT_FALSE(said_and_confirmed(device, 1e-3));
}

TEST(ConfirmedTest, ShortCallsAreAsManyAsTakeLongEnough) {
  ScriptedDevice device({[](int) { return 4e-6; }});
  device.wall = [](int calls) { return 1e-4 * calls; };
  EXPECT_FALSE(said_and_confirmed(device, 4e-6));
  EXPECT_GE(device.runs[1].calls_per_sample, 50'000);
}

TEST(ConfirmedTest, ARunOfOneCallThatDawdlesHidesNothing) {
  ScriptedDevice device({steady});
  device.wall = [&](int calls) { return device.runs.size() % 4 == 3 ? 10 : 1e-2 * calls; };
  EXPECT_FALSE(said_and_confirmed(device, 1e-3));
  device.wall = [](int calls) { return calls == 1 ? 10 : 1e-2 * calls; };
  EXPECT_FALSE(said_and_confirmed(device, 1e-3)) << "less than no time";
}

TEST(ConfirmedTest, WhatRunsAheadOfEveryCallDoesNotCount) {
  ScriptedDevice device({[](int) { return 5e-3; }});  // with what runs ahead
  device.start = 3;
  device.wall = [&](int calls) {
    return (device.runs.size() % 4 == 1 || device.runs.size() % 4 == 2 ? 4e-3 : 5e-3) * calls;
  };
  device::Arena arena;
  const auto time = confirmed(device, {}, {device::FillCall{"y", 0, 1, 4, 0}}, arena, {1e-3, 1e-3, 1e-3, 10});
  ASSERT_TRUE(time) << time.error().message;
  EXPECT_EQ(device.runs.size(), 4u) << "without the program and with it, one call and many";
}

TEST(ConfirmedTest, HowManyCallsThereAreIsDrawn) {
  const auto calls = [](std::uint64_t seed) {
    ScriptedDevice device({steady});
    device.wall = [](int n) { return 1e-3 * n; };
    device::Arena arena;
    EXPECT_TRUE(confirmed(device, {}, {}, arena, {1e-3, 1e-3, 1e-3, 10}, seed));
    return device.runs.at(1).calls_per_sample;
  };
  EXPECT_EQ(calls(1), calls(1));
  EXPECT_NE(calls(1), calls(2));
}

TEST(ConfirmedTest, AFaultIsSaidInItsOwnWords) {
  ScriptedDevice device({steady});
  device.fault = device::Fault{device::Fault::Kind::Crashed, "f", "f crashed"};
  const auto time = said_and_confirmed(device, 1e-3);
  ASSERT_FALSE(time);
  EXPECT_EQ(time.error().message, "f crashed");
}

TEST(ClockTest, AFaultEndsItInItsOwnWords) {
  ScriptedDevice device({steady});
  device.fault = device::Fault{device::Fault::Kind::Crashed, "f", "f crashed"};
  const auto timed = device.timed(kLong);
  ASSERT_FALSE(timed);
  EXPECT_EQ(timed.error().kind, ErrorKind::GateFailed);
  EXPECT_EQ(timed.error().message, "f crashed");
}

}  // namespace
}  // namespace kw::measure
