#include "measure/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

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

// What many calls took less what one took, by the engine's clock, which sees whole runs, and by that of the process
// that they ran in. Whatever else the two runs take, they both do: each has a process of its own, with all that it
// takes to start.
struct BothClocks {
  double engine = 0, process = 0;  // seconds
  std::string out_of_time;         // what did not end, in words
};

class WallClock {
 public:
  WallClock(device::Device& device, device::Program program, device::Arena& arena)
      : device_(device), program_(std::move(program)), arena_(arena) {}

  // Of so many calls less one. One that took longer than another time says nothing of what the many took.
  Result<BothClocks> time(int calls) {
    KW_TRY(const BothClocks one, run(1));
    KW_TRY(const BothClocks many, run(calls));
    one_ = std::min(one_, one.engine);
    return BothClocks{many.engine - one_, many.process - one.process, one.out_of_time + many.out_of_time};
  }

 private:
  Result<BothClocks> run(int calls) {
    device::RunOptions options;
    options.from_outside = true;
    options.timing = device::Timing{.warm_up = 1, .samples = 1, .calls_per_sample = calls};
    KW_TRY(const device::RunOutcome outcome, device_.run({program_}, arena_, options));
    if (outcome.fault && outcome.fault->kind == device::Fault::Kind::OutOfTime)
      return BothClocks{outcome.wall_seconds, 0, outcome.fault->message};
    if (outcome.fault) return fail(ErrorKind::GateFailed, outcome.fault->message);
    const std::vector<double>& each = outcome.seconds.at(0);
    return BothClocks{outcome.wall_seconds, each.empty() ? 0 : each[0] * calls};
  }

  device::Device& device_;
  device::Program program_;
  device::Arena& arena_;
  double one_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Result<Estimate> confirmed(device::Device& device, const device::Program& program,
                           const std::vector<device::Call>& before, device::Arena& arena, const Estimate& said,
                           std::uint64_t seed) {
  constexpr double kTogether = 0.5;  // seconds at most
  constexpr double kTimes = 2, kStart = 0.25;
  constexpr double kFewer = 8;
  constexpr int kTries = 3;  // a process takes long to start at times, a clock that lies always does
  double enough = std::clamp(kTogether / std::max(said.median, 1e-9), 4.0, 1e5);
  device::Program whole{before, program.emulation};
  whole.calls.insert(whole.calls.end(), program.calls.begin(), program.calls.end());
  WallClock all(device, std::move(whole), arena), others(device, {before, {}}, arena);
  double engine = std::numeric_limits<double>::infinity(), process = 0;  // of a call, where they differ
  for (int i = 0; i < kTries; ++i) {
    // Half as many at least, drawn for every try: code that knew could do its work in the last of them alone.
    const auto drawn = static_cast<double>(Hash64().add(seed).add(static_cast<std::uint64_t>(i)).value() % 1024);
    const int calls = static_cast<int>(enough * (0.5 + drawn / 2048));
    BothClocks prepared;
    if (!before.empty()) {
      KW_TRY(prepared, others.time(calls));
    }
    KW_TRY(const BothClocks together, all.time(calls));
    // So many were too many for a machine that is this busy; or for a clock that lies, which fewer will show.
    if (const std::string what = prepared.out_of_time + together.out_of_time; !what.empty()) {
      if (i + 1 == kTries) return fail(ErrorKind::GateFailed, what);
      enough = std::max(4.0, enough / kFewer);
      continue;
    }
    const bool agree = together.engine > 0 && together.engine <= kTimes * together.process + kStart &&
                       together.process <= kTimes * together.engine + kStart;
    if (agree) {
      // One call after another on a busy machine may take longer than the median of samples that are apart.
      const double wall = (together.engine - prepared.engine) / (calls - 1);
      if (wall <= kTimes * said.median + kStart / (calls - 1)) return said;
      return Estimate{wall, std::min(said.low, wall), wall, said.samples};
    }
    engine = std::min(engine, together.engine / (calls - 1));
    process = std::max(process, together.process / (calls - 1));
  }
  return fail(
      ErrorKind::GateFailed,
      fmt::format("calls took {:.3g} ms each or more by the engine's clock and {:.3g} ms at most by that of the "
                  "process that they ran in",
                  1e3 * engine, 1e3 * process));
}

}  // namespace kw::measure
