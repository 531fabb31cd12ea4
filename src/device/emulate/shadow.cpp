#include "device/emulate/shadow.h"

namespace kw::device::emulate {
namespace {

constexpr std::size_t kCoarsest = 16;

}  // namespace

void Clock::begin(std::size_t warps) {
  time = block_barrier = 1;
  warp_barriers.assign(warps, 1);
}

void Shadow::begin(std::size_t bytes) {
  bytes_ = bytes;
  granule_ = kCoarsest;
  cells_.assign((bytes + granule_ - 1) / granule_, {});
  updates_.clear();
}

void Shadow::refine(std::size_t granule) {
  const auto split = [&]<class T>(const std::vector<T>& coarse) {
    std::vector<T> fine;
    fine.reserve((bytes_ + granule - 1) / granule);
    for (std::size_t byte = 0; byte < bytes_; byte += granule) fine.push_back(coarse[byte / granule_]);
    return fine;
  };
  cells_ = split(cells_);
  if (!updates_.empty()) updates_ = split(updates_);
  granule_ = granule;
}

void Shadow::Several::add(Stamp now, const Clock& clock) {
  if (!last.any() || last.block() != now.block()) {
    elsewhere = last.any() ? last : elsewhere;
    same_warp = same_block = {};
  } else if (last.time() < clock.block_barrier) {
    same_warp = same_block = {};
  } else if (last.warp() != now.warp()) {
    same_block = last;
    same_warp = {};
  } else if (last.time() < clock.warp_barriers[now.warp()]) {
    same_warp = {};
  } else if (last.thread() != now.thread()) {
    same_warp = last;
  }
  last = now;
}

Stamp Shadow::Several::unordered(Stamp now, const Clock& clock) const {
  if (!last.any()) return {};
  for (const Stamp earlier : {last, same_warp, same_block, elsewhere})
    if (clock.unordered(earlier, now)) return earlier;
  return {};
}

std::optional<Shadow::Conflict> Shadow::note(std::size_t first, std::size_t bytes, Access access, Stamp now,
                                             const Clock& clock) {
  const std::size_t together = first | bytes | granule_;  // its lowest bit divides all three
  if (const std::size_t granule = together & (~together + 1); granule < granule_) refine(granule);
  if (access == Access::Atomic && updates_.empty()) updates_.resize(cells_.size());
  for (std::size_t byte = first; byte < first + bytes; byte += granule_) {
    Cell& cell = cells_[byte / granule_];
    Several* updates = updates_.empty() ? nullptr : &updates_[byte / granule_];
    if (clock.unordered(cell.writer, now)) return Conflict{byte, cell.writer, Access::Write};
    if (access != Access::Read) {
      const Stamp reader = cell.readers.unordered(now, clock);
      if (reader.any()) return Conflict{byte, reader, Access::Read};
    }
    if (access != Access::Atomic && updates != nullptr) {
      const Stamp update = updates->unordered(now, clock);
      if (update.any()) return Conflict{byte, update, Access::Atomic};
    }
    switch (access) {
      case Access::Read:
        cell.readers.add(now, clock);
        break;
      case Access::Write:  // whatever is ordered with this write is ordered with all before it
        cell = {now, {}};
        if (updates != nullptr) *updates = {};
        break;
      case Access::Atomic:
        updates->add(now, clock);
        break;
    }
  }
  return std::nullopt;
}

}  // namespace kw::device::emulate
