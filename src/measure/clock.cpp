#include "measure/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/hash.h"

namespace kw::measure {

Result<std::vector<Timed>> time(device::Device& device, const std::vector<device::Program>& programs,
                                device::Arena& arena, const device::Timing& how, const StopRule& rule,
                                bool from_outside) {
  using Clock = std::chrono::steady_clock;
  std::vector<Timed> timed(programs.size());
  const Clock::time_point start = Clock::now();
  device::RunOptions options;
  options.timing = how;
  options.from_outside = from_outside;
  for (std::uint64_t round = 0;; ++round) {
    // Code that knows which sample is the last could do its work in that one alone.
    const std::uint64_t more = from_outside ? Hash64().add(rule.seed).add(round).value() % 8 : 0;
    options.timing->samples = rule.fewest + static_cast<int>(more);
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    options.timing->budget = std::max(std::chrono::milliseconds(1), rule.budget - spent);
    KW_TRY(const device::RunOutcome outcome, device.run(programs, arena, options));
    if (outcome.fault) return fail(ErrorKind::GateFailed, outcome.fault->message);
    bool narrow = true, enough = false;
    for (size_t p = 0; p < programs.size(); ++p) {
      Timed& t = timed[p];
      t.seconds.insert(t.seconds.end(), outcome.seconds[p].begin(), outcome.seconds[p].end());
      t.time = estimate(t.seconds);
      narrow &= t.time.samples >= rule.fewest && t.time.width() <= rule.width;
      enough |= t.time.samples >= rule.most || outcome.seconds[p].empty();
    }
    if (narrow || enough || Clock::now() - start >= rule.budget) return timed;
    options.timing->warm_up = 1;
    options.timing->resident = !from_outside;
  }
}

namespace {

// The engine's own clock, which sees whole runs: what many calls took less what one took. Whatever else the two runs
// take, they both do: each has a process of its own, with all that it takes to start.
class WallClock {
 public:
  WallClock(device::Device& device, device::Program program, device::Arena& arena)
      : device_(device), program_(std::move(program)), arena_(arena) {}

  // Of so many calls less one. One that took longer than another time says nothing of what the many took.
  Result<double> time(int calls) {
    KW_TRY(const double one, run(1));
    KW_TRY(const double many, run(calls));
    one_ = std::min(one_, one);
    return many - one_;
  }

 private:
  Result<double> run(int calls) {
    device::RunOptions options;
    options.from_outside = true;
    options.timing = device::Timing{.warm_up = 1, .samples = 1, .calls_per_sample = calls};
    KW_TRY(const device::RunOutcome outcome, device_.run({program_}, arena_, options));
    if (outcome.fault) return fail(ErrorKind::GateFailed, outcome.fault->message);
    return outcome.wall_seconds;
  }

  device::Device& device_;
  device::Program program_;
  device::Arena& arena_;
  double one_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Result<Estimate> confirmed(device::Device& device, const device::Program& program,
                           const std::vector<device::Call>& before, device::Arena& arena, const device::Timing& how,
                           const Estimate& said, std::uint64_t seed) {
  constexpr double kTogether = 0.5;  // seconds at most
  constexpr double kTimes = 2, kStart = 0.25;
  constexpr int kTries = 3;  // a busy machine is slow at times, a clock that lies always does
  const double enough = std::clamp(kTogether / std::max(said.median, 1e-9), 4.0, 1e5);
  // Half as many at least, drawn for every try: code that knew could do its work in the last of them alone.
  const auto drawn = [&](int at) {
    const Hash64 hash = Hash64().add(seed).add(static_cast<std::uint64_t>(at));
    return static_cast<int>(enough * (0.5 + static_cast<double>(hash.value() % 1024) / 2048));
  };
  device::Program whole{before, program.emulation};
  whole.calls.insert(whole.calls.end(), program.calls.begin(), program.calls.end());
  WallClock all(device, std::move(whole), arena), others(device, {before, {}}, arena);
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const bool anew : {false, true})
    for (int i = 0; i < kTries; ++i) {
      const int calls = drawn(anew ? kTries + i : i);
      Estimate now = said;
      if (anew) {
        const StopRule rule{.budget = std::chrono::milliseconds(200), .seed = seed + static_cast<std::uint64_t>(i) + 1};
        KW_TRY(const std::vector<Timed> samples, time(device, {program}, arena, how, rule, true));
        if (samples.front().time.median > said.median) now = samples.front().time;
      }
      double prepared = 0;
      if (!before.empty()) {
        KW_TRY(prepared, others.time(calls));
      }
      KW_TRY(const double together, all.time(calls));
      const double wall = together - prepared;
      const double by_samples = now.median * (calls - 1);
      if (wall > 0 && wall <= kTimes * by_samples + kStart) return now;
      least = std::min(least, wall / (calls - 1));
      most = std::max(most, now.median);
    }
  return fail(
      ErrorKind::GateFailed,
      fmt::format("calls took {:.3g} ms each or more by the engine's clock and {:.3g} ms at most by the samples",
                  1e3 * least, 1e3 * most));
}

}  // namespace kw::measure
