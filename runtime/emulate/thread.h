// The emulated twin of runtime/cuda/thread.h: the same names, carried by the engine that runs the kernel on the CPU.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "engine.h"

#define KW_KERNEL(max_threads, min_blocks) extern "C"
#define KW_DEVICE inline
#define KW_SHARED(type, name, count)   \
  static const char kw_tag_##name = 0; \
  const kw::Shared<type> name = kw::emulate::shared_array<type>(&kw_tag_##name, count, #name)
#define KW_UNROLL
#define KW_ROLLED
#define KW_PLACE kw::emulate::Place::here()

using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::int8_t;
using std::size_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

namespace kw {

namespace emulate {
inline Engine* engine = nullptr;  // set before the first thread runs
}
KW_DEVICE int thread() { return static_cast<int>(emulate::engine->thread[0]); }
KW_DEVICE int threads() { return static_cast<int>(emulate::engine->threads[0]); }
KW_DEVICE int lane() { return thread() % 32; }
KW_DEVICE int warp() { return thread() / 32; }
KW_DEVICE int warps() { return threads() / 32; }
KW_DEVICE int block() { return static_cast<int>(emulate::engine->block[0]); }
KW_DEVICE int blocks() { return static_cast<int>(emulate::engine->blocks[0]); }
template <class Index>
KW_DEVICE Index anew(Index number) {
  return number;
}
template <bool kFull, class Index>
KW_DEVICE Index lane_anew(Index lane) {
  return kFull ? static_cast<Index>(thread()) : lane;
}

namespace emulate {

// Memory as it is: neither tracked nor checked, and free of the language's rules about types.
template <class T>
inline T get(const T* from, Place place, size_t alignment = alignof(T)) {
  engine->touch(from, sizeof(T), alignment, Access::Read, place);
  T value;
  __builtin_memcpy(static_cast<void*>(&value), from, sizeof(T));
  return value;
}
template <class T>
inline void put(T* to, const T& value, Place place, size_t alignment = alignof(T)) {
  engine->touch(to, sizeof(T), alignment, Access::Write, place);
  __builtin_memcpy(static_cast<void*>(to), &value, sizeof(T));
}

// An index, and the line that it stands in.
struct Index {
  int64_t value;
  Place place;
  template <class Integer>
  Index(Integer i, Place at = KW_PLACE) : value(static_cast<int64_t>(i)), place(at) {}
};

}  // namespace emulate

// An element of shared memory.
template <class T>
class SharedElement {
 public:
  SharedElement(T* at, emulate::Place place) : at_(at), place_(place) {}
  SharedElement(const SharedElement&) = default;
  operator T() const { return emulate::get(at_, place_); }
  const SharedElement& operator=(const T& value) const {
    emulate::put(at_, value, place_);
    return *this;
  }
  const SharedElement& operator=(const SharedElement& other) const { return *this = static_cast<T>(other); }
  const SharedElement& operator+=(const T& value) const {
    return *this = static_cast<T>(static_cast<T>(*this) + value);
  }
  const SharedElement& operator-=(const T& value) const {
    return *this = static_cast<T>(static_cast<T>(*this) - value);
  }
  const SharedElement& operator*=(const T& value) const {
    return *this = static_cast<T>(static_cast<T>(*this) * value);
  }
  // Of a vector.
  auto operator[](emulate::Index i) const requires requires(T vector) { vector.elements; }
  {
    using Element = std::remove_extent_t<decltype(T::elements)>;
    return SharedElement<Element>(reinterpret_cast<Element*>(at_) + i.value, i.place);
  }

 private:
  T* at_;
  emulate::Place place_;
};

template <class T>
class Shared {
 public:
  explicit Shared(T* first) : first_(first) {}
  Shared(std::nullptr_t) : first_(nullptr) {}  // none
  SharedElement<T> operator[](emulate::Index i) const { return {first_ + i.value, i.place}; }
  SharedElement<T> operator*() const { return {first_, {}}; }
  Shared operator+(int64_t elements) const { return Shared(first_ + elements); }
  T* address() const { return first_; }

 private:
  T* first_;
};

namespace emulate {
template <class T>
inline Shared<T> shared_array(const void* tag, size_t count, const char* name) {
  return Shared<T>(static_cast<T*>(engine->shared(tag, count * sizeof(T), alignof(T), name)));
}
}  // namespace emulate

template <class T>
KW_DEVICE Shared<T> dynamic_shared(int bytes = 0) {
  return Shared<T>(reinterpret_cast<T*>(static_cast<char*>(emulate::engine->dynamic_shared()) + bytes));
}
KW_DEVICE int dynamic_bytes() { return static_cast<int>(emulate::engine->dynamic_bytes()); }

KW_DEVICE void barrier(emulate::Place place = KW_PLACE) { emulate::engine->barrier(place); }
KW_DEVICE void warp_barrier(emulate::Place place = KW_PLACE) { emulate::engine->warp_barrier(place); }

template <class T>
KW_DEVICE T shuffle_xor(T value, int mask, emulate::Place place = KW_PLACE) {
  T result;
  emulate::engine->exchange(&value, &result, sizeof(T), static_cast<uint32_t>(lane() ^ mask), place);
  return result;
}
template <class T>
KW_DEVICE T shuffle_down(T value, int distance, emulate::Place place = KW_PLACE) {
  T result;
  const int from = lane() + distance;  // past the last lane each has its own value
  emulate::engine->exchange(&value, &result, sizeof(T), static_cast<uint32_t>(from < 32 ? from : lane()), place);
  return result;
}

}  // namespace kw
