#include "measure/ceilings.h"

#include <algorithm>

#include "measure/clock.h"

namespace kw::measure {

Result<Ceilings> ceilings_of(device::Device& device) {
  KW_TRY(const Plain plain, Plain::make(device));
  Ceilings out;
  out.device = device.name();
  // Four times the cache, so that it does not help.
  out.bytes = 4 * static_cast<double>(device.cache_bytes());
  out.traffic = {{"copy", 1, 1}, {"two read, one written", 2, 1}, {"three read, two written", 3, 2}, {"read", 1, 0}};
  for (Traffic& traffic : out.traffic) {
    Work work;
    work.read_bytes = out.bytes * traffic.reads / (traffic.reads + traffic.writes);
    work.written_bytes = out.bytes * traffic.writes / (traffic.reads + traffic.writes);
    device::Arena arena;
    KW_CHECK(plain.add_buffers(arena, work));
    KW_CHECK(arena.allocate());
    KW_TRY(const std::vector<device::Program> movers, plain.movers(arena, work));
    StopRule rule;
    rule.budget = std::chrono::milliseconds(600);
    KW_TRY(const std::vector<Timed> timed, time(device, movers, arena, {}, rule));
    const auto best = std::min_element(timed.begin(), timed.end(),
                                       [](const Timed& a, const Timed& b) { return a.time.median < b.time.median; });
    traffic.bytes_per_second = out.bytes / best->time.median;
    traffic.width = best->time.width();
  }
  KW_TRY(out.rates, plain.rates());
  return out;
}

}  // namespace kw::measure
