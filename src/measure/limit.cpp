#include "measure/limit.h"

namespace kw::measure {

Result<Limit> limit_of(device::Device& device, const Plain& plain, const Plain::Rates& rates, const Work& work,
                       const StopRule& rule) {
  device::Arena arena;
  KW_CHECK(plain.add_buffers(arena, work));
  KW_CHECK(arena.allocate());
  KW_TRY(const std::vector<device::Program> movers, plain.movers(arena, work));
  device::Timing how;
  KW_TRY(how.before, plain.evict(arena));
  KW_TRY(const std::vector<Timed> timed, time(device, movers, arena, how, rule));
  Limit limit;
  for (const Timed& one : timed)
    if (limit.memory.samples == 0 || one.time.median < limit.memory.median) limit.memory = one.time;
  if (rates.simple > 0) limit.operation += work.simple / rates.simple;
  if (rates.special > 0) limit.operation += work.special / rates.special;
  return limit;
}

}  // namespace kw::measure
