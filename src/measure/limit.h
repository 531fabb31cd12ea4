// The limit of a pass by itself, where no kernel is there yet: what a plain kernel needs for as many bytes, or what the
// counted operations need at the measured rate, whichever is more (measure/share.h has the same beside a kernel).
#pragma once

#include <algorithm>

#include "measure/clock.h"
#include "measure/plain.h"

namespace kw::measure {

struct Limit {
  Estimate memory;       // the plain kernel, from an evicted cache
  double operation = 0;  // seconds

  double seconds() const { return std::max(memory.median, operation); }
  bool memory_bound() const { return memory.median >= operation; }
};

Result<Limit> limit_of(device::Device& device, const Plain& plain, const Plain::Rates& rates, const Work& work,
                       const StopRule& rule = {});

}  // namespace kw::measure
