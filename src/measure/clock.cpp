#include "measure/clock.h"

#include <algorithm>

namespace kw::measure {

Result<std::vector<Timed>> time(device::Device& device, const std::vector<device::Program>& programs,
                                device::Arena& arena, const device::Timing& how, const StopRule& rule) {
  using Clock = std::chrono::steady_clock;
  std::vector<Timed> timed(programs.size());
  const Clock::time_point start = Clock::now();
  device::RunOptions options;
  options.timing = how;
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
    options.timing->resident = true;
  }
}

}  // namespace kw::measure
