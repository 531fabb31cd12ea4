#include "device/emulate/memory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/result.h"

namespace kw::device::emulate {
namespace {

constexpr std::size_t kStaticBytes = 48 << 10;  // that a kernel may declare
constexpr std::size_t kGap = 4096;              // between arrays: who runs past the end of one meets no other
constexpr std::size_t kMostArrays = 64;
constexpr std::size_t kAlignment = 128;

const char* verb(Access access) {
  constexpr const char* kVerbs[] = {"reads", "writes", "updates"};
  return kVerbs[static_cast<std::size_t>(access)];
}
const char* past(Access access) {
  constexpr const char* kVerbs[] = {"read", "wrote", "updated"};
  return kVerbs[static_cast<std::size_t>(access)];
}

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

std::string bytes_text(std::size_t n) { return n == 1 ? "1 byte" : fmt::format("{} bytes", n); }

}  // namespace

std::string text_of(Place place) {
  if (place.file == nullptr) return "an unknown line";
  const char* name = std::strrchr(place.file, '/');
  return fmt::format("{}:{}", name != nullptr ? name + 1 : place.file, place.line);
}

std::string text_of(Toucher who) { return fmt::format("thread {} of block {}", who.thread, who.block); }

void Memory::Release::operator()(std::byte* memory) const { std::free(memory); }

Memory::Memory() : places_(1) {}

void Memory::give(std::vector<GlobalBuffer> buffers) {
  buffers_.clear();
  last_ = nullptr;
  for (GlobalBuffer& global : buffers) {
    Buffer& buffer = buffers_.emplace_back();
    buffer.written.assign(global.bytes, global.input ? 1 : 0);
    buffer.global = std::move(global);
  }
}

std::optional<Finding> Memory::begin_launch(const std::vector<const void*>& pointers, std::size_t dynamic_bytes) {
  for (Buffer& buffer : buffers_) {
    const void* start = buffer.global.memory;
    buffer.in_call = std::find(pointers.begin(), pointers.end(), start) != pointers.end();
    if (buffer.in_call) buffer.shadow.begin(buffer.global.bytes);
  }
  shared_bytes_ = round_up(dynamic_bytes + kStaticBytes + (kMostArrays + 2) * kGap, kAlignment);
  shared_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, shared_bytes_)));
  KW_ASSERT(shared_ != nullptr, "there is memory for a block's shared memory");
  arrays_.clear();
  array_of_.clear();
  arrays_.push_back({"dynamic shared memory", kGap, dynamic_bytes, {}, {}});
  used_ = round_up(kGap + dynamic_bytes, kAlignment) + kGap;
  return std::nullopt;
}

void Memory::begin_block(std::size_t threads) {
  clock.begin((threads + kWarp - 1) / kWarp);
  for (SharedArray& array : arrays_) {
    array.shadow.begin(array.bytes);
    array.in_flight.assign(array.bytes, 0);
    std::memset(shared_.get() + array.first, 0xFF, array.bytes);  // not a number, in every floating type
  }
}

void* Memory::shared(const void* tag, std::size_t bytes, std::size_t alignment, const char* name) {
  const auto known = array_of_.find(tag);
  if (known != array_of_.end()) return shared_.get() + arrays_[known->second].first;
  const std::size_t first = round_up(used_, std::max(alignment, kAlignment));
  if (arrays_.size() > kMostArrays || first + bytes + kGap > shared_bytes_) return nullptr;
  array_of_[tag] = arrays_.size();
  used_ = first + bytes + kGap;
  SharedArray& array = arrays_.emplace_back(SharedArray{name, first, bytes, {}, {}});
  array.shadow.begin(bytes);
  array.in_flight.assign(bytes, 0);
  std::memset(shared_.get() + first, 0xFF, bytes);
  return shared_.get() + first;
}

Memory::Buffer* Memory::find_buffer(const std::byte* address) {
  const auto holds = [&](const Buffer& buffer) {
    return buffer.in_call && address >= buffer.global.memory && address < buffer.global.memory + buffer.global.bytes;
  };
  if (last_ != nullptr && holds(*last_)) return last_;
  for (Buffer& buffer : buffers_)
    if (holds(buffer)) return last_ = &buffer;
  return nullptr;
}

Memory::SharedArray* Memory::find_array(std::size_t byte) {
  for (SharedArray& array : arrays_)
    if (byte >= array.first && byte < array.first + array.bytes) return &array;
  return nullptr;
}

std::uint32_t Memory::number_of(Place place) {
  const auto mask = place_table_.size() - 1;
  const std::size_t mixed =
      (reinterpret_cast<std::size_t>(place.file) >> 3) * 31 + static_cast<std::size_t>(place.line);
  for (std::size_t at = mixed & mask;; at = (at + 1) & mask) {
    std::uint16_t& number = place_table_[at];
    if (number == 0) {
      if (places_.size() == Stamp::kPlaces) return 0;
      number = static_cast<std::uint16_t>(places_.size());
      places_.push_back(place);
      return number;
    }
    if (places_[number].file == place.file && places_[number].line == place.line) return number;
  }
}

