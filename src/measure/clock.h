// Times programs on a device: warm-up, in turn, the cache evicted before each sample, until the interval of every
// median is narrow enough or the budget is spent.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "measure/estimate.h"

namespace kw::measure {

struct StopRule {
  double width = 0.02;  // of every interval, as a share of the median
  int fewest = 10, most = 400;
  std::chrono::milliseconds budget{3000};
  std::uint64_t seed = 0;  // draws how many samples more code from outside is asked for in a round
};

struct Timed {
  Estimate time;
  std::vector<double> seconds;  // sample by sample; those of one round belong together
};

// One result per program, in order. A program that fails ends it all with the failure in words. The process
// of code from outside ends with each round of samples.
Result<std::vector<Timed>> time(device::Device& device, const std::vector<device::Program>& programs,
                                device::Arena& arena, const device::Timing& how, const StopRule& rule = {},
                                bool from_outside = false);

// Samples are taken by a clock in the process that the program runs in, which code from outside may reach. What they
// said, where a call takes about as long by the engine's own clock; else what that says. An error where the two clocks
// do not agree on one and the same run. `before` runs ahead of every call of these, and what it takes by itself does
// not count. The arena is left as the last of the calls left it.
Result<Estimate> confirmed(device::Device& device, const device::Program& program,
                           const std::vector<device::Call>& before, device::Arena& arena, const Estimate& said,
                           std::uint64_t seed = 0);

}  // namespace kw::measure
