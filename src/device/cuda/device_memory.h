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
// rest, the margins, are filled with a pattern. Where the driver cannot reserve addresses, the range lies in ordinary
// memory of the GPU, with wider margins in the place of fences.
class FencedRange {
 public:
  FencedRange(const Driver& driver, int ordinal) : driver_(&driver), ordinal_(ordinal) {}
  FencedRange(FencedRange&& other) noexcept;
  FencedRange& operator=(FencedRange&&) = delete;
  ~FencedRange();

  // Exact: the buffer alone, in ordinary memory.
  CUresult allocate(const Request::Range& range, bool exact);

  // The GPU's address of an offset into the arena; 0, if it is not in this range.
  CUdeviceptr at(std::uint64_t offset) const;

  CUresult copy_in(const Mapping& mapping) const;
  CUresult copy_out(const Mapping& mapping) const;
  // The offset into the arena of a byte that was changed and may not have been: of the margin, or of a range that is
  // only read. An offset in the margin lies outside the range.
  CUresult find_stray(const Mapping& mapping, std::optional<std::uint64_t>& stray) const;

 private:
  CUresult allocate_fenced(std::size_t granule);
  CUresult allocate_plain();
  CUresult allocate_exact();
  void release();
  std::uint64_t bytes() const { return range_.end - range_.first; }
  // What is copied and compared: the range, or the buffer alone.
  std::uint64_t begin() const { return exact_ ? range_.offset : range_.first; }
  std::uint64_t length() const { return exact_ ? range_.bytes : bytes(); }
  // What is mapped before the range, and behind it.
  std::size_t leading() const { return first_ - mapped_; }
  std::size_t trailing() const { return mapped_bytes_ - leading() - bytes(); }

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
  CUdeviceptr plain_ = 0;  // of ordinary memory
  bool exact_ = false;
};

}  // namespace kw::device::cuda
