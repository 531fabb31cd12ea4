// What the threads of a row keep: sums that ride along while a block goes from row to row, and how long a vector is.
#pragma once

#include "memory.h"
#include "reduction.h"

namespace kw {

// Neighbours that one access moves: as many of the narrowest type as fill 16 bytes, and never more than 8.
template <class... Types>
KW_DEVICE constexpr int vector_length() {
  int narrowest = 16;
  ((narrowest = sizeof(Types) < narrowest ? static_cast<int>(sizeof(Types)) : narrowest), ...);
  return 16 / narrowest < 8 ? 16 / narrowest : 8;
}

// Elements of the widest type that fill so many bytes, at most kMost.
template <int kMost, int kBytes, class... Types>
KW_DEVICE constexpr int elements_in() {
  int widest = 1;
  ((widest = sizeof(Types) > widest ? static_cast<int>(sizeof(Types)) : widest), ...);
  return kBytes / widest < kMost ? kBytes / widest : kMost;
}

// What a sum over several tiles of terms is kept in: tiles of a long row are added in double.
template <bool kLong, class T>
using Total = typename choice_of<kLong && is_same<T, float>, double, T>::type;

// Where the sums of a thread's own columns are while it goes from row to row.
enum class Place { Registers, Shared, Memory };

// Sums over rows, one for every column, of which each thread has its own: columns
// ((tile * kVectors + v) * lanes + lane) * kVector + k. In registers and in shared memory a row is one tile.
// Where they are added atomically, all blocks have one slice, which is zero at the start.
template <class T, int kVector, int kVectors, Place kPlace, bool kAtomic = false>
class Sums {
 public:
  // `slice` is the block's own part of the workspace. Dynamic shared memory from `offset` on has room for
  // kVectors * kVector * threads() sums, where they are kept there or several groups of threads have rows of their own.
  KW_DEVICE Sums(T* slice, int offset, int64_t columns) : slice_(slice), offset_(offset), columns_(columns) {
    if constexpr (kPlace == Place::Memory && kAtomic) {
    } else if constexpr (kPlace == Place::Memory) {
      for (int64_t i = thread(); i < columns; i += threads()) store(slice + i, T(0));
      barrier();
    } else {
      KW_UNROLL
      for (int i = 0; i < kVectors * kParts; ++i) {
        Packet zero;
        KW_UNROLL
        for (int k = 0; k < kPacket; ++k) zero[k] = 0;
        set(i, zero);
      }
    }
  }
  KW_DEVICE void add(int v, int64_t column, const Vector<T, kVector>& terms) {
    KW_UNROLL
    for (int p = 0; p < kParts; ++p) {
      T* const place = slice_ + column + p * kPacket;
      if constexpr (kPlace == Place::Memory && kAtomic) {
        KW_UNROLL
        for (int k = 0; k < kPacket; ++k) add_atomically(place + k, terms[p * kPacket + k]);
        continue;
      }
      Packet sums;
      if constexpr (kPlace == Place::Memory)
        sums = load_vector<kPacket>(place);
      else
        sums = get(v * kParts + p);
      KW_UNROLL
      for (int k = 0; k < kPacket; ++k) sums[k] += terms[p * kPacket + k];
      if constexpr (kPlace == Place::Memory)
        store_vector<kPacket>(place, sums);
      else
        set(v * kParts + p, sums);
    }
  }
  // Writes the sums of all `groups` of `lanes` threads.
  KW_DEVICE void finish(int lane, int lanes, int groups) {
    if constexpr (kPlace == Place::Memory) return;
    if (groups > 1) barrier();  // the room may hold other sums, or rows
    const Shared<T> room = dynamic_shared<T>(offset_);
    const int group = thread() / lanes;
    KW_UNROLL
    for (int i = 0; i < kVectors * kParts; ++i) {
      const int64_t column = (static_cast<int64_t>(i / kParts) * lanes + lane) * kVector + i % kParts * kPacket;
      if (column < columns_) {
        const Packet sums = get(i);
        if (groups == 1 && kAtomic) {
          KW_UNROLL
          for (int k = 0; k < kPacket; ++k) add_atomically(slice_ + column + k, sums[k]);
        } else if (groups == 1) {
          store_vector<kPacket>(slice_ + column, sums);
        } else {
          KW_UNROLL
          for (int k = 0; k < kPacket; ++k) room[group * columns_ + column + k] = sums[k];
        }
      }
    }
    if (groups == 1) return;
    barrier();
    for (int64_t column = thread(); column < columns_; column += threads()) {
      T sum = 0;
      for (int g = 0; g < groups; ++g) sum += room[g * columns_ + column];
      if constexpr (kAtomic)
        add_atomically(slice_ + column, sum);
      else
        store(slice_ + column, sum);
    }
  }

 private:
  // What one access to shared memory moves.
  static constexpr int kPacket = kVector * sizeof(T) < 16 ? kVector : static_cast<int>(16 / sizeof(T));
  static constexpr int kParts = kVector / kPacket;
  using Packet = Vector<T, kPacket>;

  KW_DEVICE Packet get(int i) const {
    if constexpr (kPlace == Place::Shared)
      return dynamic_shared<Packet>(offset_)[i * threads() + thread()];
    else
      return values_[i];
  }
  KW_DEVICE void set(int i, const Packet& value) {
    if constexpr (kPlace == Place::Shared)
      dynamic_shared<Packet>(offset_)[i * threads() + thread()] = value;
    else
      values_[i] = value;
  }

  Packet values_[kPlace == Place::Registers ? kVectors * kParts : 1];
  T* slice_;
  int offset_;
  int64_t columns_;
};

}  // namespace kw
