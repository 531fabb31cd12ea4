#include "device/emulate/shadow.h"

namespace kw::device::emulate {

void Clock::begin(std::size_t warps) {
  time = block_barrier = 1;
  warp_barriers.assign(warps, 1);
}

void Shadow::begin(std::size_t bytes) {
  cells_.assign(bytes, {});
  updates_.clear();
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
  if (access == Access::Atomic && updates_.empty()) updates_.resize(cells_.size());
  for (std::size_t byte = first; byte < first + bytes; ++byte) {
    Cell& cell = cells_[byte];
    if (clock.unordered(cell.writer, now)) return Conflict{byte, cell.writer, Access::Write};
    if (access != Access::Read) {
      const Stamp reader = cell.readers.unordered(now, clock);
      if (reader.any()) return Conflict{byte, reader, Access::Read};
    }
    if (access != Access::Atomic && !updates_.empty()) {
      const Stamp update = updates_[byte].unordered(now, clock);
      if (update.any()) return Conflict{byte, update, Access::Atomic};
    }
    switch (access) {
      case Access::Read:
        cell.readers.add(now, clock);
        break;
      case Access::Write:  // whatever is ordered with this write is ordered with all before it
        cell = {now, {}};
        if (!updates_.empty()) updates_[byte] = {};
        break;
      case Access::Atomic:
        updates_[byte].add(now, clock);
        break;
    }
  }
  return std::nullopt;
}

}  // namespace kw::device::emulate
