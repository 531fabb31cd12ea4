// Who touched a byte, and when: enough to say of the next access whether another one, unordered with it, touched the
// byte too, and one of the two wrote.
//
// A block has a clock that moves at every barrier. Two accesses are ordered if one thread made both, if a barrier of
// their block lies between, or a barrier of their warp if both are lanes of it. Between blocks of a launch nothing
// orders anything. A byte keeps its last writer, and of its readers as many as can matter:
//   last       the last reader
//   same_warp  another lane of its warp that read since the warp's last barrier
//   same_block a reader of another warp since the block's last barrier
//   elsewhere  a reader of another block
// A write that is unordered with any reader at all is unordered with one of these. Atomic updates are kept in the same
// way: they conflict with plain accesses, not with each other.
//
// Neighbours that were only touched together share what is kept: at first sixteen bytes do, and all parts become
// smaller when the first access asks for less.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "../../../runtime/emulate/engine.h"

namespace kw::device::emulate {

using kw::emulate::Access;
using kw::emulate::Place;

inline constexpr std::uint32_t kWarp = 32;

// One access, in eight bytes.
class Stamp {
 public:
  static constexpr std::uint64_t kBlocks = 1 << 22, kTimes = 1 << 20, kPlaces = 1 << 12;

  Stamp() = default;
  Stamp(std::uint64_t block, std::uint64_t thread, std::uint64_t time, std::uint64_t place)
      : bits_(block << 42 | thread << 32 | time << 12 | place) {}
  bool any() const { return bits_ != 0; }  // times begin at 1
  std::uint64_t block() const { return bits_ >> 42; }
  std::uint32_t thread() const { return bits_ >> 32 & 1023; }
  std::uint32_t warp() const { return thread() / kWarp; }
  std::uint32_t time() const { return bits_ >> 12 & (kTimes - 1); }
  std::uint32_t place() const { return bits_ & (kPlaces - 1); }

 private:
  std::uint64_t bits_ = 0;
};

// What a block's barriers have ordered so far.
struct Clock {
  std::uint32_t time = 1;
  std::uint32_t block_barrier = 1;           // accesses at earlier times are ordered with every thread of the block
  std::vector<std::uint32_t> warp_barriers;  // and these with every lane of the warp

  void begin(std::size_t warps);
  void pass_barrier() { block_barrier = ++time; }
  void pass_warp_barrier(std::uint32_t warp) { warp_barriers[warp] = ++time; }
  bool unordered(Stamp earlier, Stamp now) const {
    if (!earlier.any()) return false;
    if (earlier.block() != now.block()) return true;
    return earlier.thread() != now.thread() && earlier.time() >= block_barrier &&
           (earlier.warp() != now.warp() || earlier.time() >= warp_barriers[now.warp()]);
  }
};

class Shadow {
 public:
  struct Conflict {
    std::size_t byte = 0;
    Stamp earlier;
    Access earlier_access = Access::Read;
  };

  // Forgets all accesses to `bytes` bytes.
  void begin(std::size_t bytes);

  // Notes an access, and says if it conflicts with an earlier one.
  std::optional<Conflict> note(std::size_t first, std::size_t bytes, Access access, Stamp now, const Clock& clock);

  // Has it been written, or updated, since the beginning?
  bool written(std::size_t byte) const {
    const std::size_t cell = byte / granule_;
    return cells_[cell].writer.any() || (!updates_.empty() && updates_[cell].last.any());
  }

 private:
  struct Several {
    Stamp last, same_warp, same_block, elsewhere;
    void add(Stamp now, const Clock& clock);
    Stamp unordered(Stamp now, const Clock& clock) const;  // one of them, or none
  };
  struct Cell {
    Stamp writer;
    Several readers;
  };
  void refine(std::size_t granule);

  std::size_t bytes_ = 0;
  std::size_t granule_ = 1;  // bytes of a cell
  std::vector<Cell> cells_;
  std::vector<Several> updates_;  // empty until the first atomic update
};

}  // namespace kw::device::emulate
