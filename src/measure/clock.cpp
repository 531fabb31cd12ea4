#include "measure/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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
  options.timing->samples = rule.fewest;
  for (;;) {
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

Result<std::optional<std::string>> disagreement(device::Device& device, const device::Program& program,
                                                device::Arena& arena, double seconds) {
  constexpr double kTogether = 0.5;  // seconds: far above what a process takes to start
  constexpr double kTimes = 2, kStart = 0.25;
  constexpr int kTries = 3;  // a busy machine is slow at times, a clock that lies always does
  const int calls = static_cast<int>(std::clamp(kTogether / std::max(seconds, 1e-9), 2.0, 2000.0));
  const double said = seconds * (calls - 1);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    // Two runs that differ in the number of calls alone: whatever else they take, they both do.
    double wall[2] = {0, 0};
    for (const bool many : {false, true}) {
      device::RunOptions options;
      options.from_outside = true;
      options.timing = device::Timing{.warm_up = 1, .samples = 1, .calls_per_sample = many ? calls : 1};
      KW_TRY(const device::RunOutcome outcome, device.run({program}, arena, options));
      if (outcome.fault) return std::optional(outcome.fault->message);
      wall[many ? 1 : 0] = outcome.wall_seconds;
    }
    least = std::min(least, wall[1] - wall[0]);
    if (least <= kTimes * said + kStart) return std::optional<std::string>();
  }
  return std::optional(
      fmt::format("{} calls took {:.2f} s by the engine's clock and {:.2f} s by the samples", calls - 1, least, said));
}

}  // namespace kw::measure
