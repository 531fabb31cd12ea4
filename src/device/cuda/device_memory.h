// The buffers of an arena in the memory of a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/driver.h"
#include "device/executor.h"

namespace kw::device::cuda {

// One range of the arena in addresses of its own. Where the arena's pages do not fill what the GPU maps at once, the
// rest, the margin, is filled with a pattern.
class FencedRange {
 public:
  FencedRange(const Driver& driver, int ordinal) : driver_(&driver), ordinal_(ordinal) {}
  FencedRange(FencedRange&& other) noexcept;
  FencedRange& operator=(FencedRange&&) = delete;
  ~FencedRange();

  CUresult allocate(const Request::Range& range);

  // The GPU's address of an offset into the arena; 0, if it is not in this range.
  CUdeviceptr at(std::uint64_t offset) const;

  CUresult copy_in(const Mapping& mapping) const;
  CUresult copy_out(const Mapping& mapping) const;
  // The offset into the arena of a byte that was changed and may not have been: of the margin, or of a range that is
  // only read. An offset in the margin lies outside the range.
  CUresult find_stray(const Mapping& mapping, std::optional<std::uint64_t>& stray) const;

 private:
  std::uint64_t bytes() const { return range_.end - range_.first; }

  const Driver* driver_;
  int ordinal_;
  Request::Range range_;
  CUdeviceptr reserved_ = 0;
  std::size_t reserved_bytes_ = 0;
  CUdeviceptr mapped_ = 0;
  std::size_t mapped_bytes_ = 0;
  CUdeviceptr first_ = 0;  // where the range begins
  CUmemHandle handle_ = 0;
  bool created_ = false, is_mapped_ = false;
};

}  // namespace kw::device::cuda
