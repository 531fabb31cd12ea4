#include "measure/share.h"

#include <algorithm>

namespace kw::measure {

double Share::share() const {
  if (kernel.time.median <= 0) return 0;
  return std::min(1.0, limit() / kernel.time.median);
}

Result<Share> share_of(device::Device& device, const Plain& plain, const Plain::Rates& rates,
                       const device::Program& program, device::Arena& arena, const Work& work, const StopRule& rule) {
  KW_TRY(std::vector<device::Program> programs, plain.movers(arena, work));
  programs.insert(programs.begin(), program);
  device::Timing how;
  KW_TRY(how.before, plain.evict(arena));
  KW_TRY(std::vector<Timed> timed, time(device, programs, arena, how, rule));
  Share out;
  out.work = work;
  out.memory = timed[1].time;
  for (size_t i = 2; i < timed.size(); ++i)
    if (timed[i].time.median < out.memory.median) out.memory = timed[i].time;
  if (rates.simple > 0) out.operation += work.simple / rates.simple;
  if (rates.special > 0) out.operation += work.special / rates.special;
  out.kernel = std::move(timed[0]);
  return out;
}

}  // namespace kw::measure
