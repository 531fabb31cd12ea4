// How near a pass comes to what its device can do: the limit is the larger of memory time (a plain kernel that moves as
// many bytes in the same ratio, timed in the same run, or just before code from outside, from the same cache state) and
// operation time (the counted operations at the measured rate). A share is at most 1.
#pragma once

#include "measure/clock.h"
#include "measure/plain.h"

namespace kw::measure {

struct Share {
  Timed kernel;
  Estimate memory;       // the plain kernel
  double operation = 0;  // seconds
  Work work;

  double limit() const { return memory.median > operation ? memory.median : operation; }
  double share() const;
  bool memory_bound() const { return memory.median >= operation; }
};

struct ShareOptions {
  StopRule stop;
  std::vector<device::Call> before;  // each sample, untimed, ahead of the eviction
  bool from_outside =
      false;  // a thread that the code leaves behind would slow the plain kernels: these are timed apart
};

// How a pass is timed: each sample begins with `before`, and then with a cache that holds none of the pass's data.
Result<device::Timing> evicted(const Plain& plain, const device::Arena& arena, std::vector<device::Call> before);

// Of one call of a pass. The arena holds the pass's buffers, allocated, with what `plain.add_buffers` added.
Result<Share> share_of(device::Device& device, const Plain& plain, const Plain::Rates& rates,
                       const device::Program& program, device::Arena& arena, const Work& work,
                       const ShareOptions& options = {});

}  // namespace kw::measure
