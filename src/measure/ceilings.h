// What a device reaches at its best, measured now: memory traffic in several ratios, and operations. `kw doctor` shows
// it; the limit of a pass is taken in its own run.
#pragma once

#include "device/device.h"
#include "measure/plain.h"

namespace kw::measure {

struct Traffic {
  std::string name;  // "copy"
  double reads = 1, writes = 1;
  double bytes_per_second = 0;
  double width = 0;  // of the interval, as a share
};

struct Ceilings {
  std::string device;
  double bytes = 0;  // moved by each sample
  std::vector<Traffic> traffic;
  Plain::Rates rates;
};

Result<Ceilings> ceilings_of(device::Device& device);

}  // namespace kw::measure
