// The plain kernels of a device (templates/measure/): what moves given bytes as fast as anything does there, what
// empties the cache, and what keeps its arithmetic units busy. They stand in the same arena and are timed in the same
// run as the kernels whose limit they are.
//
//   KW_TRY(Plain plain, Plain::make(device));
//   KW_CHECK(plain.add_buffers(arena, work));     // beside the pass's own, before arena.allocate()
//   KW_TRY(auto movers, plain.movers(arena, work));
#pragma once

#include "device/device.h"
#include "measure/work.h"

namespace kw::measure {

class Plain {
 public:
  static Result<Plain> make(device::Device& device);

  Status add_buffers(device::Arena& arena, const Work& work) const;

  // Programs that move as many bytes in the same ratio; the fastest of them is the limit. A pass that moves nothing has
  // none.
  Result<std::vector<device::Program>> movers(const device::Arena& arena, const Work& work) const;
  Result<device::Program> evict(const device::Arena& arena) const;

  // Operations per second of all cores, measured now. Where a device has none measured (cuda), 0: no limit.
  struct Rates {
    double simple = 0, special = 0;
  };
  Result<Rates> rates() const;

 private:
  explicit Plain(device::Device& device) : device_(&device) {}
  Result<device::Program> program(const std::string& pass, const device::Arena& arena, kernel::Sizes sizes) const;

  device::Device* device_;
  kernel::Manifest manifest_;
  device::CompiledSet kernels_;
};

}  // namespace kw::measure
