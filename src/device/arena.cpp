#include "device/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "kernel/layout.h"

namespace kw::device {
namespace {

constexpr std::uint64_t kPage = 4096;  // the least that a machine may have; a larger page only widens the fences
constexpr std::uint64_t kFence = 64 * kPage;
constexpr std::uint64_t kLarge = std::uint64_t{1} << 20;
constexpr std::uint64_t kLargestArena = std::uint64_t{1} << 46;

// No byte of a pattern is like its neighbours, so that a copy of a row over its edge shows too.
std::byte guard_byte(std::uint64_t offset) {
  return static_cast<std::byte>(0xA5 ^ (offset * 0x9E3779B97F4A7C15u >> 56));
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

std::string Arena::Place::text() const {
  if (region == nullptr) return "no buffer at all";
  const auto size = static_cast<std::int64_t>(region->bytes);
  if (byte < 0) return fmt::format("{} {} before the start of {}", -byte, byte == -1 ? "byte" : "bytes", region->name);
  if (byte >= size)
    return fmt::format("{} {} past the end of {}", byte - size + 1, byte == size ? "byte" : "bytes", region->name);
  return fmt::format("byte {} of {}", byte, region->name);
}

Arena::Arena(Arena&& other) noexcept { *this = std::move(other); }

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(regions_, other.regions_);
  std::swap(aliases_, other.aliases_);
  std::swap(size_, other.size_);
  std::swap(identity_, other.identity_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(memory_, other.memory_);
  return *this;
}

Arena::~Arena() {
  if (memory_ != nullptr) ::munmap(memory_, size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

const Arena::Region* Arena::find(const std::string& name) const {
  std::string wanted = name;
  for (const auto& [alias, of] : aliases_)
    if (alias == name) wanted = of;
  const auto found = std::find_if(regions_.begin(), regions_.end(), [&](const Region& r) { return r.name == wanted; });
  return found == regions_.end() ? nullptr : &*found;
}

Status Arena::add(const std::string& name, kernel::Tensor tensor, Access access) {
  return add(name, std::move(tensor), access, Placement{});
}

Status Arena::add(const std::string& name, kernel::Tensor tensor, Access access, Placement placement) {
  KW_ASSERT(memory_ == nullptr && find(name) == nullptr, "a buffer is placed once, before anything is allocated");
  const std::optional<std::int64_t> elements = kernel::storage_elements(tensor);
  std::int64_t count = 0;
  if (!elements || __builtin_mul_overflow(*elements, ir::info(tensor.dtype).bytes, &count) ||
      static_cast<std::uint64_t>(count) > kLargestArena - size_)
    return bad_input(fmt::format("{} is larger than any memory", name));
  const auto bytes = static_cast<std::uint64_t>(count);
  // Large buffers lie as PyTorch's do on a GPU, where it matters to their speed; small ones end close to their fence.
  if (placement.alignment == 0) placement.alignment = bytes < kLarge ? 64 : 512;
  const auto alignment = static_cast<std::uint64_t>(placement.alignment);
  KW_ASSERT(alignment > 0 && kPage % alignment == 0 && placement.misalignment >= 0 &&
                placement.misalignment < placement.alignment,
            "an alignment divides a page, and misalignment is less");
  const auto misalignment = static_cast<std::uint64_t>(placement.misalignment);

  Region region{name, std::move(tensor), access, 0, 0, 0, bytes, placement.at_start};
  region.first_page = size_ + kFence;
  if (placement.at_start) {
    region.offset = region.first_page + misalignment;
    region.end_page = round_up(region.offset + std::max<std::uint64_t>(bytes, 1), kPage);
  } else {
    // The smallest number of pages in which the buffer, moved back from the end to its alignment, still begins.
    const std::uint64_t room = round_up(bytes + misalignment, alignment) + alignment;
    region.end_page = region.first_page + round_up(room, kPage);
    const std::uint64_t latest = region.end_page - std::max<std::uint64_t>(bytes, 1);
    region.offset = (latest - misalignment) / alignment * alignment + misalignment;
  }
  region.tensor.address = region.offset;
  size_ = region.end_page + kFence;
  regions_.push_back(std::move(region));
  return {};
}

Status Arena::add_alias(const std::string& name, const std::string& of) {
  const Region* region = find(of);
  KW_ASSERT(region != nullptr && region->access == Access::Write, "an alias takes the memory of a writable buffer");
  aliases_.emplace_back(name, of);
  return {};
}

Status Arena::allocate() {
  KW_ASSERT(memory_ == nullptr, "an arena is allocated once");
  size_ = std::max(size_, kPage);
  descriptor_ = ::memfd_create("kw-arena", MFD_CLOEXEC);
  void* memory = MAP_FAILED;
  if (descriptor_ >= 0 && ::ftruncate(descriptor_, static_cast<off_t>(size_)) == 0)
    memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (memory == MAP_FAILED)
    return fail(ErrorKind::MissingTool, fmt::format("cannot share {} bytes of memory: {}", size_, std::strerror(errno)),
                "use smaller shapes, or a machine with more memory");
  memory_ = static_cast<std::byte*>(memory);
  static std::atomic<std::uint64_t> count = 0;
  identity_ = ++count;
  guard();
  return {};
}

std::map<std::string, kernel::Tensor> Arena::tensors() const {
  std::map<std::string, kernel::Tensor> tensors;
  for (const Region& region : regions_) tensors[region.name] = region.tensor;
  for (const auto& [name, of] : aliases_) tensors[name] = find(of)->tensor;
  return tensors;
}

std::span<std::byte> Arena::bytes(const std::string& name) {
  const Region* region = find(name);
  KW_ASSERT(memory_ != nullptr && region != nullptr, "the buffer was placed and the arena allocated");
  return {memory_ + region->offset, region->bytes};
}

std::span<const std::byte> Arena::bytes(const std::string& name) const { return const_cast<Arena*>(this)->bytes(name); }

void Arena::poison(const std::string& name, std::uint8_t pattern) {
  const std::span<std::byte> all = bytes(name);
  std::fill(all.begin(), all.end(), static_cast<std::byte>(pattern));
}

void Arena::guard() {
  for (const Region& region : regions_) {
    for (std::uint64_t i = region.first_page; i < region.offset; ++i) memory_[i] = guard_byte(i);
    for (std::uint64_t i = region.offset + region.bytes; i < region.end_page; ++i) memory_[i] = guard_byte(i);
  }
}

std::optional<Arena::Place> Arena::stray() const {
  for (const Region& region : regions_) {
    const auto found = [&](std::uint64_t i) {
      return Place{&region, static_cast<std::int64_t>(i) - static_cast<std::int64_t>(region.offset)};
    };
    for (std::uint64_t i = region.offset + region.bytes; i < region.end_page; ++i)
      if (memory_[i] != guard_byte(i)) return found(i);
    for (std::uint64_t i = region.first_page; i < region.offset; ++i)
      if (memory_[i] != guard_byte(i)) return found(i);
  }
  return std::nullopt;
}

Arena::Place Arena::place_of(std::uint64_t offset) const {
  Place nearest;
  std::uint64_t least = ~std::uint64_t{0};
  for (const Region& region : regions_) {
    const std::uint64_t end = region.offset + region.bytes;
    const std::uint64_t distance = offset < region.offset ? region.offset - offset : offset >= end ? offset - end : 0;
    if (distance >= least) continue;
    least = distance;
    nearest = {&region, static_cast<std::int64_t>(offset) - static_cast<std::int64_t>(region.offset)};
  }
  return nearest;
}

}  // namespace kw::device
