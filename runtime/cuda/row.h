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

// Elements of the widest type that fill so many bytes.
template <int kBytes, class... Types>
KW_DEVICE constexpr int elements_in() {
  int widest = 1;
  ((widest = sizeof(Types) > widest ? static_cast<int>(sizeof(Types)) : widest), ...);
  return kBytes / widest;
}

// What a sum over several tiles of terms is kept in: tiles of a long row are added in double.
template <bool kLong, class T>
using Total = typename choice_of<kLong && is_same<T, float>, double, T>::type;

// Where the sums of a thread's own columns are while it goes from row to row.
enum class Place { Registers, Shared, Memory };

// Sums over rows, one for every column, of which each thread has its own: columns
// ((tile * kVectors + v) * lanes + lane) * kVector + k. In registers and in shared memory a row is one tile.
template <class T, int kVector, int kVectors, Place kPlace>
class Sums {
 public:
  // `slice` is the block's own part of the workspace, `shared` has room for kVectors * kVector * threads() sums, where
  // they are kept there or several groups of threads have rows of their own.
  KW_DEVICE Sums(T* slice, Shared<T> shared, int64_t columns) : slice_(slice), shared_(shared), columns_(columns) {
    if constexpr (kPlace == Place::Memory) {
      for (int64_t i = thread(); i < columns; i += threads()) store(slice + i, T(0));
      barrier();
    } else {
      KW_UNROLL
      for (int i = 0; i < kVectors * kVector; ++i) set(i, 0);
    }
  }
  KW_DEVICE void add(int v, int k, int64_t column, T value) {
    if constexpr (kPlace == Place::Memory) {
      store(slice_ + column + k, load(slice_ + column + k) + value);
    } else {
      set(v * kVector + k, get(v * kVector + k) + value);
    }
  }
  // Writes the sums of all `groups` of `lanes` threads.
  KW_DEVICE void finish(int lane, int lanes, int groups) {
    if constexpr (kPlace == Place::Registers) {
      if (groups > 1) {
        finish_groups(lane, lanes, groups);
        return;
      }
    }
    if constexpr (kPlace != Place::Memory) {
      KW_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const int64_t column = (static_cast<int64_t>(v) * lanes + lane) * kVector;
        if (column < columns_) {
          Vector<T, kVector> out;
          KW_UNROLL
          for (int k = 0; k < kVector; ++k) out[k] = get(v * kVector + k);
          store_vector(slice_ + column, out);
        }
      }
    }
  }

 private:
  KW_DEVICE T get(int i) const {
    if constexpr (kPlace == Place::Shared)
      return shared_[i * threads() + thread()];
    else
      return values_[i];
  }
  KW_DEVICE void set(int i, T value) {
    if constexpr (kPlace == Place::Shared)
      shared_[i * threads() + thread()] = value;
    else
      values_[i] = value;
  }
  KW_DEVICE void finish_groups(int lane, int lanes, int groups) {
    const int group = thread() / lanes;
    barrier();  // the room may hold other sums
    KW_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const int column = (v * lanes + lane) * kVector;
      if (column < columns_) {
        KW_UNROLL
        for (int k = 0; k < kVector; ++k)
          shared_[group * static_cast<int>(columns_) + column + k] = get(v * kVector + k);
      }
    }
    barrier();
    for (int column = thread(); column < columns_; column += threads()) {
      T sum = 0;
      for (int g = 0; g < groups; ++g) sum += shared_[g * static_cast<int>(columns_) + column];
      store(slice_ + column, sum);
    }
  }

  T values_[kPlace == Place::Registers ? kVectors * kVector : 1];
  T* slice_;
  Shared<T> shared_;
  int64_t columns_;
};

}  // namespace kw
