// How fast kernels are, and how near to what the device can do: each pass at a shape of the profile, timed beside a
// plain kernel that moves as many bytes (measure/share.h). It judges nothing; a kernel that is slow is still right.
#pragma once

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
};

// `sizes`: the shape that the user wants to be fast at. `types`: one that `kernels` were compiled for.
Result<std::vector<PassSpeed>> speeds_of(const Subject& subject, device::Device& device,
                                         const device::CompiledSet& kernels, std::map<std::string, std::int64_t> sizes,
                                         const SpeedOptions& options = {});

SpeedRow row_of(const PassSpeed& speed);

}  // namespace kw::verify
