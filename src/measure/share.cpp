#include "measure/share.h"

#include <algorithm>
#include <iterator>

namespace kw::measure {

double Share::share() const {
  if (kernel.time.median <= 0) return 0;
  return std::min(1.0, limit() / kernel.time.median);
}

Result<device::Timing> evicted(const Plain& plain, const device::Arena& arena, std::vector<device::Call> before) {
  device::Timing how;
  KW_TRY(how.before, plain.evict(arena));
  how.before->calls.insert(how.before->calls.begin(), std::make_move_iterator(before.begin()),
                           std::make_move_iterator(before.end()));
  return how;
}

Result<Share> share_of(device::Device& device, const Plain& plain, const Plain::Rates& rates,
                       const device::Program& program, device::Arena& arena, const Work& work,
                       const ShareOptions& options) {
  KW_TRY(std::vector<device::Program> programs, plain.movers(arena, work));
  KW_TRY(const device::Timing how, evicted(plain, arena, options.before));
  Share out;
  out.work = work;
  std::vector<Timed> plain_ones;
  if (options.from_outside) {
    KW_TRY(plain_ones, time(device, programs, arena, how, options.stop));
    KW_TRY(std::vector<Timed> timed, time(device, {program}, arena, how, options.stop, true));
    out.kernel = std::move(timed[0]);
  } else {
    programs.insert(programs.begin(), program);
    KW_TRY(plain_ones, time(device, programs, arena, how, options.stop));
    out.kernel = std::move(plain_ones[0]);
    plain_ones.erase(plain_ones.begin());
  }
  out.memory = plain_ones[0].time;
  for (const Timed& one : plain_ones)
    if (one.time.median < out.memory.median) out.memory = one.time;
  if (rates.simple > 0) out.operation += work.simple / rates.simple;
  if (rates.special > 0) out.operation += work.special / rates.special;
  return out;
}

}  // namespace kw::measure
