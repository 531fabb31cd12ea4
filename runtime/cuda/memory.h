// Memory: every access of a kernel to a tensor, one element or a vector of neighbours at a time, and copies that run
// beside it. `_once` is for what no thread reads again: it does not push other data out of the caches; `_streaming` for
// what the kernel writes and does not read.
#pragma once

#include "element.h"

namespace kw {

template <class T>
KW_DEVICE T load(const T* from) {
  return *from;
}
template <class T>
struct element_of {
  using type = T;
};
template <class T>
KW_DEVICE void store(T* to, typename element_of<T>::type value) {
  *to = value;
}

// N neighbours. In memory they are aligned to their size, or to 16 bytes where they are more.
template <class T, int N, bool kPairs = (N % 2 == 0 && is_half<T>)>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vector {
  T elements[N];
  KW_DEVICE T& operator[](int i) { return elements[i]; }
  KW_DEVICE const T& operator[](int i) const { return elements[i]; }
};
// Halves lie in words of two: they are moved as words, and each is taken out by one instruction.
template <class T, int N>
struct alignas(2 * N < 16 ? 2 * N : 16) Vector<T, N, true> {
  uint32_t words[N / 2];
  KW_DEVICE T operator[](int i) const {
    T element;
    element.bits = static_cast<uint16_t>(words[i / 2] >> (i % 2 * 16));
    return element;
  }
  struct Element {
    uint32_t& word;
    int shift;
    KW_DEVICE T value() const {
      T element;
      element.bits = static_cast<uint16_t>(word >> shift);
      return element;
    }
    KW_DEVICE void operator=(T value) {
      word = (word & (0xffff0000u >> shift)) | (static_cast<uint32_t>(value.bits) << shift);
    }
    KW_DEVICE void operator=(const Element& other) { *this = other.value(); }
    KW_DEVICE operator float() const { return value(); }
  };
  KW_DEVICE Element operator[](int i) { return {words[i / 2], i % 2 * 16}; }
  KW_DEVICE uint32_t pair(int i) const { return words[i]; }
  KW_DEVICE void set_pair(int i, uint32_t word) { words[i] = word; }
};
// An element of such a vector, where it lies alone.
template <class T, class Element>
KW_DEVICE auto store(T* to, const Element& element) -> decltype(void(element.value())) {
  *to = element.value();
}

// What the machine moves at once.
template <int kBytes>
struct word_of;
template <>
struct word_of<1> {
  using type = unsigned char;
};
template <>
struct word_of<2> {
  using type = unsigned short;
};
template <>
struct word_of<4> {
  using type = unsigned int;
};
template <>
struct word_of<8> {
  using type = uint2;
};
template <>
struct word_of<16> {
  using type = uint4;
};
template <class V>
struct Words {
  static constexpr int kBytes = sizeof(V) < 16 ? sizeof(V) : 16, kCount = sizeof(V) / kBytes;
  using Word = typename word_of<kBytes>::type;
  Word words[kCount];
};

template <int N, class T>
KW_DEVICE Vector<T, N> load_vector(const T* from) {
  return *reinterpret_cast<const Vector<T, N>*>(from);
}
template <int N, class T>
KW_DEVICE Vector<T, N> load_vector_once(const T* from) {
  using W = Words<Vector<T, N>>;
  Vector<T, N> value;
  W& words = *reinterpret_cast<W*>(&value);
  KW_UNROLL
  for (int i = 0; i < W::kCount; ++i) words.words[i] = __ldcs(reinterpret_cast<const typename W::Word*>(from) + i);
  return value;
}
template <int N, class T>
KW_DEVICE void store_vector(T* to, const Vector<T, N>& value) {
  *reinterpret_cast<Vector<T, N>*>(to) = value;
}
template <int N, class T>
KW_DEVICE void store_vector_streaming(T* to, const Vector<T, N>& value) {
  using W = Words<Vector<T, N>>;
  const W& words = *reinterpret_cast<const W*>(&value);
  KW_UNROLL
  for (int i = 0; i < W::kCount; ++i) __stcs(reinterpret_cast<typename W::Word*>(to) + i, words.words[i]);
}
template <class T>
KW_DEVICE T load_once(const T* from) {
  return load_vector_once<1>(from)[0];
}
template <class T>
KW_DEVICE void store_streaming(T* to, T value) {
  store_vector_streaming<1>(to, Vector<T, 1>{{value}});
}

// N neighbours from `first` on, of 2 * N that are in two vectors.
template <int N, class T>
KW_DEVICE Vector<T, N> neighbours(const Vector<T, N>& low, const Vector<T, N>& high, int first) {
  constexpr int kWords = sizeof(low) / 4;
  uint32_t words[2 * kWords + 1];
  KW_UNROLL
  for (int i = 0; i < kWords; ++i) {
    words[i] = reinterpret_cast<const uint32_t*>(&low)[i];
    words[kWords + i] = reinterpret_cast<const uint32_t*>(&high)[i];
  }
  words[2 * kWords] = 0;
  const int bytes = first * static_cast<int>(sizeof(T));
  KW_UNROLL
  for (int step = 1; step < kWords; step *= 2)
    if (bytes & (4 * step)) {
      KW_UNROLL
      for (int i = 0; i + step < 2 * kWords; ++i) words[i] = words[i + step];
    }
  Vector<T, N> value;
  KW_UNROLL
  for (int i = 0; i < kWords; ++i)
    reinterpret_cast<uint32_t*>(&value)[i] = __funnelshift_r(words[i], words[i + 1], bytes % 4 * 8);
  return value;
}

// N neighbours that are all in a row of `end` elements, wherever they and the row begin.
template <int N, class T, class Index>
KW_DEVICE Vector<T, N> load_anywhere(const T* row, Index element, Index end) {
  const uint32_t begins = static_cast<uint32_t>(reinterpret_cast<uint64_t>(row) / sizeof(T));
  const int beyond = static_cast<int>((begins + static_cast<uint32_t>(element)) % N);
  const Index first = element - beyond;  // of the vector in memory that has the element
  if (sizeof(T) * N % 4 == 0 && first >= 0 && first + 2 * N <= end)
    return neighbours(load_vector<N>(row + first), load_vector<N>(row + first + N), beyond);
  Vector<T, N> value;
  KW_UNROLL
  for (int k = 0; k < N; ++k) value[k] = load(row + element + k);
  return value;
}

// A copy of 4, 8 or 16 bytes (or several times 16) from a tensor into shared memory that goes on while the thread does,
// where it is wanted: a predicate, not a branch, so that its address is computed beside others'. `copy_commit` ends a
// group of copies; `copy_wait<n>` waits until all but the last n groups of this thread have landed. Other threads see
// them after a barrier.
template <int N, class T>
KW_DEVICE void copy_async(Shared<Vector<T, N>> to, const T* from, bool wanted = true) {
  using W = Words<Vector<T, N>>;
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  KW_UNROLL
  for (int i = 0; i < W::kCount; ++i) {
    const char* source = reinterpret_cast<const char*>(from) + i * W::kBytes;
    if constexpr (W::kBytes == 16)
      asm volatile(
          "{ .reg .pred wanted; setp.ne.b32 wanted, %2, 0; @wanted cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(
              shared + i * 16),
          "l"(source), "r"(static_cast<int>(wanted))
          : "memory");
    else
      asm volatile(
          "{ .reg .pred wanted; setp.ne.b32 wanted, %3, 0; @wanted cp.async.ca.shared.global [%0], [%1], %2; }" ::"r"(
              shared),
          "l"(source), "n"(W::kBytes), "r"(static_cast<int>(wanted))
          : "memory");
  }
}
KW_DEVICE void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kGroups>
KW_DEVICE void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

// Likewise of a number of groups that is not known before.
template <class Index>
KW_DEVICE void copy_wait_but(Index groups) {
  if (groups == 0)
    copy_wait<0>();
  else if (groups == 1)
    copy_wait<1>();
  else if (groups == 2)
    copy_wait<2>();
  else
    copy_wait<3>();
}

// For profiles that allow sums in any order.
template <class T>
KW_DEVICE void add_atomically(T* to, T value) {
  atomicAdd(to, value);
}

}  // namespace kw
