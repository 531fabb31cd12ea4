#include "device/cuda/device_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kw::device::cuda {
namespace {

constexpr unsigned char kMargin = 0xA5;
constexpr std::size_t kChunk = std::size_t{16} << 20;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

#define KW_DRIVER(...) \
  if (const CUresult result = (__VA_ARGS__); result != CUDA_SUCCESS) return result

}  // namespace

FencedRange::FencedRange(FencedRange&& other) noexcept
    : driver_(other.driver_),
      ordinal_(other.ordinal_),
      range_(other.range_),
      reserved_(std::exchange(other.reserved_, 0)),
      reserved_bytes_(other.reserved_bytes_),
      mapped_(other.mapped_),
      mapped_bytes_(other.mapped_bytes_),
      first_(other.first_),
      handle_(other.handle_),
      created_(std::exchange(other.created_, false)),
      is_mapped_(std::exchange(other.is_mapped_, false)),
      plain_(std::exchange(other.plain_, 0)),
      exact_(other.exact_) {}

FencedRange::~FencedRange() { release(); }

void FencedRange::release() {
  if (std::exchange(is_mapped_, false)) driver_->memory_unmap(mapped_, mapped_bytes_);
  if (std::exchange(created_, false)) driver_->memory_release(handle_);
  if (const CUdeviceptr reserved = std::exchange(reserved_, 0)) driver_->address_free(reserved, reserved_bytes_);
  if (const CUdeviceptr plain = std::exchange(plain_, 0)) driver_->memory_free(plain);
}

CUresult FencedRange::allocate(const Request::Range& range, bool exact) {
  range_ = range;
  exact_ = exact;
  if (exact) return allocate_exact();
  CUmemAllocationProp prop;
  prop.location.id = ordinal_;
  std::size_t granule = 0;
  CUresult result = driver_->granularity(&granule, &prop, 0);
  if (result == CUDA_SUCCESS) result = allocate_fenced(granule);
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_OUT_OF_MEMORY) return result;
  release();
  return allocate_plain();
}

CUresult FencedRange::allocate_fenced(std::size_t granule) {
  CUmemAllocationProp prop;
  prop.location.id = ordinal_;
  mapped_bytes_ = round_up(std::max<std::uint64_t>(bytes(), 1), granule);
  reserved_bytes_ = mapped_bytes_ + 2 * granule;  // a fence before and one behind
  KW_DRIVER(driver_->address_reserve(&reserved_, reserved_bytes_, granule, 0, 0));
  mapped_ = reserved_ + granule;
  KW_DRIVER(driver_->memory_create(&handle_, mapped_bytes_, &prop, 0));
  created_ = true;
  KW_DRIVER(driver_->memory_map(mapped_, mapped_bytes_, 0, handle_, 0));
  is_mapped_ = true;
  CUmemAccessDesc access;
  access.location.id = ordinal_;
  KW_DRIVER(driver_->memory_access(mapped_, mapped_bytes_, &access, 1));
  // Granules are multiples of the arena's pages, so that an address keeps its alignment.
  first_ = range_.at_start ? mapped_ : mapped_ + (mapped_bytes_ - bytes());
  return CUDA_SUCCESS;
}

CUresult FencedRange::allocate_plain() {
  constexpr std::size_t kWidth = std::size_t{1} << 20, kPage = 4096;
  mapped_bytes_ = bytes() + 2 * kWidth;
  KW_DRIVER(driver_->memory_allocate(&plain_, mapped_bytes_));
  mapped_ = plain_;
  first_ = round_up(plain_ + kWidth - kPage, kPage);
  return CUDA_SUCCESS;
}

CUresult FencedRange::allocate_exact() {
  constexpr std::size_t kAlignment = 256;  // of what the driver gives
  const std::size_t before = range_.offset % kAlignment;
  KW_DRIVER(driver_->memory_allocate(&plain_, std::max<std::size_t>(before + range_.bytes, 1)));
  first_ = plain_ + before - (range_.offset - range_.first);  // where the range would begin
  return CUDA_SUCCESS;
}

CUdeviceptr FencedRange::at(std::uint64_t offset) const {
  return offset >= range_.first && offset < range_.end ? first_ + (offset - range_.first) : 0;
}

CUresult FencedRange::copy_in(const Mapping& mapping) const {
  if (!exact_ && leading() > 0) KW_DRIVER(driver_->fill8(mapped_, kMargin, leading()));
  if (!exact_ && trailing() > 0) KW_DRIVER(driver_->fill8(first_ + bytes(), kMargin, trailing()));
  if (length() == 0) return CUDA_SUCCESS;
  return driver_->copy_to_device(at(begin()), mapping.at(begin()), length());
}

CUresult FencedRange::copy_out(const Mapping& mapping) const {
  if (!range_.writable || length() == 0) return CUDA_SUCCESS;
  return driver_->copy_to_host(mapping.at(begin()), at(begin()), length());
}

CUresult FencedRange::find_stray(const Mapping& mapping, std::optional<std::uint64_t>& stray) const {
  std::vector<unsigned char> chunk;
  if (!range_.writable) {
    for (std::uint64_t done = 0; done < length(); done += chunk.size()) {
      chunk.resize(std::min<std::uint64_t>(length() - done, kChunk));
      KW_DRIVER(driver_->copy_to_host(chunk.data(), at(begin()) + done, chunk.size()));
      const auto* expected = reinterpret_cast<const unsigned char*>(mapping.at(begin() + done));
      if (std::memcmp(chunk.data(), expected, chunk.size()) == 0) continue;
      const auto [found, ignored] = std::mismatch(chunk.begin(), chunk.end(), expected);
      stray = begin() + done + static_cast<std::uint64_t>(found - chunk.begin());
      return CUDA_SUCCESS;
    }
  }
  if (exact_) return CUDA_SUCCESS;
  // Of the margins, the byte that is nearest to the buffer.
  const auto changed = [](unsigned char byte) { return byte != kMargin; };
  chunk.resize(trailing());
  if (!chunk.empty()) KW_DRIVER(driver_->copy_to_host(chunk.data(), first_ + bytes(), chunk.size()));
  const auto behind = std::find_if(chunk.begin(), chunk.end(), changed);
  if (behind != chunk.end()) {
    stray = range_.end + static_cast<std::uint64_t>(behind - chunk.begin());
    return CUDA_SUCCESS;
  }
  chunk.resize(leading());
  if (!chunk.empty()) KW_DRIVER(driver_->copy_to_host(chunk.data(), mapped_, chunk.size()));
  const auto before = std::find_if(chunk.rbegin(), chunk.rend(), changed);
  if (before != chunk.rend()) stray = range_.first - 1 - static_cast<std::uint64_t>(before - chunk.rbegin());
  return CUDA_SUCCESS;
}

}  // namespace kw::device::cuda
