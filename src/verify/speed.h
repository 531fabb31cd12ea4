// How fast kernels are, and how near to what the device can do: each pass at a shape of the profile, timed beside a
// plain kernel that moves as many bytes (measure/share.h). A kernel that is slow is still right; but what it answers to
// the very calls that are timed is compared, where the oracle knows it, with other inputs after they were timed. (All
// samples have the same inputs: one that keeps its results by what it was given, and answers rightly, is not found
// out.)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "measure/share.h"
#include "verify/report.h"
#include "verify/subject.h"

namespace kw::verify {

struct PassSpeed {
  std::string pass;
  std::map<std::string, std::int64_t> sizes;
  measure::Share share;
  std::int64_t bytes = 0;  // the most that the pass holds beyond its inputs
};

struct SpeedOptions {
  double most_bytes = 1e9;  // of one call: larger shapes are halved along their first size until they fit
  measure::StopRule stop;
  std::uint64_t seed = 0;  // of the inputs
};

struct Speeds {
  std::vector<PassSpeed> passes;
  std::int64_t elements = 0;       // that were compared
  std::string unknown;             // why none were (no axis repeats, verify/repetition.h), or which outputs were not
  std::optional<Finding> finding;  // against a pass that was timed; those after it were not
};

// `sizes`: the shape that the user wants to be fast at. `types`: one that `kernels` were compiled for.
Result<Speeds> speeds_of(const Subject& subject, device::Device& device, const device::CompiledSet& kernels,
                         std::map<std::string, std::int64_t> sizes, const SpeedOptions& options = {});

SpeedRow row_of(const PassSpeed& speed);

// Rows for the report, and its verdict where a pass was wrong as it was timed.
void add(const Speeds& speeds, Report& report);

}  // namespace kw::verify
