// Memory that the engine and a worker share: the buffers of a call, each fenced on both sides.
//
//   fence │ guard bytes │ the buffer │ guard bytes │ fence
//
// In the worker a fence cannot be touched at all, and a buffer that is only read cannot be written: a kernel that
// strays ends at once, with the address at hand. Guard bytes fill what is left of the buffer's own pages; the engine
// looks after a run whether they still hold their pattern. By default a buffer ends where its fence begins, as nearly
// as its alignment lets it; it can also be made to begin there.
//
//   Arena arena;
//   arena.add("x", x, Arena::Access::Read);
//   arena.add("y", y, Arena::Access::Write);
//   KW_CHECK(arena.allocate());
//   fill(arena.bytes("x")); arena.poison("y", 0xFF);
//   ... run ...
//   arena.stray() → nothing, or where a kernel wrote outside
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernel/call.h"

namespace kw::device {

class Arena {
 public:
  enum class Access : std::uint8_t { Read, Write };

  struct Placement {
    std::int64_t alignment = 0;     // a power of two up to a page; 0: 64, or 512 for a buffer of a MiB or more
    std::int64_t misalignment = 0;  // bytes past the alignment
    bool at_start = false;          // begin at a fence, instead of ending at one
  };

  struct Region {
    std::string name;
    kernel::Tensor tensor;
    Access access = Access::Read;
    std::uint64_t first_page = 0, end_page = 0;  // byte offsets of the region's own pages
    std::uint64_t offset = 0, bytes = 0;         // of the buffer
    bool at_start = false;                       // it begins at its first page
  };

  // What a byte of the arena belongs to.
  struct Place {
    const Region* region = nullptr;  // the nearest one
    std::int64_t byte = 0;           // from its first byte; negative before it
    bool inside() const { return byte >= 0 && static_cast<std::uint64_t>(byte) < region->bytes; }
    std::string text() const;  // "3 bytes past the end of y"
  };

  Arena() = default;
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  ~Arena();

  // Places a buffer, before anything is allocated. Its strides are not negative. An output that takes the memory of an
  // input is added by `add_alias`; the input must then be writable.
  Status add(const std::string& name, kernel::Tensor tensor, Access access, Placement placement);
  Status add(const std::string& name, kernel::Tensor tensor, Access access);
  Status add_alias(const std::string& name, const std::string& of);

  Status allocate();  // at most once; memory is zero

  // The buffers as a call sees them: their addresses are offsets into the arena, with the alignment that they will
  // have.
  std::map<std::string, kernel::Tensor> tensors() const;

  std::span<std::byte> bytes(const std::string& name);  // from the first element to the last
  std::span<const std::byte> bytes(const std::string& name) const;
  void poison(const std::string& name, std::uint8_t pattern);
  void guard();  // writes the pattern of the guard bytes anew

  std::optional<Place> stray() const;  // the first guard byte that was overwritten
  Place place_of(std::uint64_t offset) const;

  int descriptor() const { return descriptor_; }
  std::uint64_t identity() const { return identity_; }  // no two arenas of a process have the same; never 0
  std::uint64_t size() const { return size_; }
  const std::vector<Region>& regions() const { return regions_; }

 private:
  const Region* find(const std::string& name) const;

  std::vector<Region> regions_;
  std::vector<std::pair<std::string, std::string>> aliases_;  // name → of
  std::uint64_t size_ = 0;
  std::uint64_t identity_ = 0;
  int descriptor_ = -1;
  std::byte* memory_ = nullptr;
};

}  // namespace kw::device
