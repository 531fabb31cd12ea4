// The emulated twin of runtime/cuda/memory.h: every access is checked, and a copy lands when it is waited for.
#pragma once

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "element.h"

// From an address to the end of the variable that it is in, where the compiler can tell; else more than there can be.
#if defined(__has_builtin) && __has_builtin(__builtin_dynamic_object_size)
#define KW_BYTES_FROM(address) __builtin_dynamic_object_size(address, 0)
#else
#define KW_BYTES_FROM(address) __builtin_object_size(address, 0)
#endif
#define KW_INLINE __attribute__((always_inline)) inline  // only so can the compiler tell

namespace kw {

template <class T>
KW_DEVICE T load(const T* from, emulate::Place place = KW_PLACE) {
  return emulate::get(from, place);
}
template <class T>
KW_DEVICE void store(T* to, std::type_identity_t<T> value, emulate::Place place = KW_PLACE) {
  emulate::put(to, value, place);
}

// What was not loaded is not a number. An element beyond the vector, or a vector beyond a thread's own array of them,
// is a crash: the compiler's check of bounds lets the first one past the end through, since it sees its address taken.
template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vector {
  T elements[N];
  Vector() { std::memset(static_cast<void*>(elements), 0xff, sizeof(elements)); }
  Vector(std::initializer_list<T> values) { std::copy(values.begin(), values.end(), elements); }
  Vector(const Vector& other) { std::memcpy(static_cast<void*>(elements), other.elements, sizeof(elements)); }
  KW_INLINE Vector& operator=(const Vector& other) {
    is_there();
    std::memcpy(static_cast<void*>(elements), other.elements, sizeof(elements));
    return *this;
  }
  // Halves are taken out and put in, as on a GPU: there are no references to them.
  static constexpr bool kPairs = is_half<T> && N % 2 == 0;
  struct Element {
    T& element;
    KW_INLINE T value() const { return element; }
    KW_INLINE void operator=(T value) { element = value; }
    KW_INLINE void operator=(const Element& other) { element = other.element; }
    KW_INLINE operator float() const { return element; }
  };
  KW_INLINE std::conditional_t<kPairs, Element, T&> operator[](int i) { return {at(i)}; }
  KW_INLINE T operator[](int i) const { return is_there(), within(i), elements[i]; }
  KW_INLINE uint32_t pair(int i) const {
    return static_cast<uint32_t>((*this)[2 * i + 1].bits) << 16 | (*this)[2 * i].bits;
  }
  KW_INLINE void set_pair(int i, uint32_t word) {
    at(2 * i).bits = static_cast<uint16_t>(word);
    at(2 * i + 1).bits = static_cast<uint16_t>(word >> 16);
  }

 private:
  KW_INLINE T& at(int i) { return is_there(), within(i), elements[i]; }
  KW_INLINE static void within(int i) {
    if (i < 0 || i >= N) __builtin_trap();
  }
  KW_INLINE void is_there() const {
    if (KW_BYTES_FROM(this) < sizeof(Vector)) __builtin_trap();
  }
};

template <class T, class Element>
KW_DEVICE auto store(T* to, const Element& element, emulate::Place place = KW_PLACE)
    -> decltype(void(element.value())) {
  emulate::put(to, element.value(), place);
}

template <int N, class T>
KW_DEVICE Vector<T, N> load_vector(const T* from, emulate::Place place = KW_PLACE) {
  return emulate::get(reinterpret_cast<const Vector<T, N>*>(from), place);
}
template <int N, class T>
KW_DEVICE void store_vector(T* to, const Vector<T, N>& value, emulate::Place place = KW_PLACE) {
  emulate::put(reinterpret_cast<Vector<T, N>*>(to), value, place);
}

// Caches change nothing here.
template <int N, class T>
KW_DEVICE Vector<T, N> load_vector_once(const T* from, emulate::Place place = KW_PLACE) {
  return load_vector<N>(from, place);
}
template <int N, class T>
KW_DEVICE void store_vector_streaming(T* to, const Vector<T, N>& value, emulate::Place place = KW_PLACE) {
  store_vector(to, value, place);
}
template <class T>
KW_DEVICE T load_once(const T* from, emulate::Place place = KW_PLACE) {
  return load(from, place);
}
template <class T>
KW_DEVICE void store_streaming(T* to, T value, emulate::Place place = KW_PLACE) {
  store(to, value, place);
}

// Here every element is read by itself.
template <int N, class T, class Index>
KW_DEVICE Vector<T, N> load_anywhere(const T* row, Index element, Index, emulate::Place place = KW_PLACE) {
  Vector<T, N> value;
  for (int k = 0; k < N; ++k) value[k] = load(row + element + k, place);
  return value;
}

template <int N, class T>
KW_DEVICE void copy_async(Shared<Vector<T, N>> to, const T* from, bool wanted = true, emulate::Place place = KW_PLACE) {
  static_assert(sizeof(Vector<T, N>) >= 4, "a copy has at least 4 bytes");
  if (wanted) emulate::engine->copy_begin(to.address(), from, sizeof(Vector<T, N>), place);
}
KW_DEVICE void copy_commit() { emulate::engine->copy_commit(); }
template <int kGroups>
KW_DEVICE void copy_wait(emulate::Place place = KW_PLACE) {
  emulate::engine->copy_wait(kGroups, place);
}
template <class Index>
KW_DEVICE void copy_wait_but(Index groups, emulate::Place place = KW_PLACE) {
  emulate::engine->copy_wait(groups < 3 ? static_cast<int>(groups) : 3, place);
}

template <class T>
KW_DEVICE void add_atomically(T* to, T value, emulate::Place place = KW_PLACE) {
  emulate::engine->touch(to, sizeof(T), alignof(T), emulate::Access::Atomic, place);
  *to = static_cast<T>(*to + value);
}

}  // namespace kw