Stamp Memory::stamp(Toucher who, Place place) { return {who.block, who.thread, clock.time, number_of(place)}; }

std::string Memory::where(const std::byte* address) const {
  if (is_shared(address)) {
    const auto byte = static_cast<std::size_t>(address - shared_.get());
    const SharedArray* nearest = nullptr;
    for (const SharedArray& array : arrays_)
      if (array.first <= byte) nearest = &array;
    if (nearest == nullptr) return "memory before the shared memory";
    const std::size_t at = byte - nearest->first;
    if (at < nearest->bytes) return fmt::format("byte {} of {}", at, nearest->name);
    return fmt::format("{} past the end of {} (of {})", bytes_text(at - nearest->bytes + 1), nearest->name,
                       bytes_text(nearest->bytes));
  }
  const Buffer* nearest = nullptr;
  std::size_t least = ~std::size_t{0};
  for (const Buffer& buffer : buffers_) {
    if (!buffer.in_call) continue;
    const std::byte *first = buffer.global.memory, *end = first + buffer.global.bytes;
    const std::size_t distance = static_cast<std::size_t>(address < first  ? first - address
                                                          : address >= end ? address - end + 1
                                                                           : 0);
    if (distance >= least) continue;
    least = distance;
    nearest = &buffer;
  }
  if (nearest == nullptr || least > std::size_t{1} << 30) return "memory outside all buffers";
  const std::ptrdiff_t at = address - nearest->global.memory;
  if (least == 0) return fmt::format("byte {} of {}", at, nearest->global.name);
  return at < 0 ? fmt::format("{} before the start of {}", bytes_text(least), nearest->global.name)
                : fmt::format("{} past the end of {}", bytes_text(least), nearest->global.name);
}

Finding Memory::outside(const std::byte* address, std::size_t bytes, Access access, Toucher who, Place place) const {
  const std::byte* first_wrong = address;  // of an access that begins inside
  if (is_shared(address)) {
    for (const SharedArray& array : arrays_) {
      const std::byte *first = shared_.get() + array.first, *end = first + array.bytes;
      if (address >= first && address < end && address + bytes > end) first_wrong = end;
    }
  } else {
    for (const Buffer& buffer : buffers_) {
      const std::byte *first = buffer.global.memory, *end = first + buffer.global.bytes;
      if (buffer.in_call && address >= first && address < end && address + bytes > end) first_wrong = end;
    }
  }
  return {"out of bounds",
          fmt::format("{} {} {} at {}", text_of(who), verb(access), where(first_wrong), text_of(place))};
}

Finding Memory::race(const Shadow::Conflict& conflict, const std::string& where, Access access, Toucher who,
                     Place place) const {
  const Stamp earlier = conflict.earlier;
  const bool between_blocks = earlier.block() != who.block;
  return {between_blocks ? "race between blocks" : "race between threads",
          fmt::format("{} {} {} at {}, which {} {} at {}: {}", text_of(who), verb(access), where, text_of(place),
                      between_blocks ? text_of(Toucher{earlier.block(), earlier.thread()})
                                     : fmt::format("thread {}", earlier.thread()),
                      past(conflict.earlier_access), text_of(places_[earlier.place()]),
                      between_blocks ? "nothing orders the blocks of a launch" : "no barrier lies between")};
}

std::optional<Finding> Memory::touch_shared(const std::byte* address, std::size_t bytes, Access access, Toucher who,
                                            Place place) {
  SharedArray* array = find_array(static_cast<std::size_t>(address - shared_.get()));
  if (array == nullptr || address + bytes > shared_.get() + array->first + array->bytes)
    return outside(address, bytes, access, who, place);
  const std::size_t first = static_cast<std::size_t>(address - shared_.get()) - array->first;
  for (std::size_t byte = first; byte < first + bytes; ++byte) {
    if (array->in_flight[byte] != 0)
      return Finding{"copy not waited for", fmt::format("{} {} byte {} of {} at {}, to where a copy is under way",
                                                        text_of(who), verb(access), byte, array->name, text_of(place))};
    if (access != Access::Write && !array->shadow.written(byte))
      return Finding{"uninitialised read", fmt::format("{} {} byte {} of {} at {}, which nothing wrote before",
                                                       text_of(who), verb(access), byte, array->name, text_of(place))};
  }
  if (const auto conflict = array->shadow.note(first, bytes, access, stamp(who, place), clock))
    return race(*conflict, fmt::format("byte {} of {}", conflict->byte, array->name), access, who, place);
  return std::nullopt;
}

std::optional<Finding> Memory::touch_global(const std::byte* address, std::size_t bytes, Access access, Toucher who,
                                            Place place) {
  Buffer* buffer = find_buffer(address);
  if (buffer == nullptr || address + bytes > buffer->global.memory + buffer->global.bytes)
    return outside(address, bytes, access, who, place);
  if (access != Access::Read && !buffer->global.writable)
    return Finding{"write to an input",
                   fmt::format("{} {} {} at {}", text_of(who), verb(access), where(address), text_of(place))};
  const auto first = static_cast<std::size_t>(address - buffer->global.memory);
  if (const auto conflict = buffer->shadow.note(first, bytes, access, stamp(who, place), clock))
    return race(*conflict, fmt::format("byte {} of {}", conflict->byte, buffer->global.name), access, who, place);
  for (std::size_t byte = first; byte < first + bytes; ++byte) {
    if (access == Access::Write) {
      buffer->written[byte] = 1;
    } else if (buffer->written[byte] == 0) {
      return Finding{"uninitialised read",
                     fmt::format("{} {} byte {} of {} at {}, which nothing wrote before", text_of(who), verb(access),
                                 byte, buffer->global.name, text_of(place))};
    }
  }
  return std::nullopt;
}

std::optional<Finding> Memory::touch(const void* address, std::size_t bytes, std::size_t alignment, Access access,
                                     Toucher who, Place place) {
  const auto* first = static_cast<const std::byte*>(address);
  auto wrong = is_shared(first) ? touch_shared(first, bytes, access, who, place)
                                : touch_global(first, bytes, access, who, place);
  if (!wrong && reinterpret_cast<std::uintptr_t>(address) % alignment != 0)
    return Finding{"misaligned access",
                   fmt::format("{} {} {} as one at {} at {}, an address that {} does not divide", text_of(who),
                               verb(access), bytes_text(bytes), where(first), text_of(place), alignment)};
  return wrong;
}

std::optional<Finding> Memory::begin_copy(const void* to, std::size_t bytes, Toucher who, Place place) {
  const auto* address = static_cast<const std::byte*>(to);
  if (!is_shared(address))
    return Finding{"out of bounds", fmt::format("{} copies to {} at {}, which is not shared", text_of(who),
                                                where(address), text_of(place))};
  if (auto wrong = touch_shared(address, bytes, Access::Write, who, place)) return wrong;
  SharedArray* array = find_array(static_cast<std::size_t>(address - shared_.get()));
  const std::size_t first = static_cast<std::size_t>(address - shared_.get()) - array->first;
  std::fill_n(array->in_flight.begin() + static_cast<std::ptrdiff_t>(first), bytes, std::uint8_t{1});
  std::memset(shared_.get() + array->first + first, 0xFF, bytes);
  return std::nullopt;
}

std::optional<Finding> Memory::land_copy(void* to, const void* from, std::size_t bytes, Toucher who, Place place) {
  auto* address = static_cast<std::byte*>(to);
  SharedArray* array = find_array(static_cast<std::size_t>(address - shared_.get()));
  const std::size_t first = static_cast<std::size_t>(address - shared_.get()) - array->first;
  std::fill_n(array->in_flight.begin() + static_cast<std::ptrdiff_t>(first), bytes, std::uint8_t{0});
  if (auto wrong = touch(from, bytes, 1, Access::Read, who, place)) return wrong;
  if (auto wrong = touch_shared(address, bytes, Access::Write, who, place)) return wrong;
  std::memcpy(to, from, bytes);
  return std::nullopt;
}

void Memory::fill(const void* address, std::size_t bytes) {
  for (Buffer& buffer : buffers_)
    if (buffer.global.memory == address)
      std::fill_n(buffer.written.begin(), std::min(bytes, buffer.global.bytes), std::uint8_t{1});
}

std::optional<Finding> Memory::unwritten() const {
  for (const Buffer& buffer : buffers_) {
    const GlobalBuffer& global = buffer.global;
    if (!global.output) continue;
    std::int64_t elements = 1;
    for (const std::int64_t size : global.shape) elements *= size;
    std::vector<std::int64_t> index(global.shape.size(), 0), first;
    std::int64_t missing = 0;
    for (std::int64_t i = 0; i < elements; ++i) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * global.strides[d];
      const auto begin = buffer.written.begin() + at * static_cast<std::int64_t>(global.element_bytes);
      const bool whole = std::all_of(begin, begin + static_cast<std::int64_t>(global.element_bytes),
                                     [](std::uint8_t written) { return written != 0; });
      if (!whole && missing++ == 0) first = index;
      for (std::size_t d = index.size(); d-- > 0;) {
        if (++index[d] < global.shape[d]) break;
        index[d] = 0;
      }
    }
    if (missing > 0)
      return Finding{"unwritten output", fmt::format("{} of {} elements of {} were never written, the first at [{}]",
                                                     missing, elements, global.name, fmt::join(first, ", "))};
  }
  return std::nullopt;
}

}  // namespace kw::device::emulate
