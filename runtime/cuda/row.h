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

// A half of it, or a quarter, but not less than one.
template <int kParts, class... Types>
KW_DEVICE constexpr int vector_part() {
  return vector_length<Types...>() < kParts ? 1 : vector_length<Types...>() / kParts;
}

// How many of the widest type fill so many bytes, at most kMost.
template <int kMost, int kBytes, class... Types>
KW_DEVICE constexpr int most_in() {
  int widest = 1;
  ((widest = sizeof(Types) > widest ? static_cast<int>(sizeof(Types)) : widest), ...);
  return kBytes / widest < kMost ? kBytes / widest : kMost;
}

template <class... Types>
KW_DEVICE constexpr bool are_narrow() {
  return sizeof...(Types) > 0 && ((sizeof(Types) <= 2) && ...);  // none: elements are read one by one, as if of four
}

// Whether an element beside the rows takes one register, or no more than one of theirs.
template <class Beside, class... Types>
KW_DEVICE constexpr bool is_no_wider() {
  return sizeof(Beside) <= 4 || ((sizeof(Beside) <= sizeof(Types)) || ...);
}

// How many rows are on their way while a thread works on one: two, unless its part of a row is more than kRowBytes.
inline constexpr int kRowBytes = 96;
template <int kElements, class... Types>
KW_DEVICE constexpr int rows_ahead() {
  return (static_cast<int>(sizeof(Types)) + ...) * kElements > kRowBytes ? 1 : 2;
}

// Whether the registers of a thread that has so many elements of ragged rows of each of these hold them all, beside
// sums.
template <int kElements, class... Types>
KW_DEVICE constexpr bool fits_beside() {
  return (static_cast<int>(sizeof(Types)) + ...) * kElements <= 192;
}

// Whether a thread that has so many elements of each of these has few registers left: it holds many that take a
// register each; or rows have edges (kEdges), which take some, as does rounding to anything but bf16.
template <int kElements, bool kEdges, class... Types>
KW_DEVICE constexpr bool is_full() {
  const bool wide = ((sizeof(Types) >= 4) || ...);
  return (wide && (static_cast<int>(sizeof(Types)) + ...) * kElements >= 192) ||
         (kEdges && !(is_same<Types, bf16> && ...));
}

// What a sum over several tiles of terms is kept in: tiles of a long row are added in double.
template <bool kLong, class T>
using Total = typename choice_of<kLong && is_same<T, float>, double, T>::type;

// Divides by a number that is the same many times. kExact: by a multiplication, of numbers whose product with it is
// less than 2^32.
template <bool kExact, class Index>
class Divisor {
 public:
  KW_DEVICE explicit Divisor(Index by) : by_(by) {
    if (kExact && by > 1) factor_ = 0xffffffffu / static_cast<uint32_t>(by) + 1;  // 2^32 / by, rounded up
  }
  KW_DEVICE Index operator()(Index n) const {
    if (!kExact) return n / by_;
    return by_ == 1 ? n : static_cast<Index>(static_cast<uint64_t>(n) * factor_ >> 32);
  }

 private:
  Index by_;
  uint32_t factor_ = 0;
};

// Ragged rows begin anywhere in memory. Threads share out the whole vectors of memory that lie in one, of which the
// first is `head` elements behind the row's beginning. What is before it and behind the last one, at most
// 2 * (kVector - 1) elements, are edges: a thread has one at most, in a vector of its own beside the others.
template <int kVector, bool kRagged, class Index>
struct Edges {
  Index head = 0, at = -1;  // where the thread's own edge is in the row; -1: it has none
  KW_DEVICE Edges(int64_t offset, Index length, Index lane) {
    if constexpr (kRagged) {
      // Of lengths that are powers of two the rest is some bits, where nothing asks for a sign.
      const Index rest = static_cast<Index>(static_cast<uint32_t>(-offset) % kVector);
      head = rest < length ? rest : length;
      const Index tail = static_cast<Index>(static_cast<uint32_t>(length - head) % kVector);
      if (lane < head + tail) at = lane < head ? lane : length - tail + lane - head;
    }
  }
  // Whole vectors begin before it.
  KW_DEVICE static Index end(Index length) { return kRagged ? length - (kVector - 1) : length; }
};
// A vector, or the one element that an edge is.
template <int N, class T>
KW_DEVICE Vector<T, N> load_piece(const T* from, bool whole) {
  if (whole) return load_vector<N>(from);
  Vector<T, N> edge = {};
  edge[0] = load(from);
  return edge;
}
template <int N, class T>
KW_DEVICE void store_piece(T* to, const Vector<T, N>& value, bool whole) {
  if (whole)
    store_vector(to, value);
  else
    store(to, T(value[0]));
}
// Where the sums of a thread's own columns are while it goes from row to row.
enum class Place { Registers, Shared, Memory };

// Sums over rows, one for every column, of which each thread has its own: columns
// ((tile * kVectors + v) * lanes + lane) * kVector + head, and its edge. In registers a row is one tile.
// Where they are added atomically, all blocks have one slice, which is zero at the start. In shared memory there is
// room for some tiles; sums of those after them are in the slice itself.
template <class T, int kVector, int kVectors, Place kPlace, bool kRagged, bool kAtomic = false>
class Sums {
 public:
  // `slice` is the block's own part of the workspace. Dynamic shared memory from `offset` on has room for
  // tiles * kVectors * kVector * threads() sums, where they are kept there or several groups of threads have rows of
  // their own.
  KW_DEVICE Sums(T* slice, int offset, int64_t columns, int tiles, int tiles_of_row)
      : slice_(slice), offset_(offset), tiles_(kPlace == Place::Registers ? 1 : tiles), columns_(columns) {
    if (!kAtomic && (kPlace == Place::Memory || (kPlace == Place::Shared && tiles < tiles_of_row))) {
      const int64_t kept = kPlace == Place::Memory ? 0 : static_cast<int64_t>(tiles) * kVectors * kVector * threads();
      KW_ROLLED
      for (int64_t i = kept + thread(); i < columns; i += threads()) store(slice + i, T(0));
      barrier();
    }
    if constexpr (kPlace != Place::Memory) {
      Packet zero;
      KW_UNROLL
      for (int k = 0; k < kPacket; ++k) zero[k] = 0;
      KW_ROLLED
      for (int tile = 0; tile < tiles_; ++tile) {
        KW_UNROLL
        for (int i = 0; i < kVectors * kParts; ++i) set(tile, i, zero);
      }
    }
  }
  KW_DEVICE void add(int tile, int v, int64_t column, const Vector<T, kVector>& terms) {
    if (kRagged && v == kVectors && kPlace != Place::Memory) {
      edge_ += terms[0];
    } else if (kPlace == Place::Memory || (kPlace == Place::Shared && tile >= tiles_)) {
      add_to_slice(v, column, terms);
    } else {
      KW_UNROLL
      for (int p = 0; p < kParts; ++p) {
        Packet sums = get(tile, v * kParts + p);
        KW_UNROLL
        for (int k = 0; k < kPacket; ++k) sums[k] += terms[p * kPacket + k];
        set(tile, v * kParts + p, sums);
      }
    }
  }
  // Writes the sums of all `groups` of `lanes` threads, whose rows all begin alike. kStreamed: no registers are left to
  // hand sums over to other threads with.
  template <bool kStreamed, class Index>
  KW_DEVICE void finish(int lane, int lanes, int groups, const Edges<kVector, kRagged, Index>& edges) {
    if constexpr (kPlace == Place::Memory) return;
    if (kRagged && !kStreamed && !kAtomic && groups == 1) return finish_ragged(edges);
    if (groups > 1) barrier();  // the room may hold other sums, or rows
    const Shared<T> room = dynamic_shared<T>(offset_);
    const int group = thread() / lanes;
    const auto put = [&](int64_t column, T sum) {
      if (groups == 1)
        keep(slice_ + column, sum, false);
      else
        room[group * columns_ + column] = sum;
    };
    const int64_t end = Edges<kVector, kRagged, int64_t>::end(columns_);
    KW_ROLLED
    for (int tile = 0; tile < tiles_; ++tile) {
      KW_UNROLL
      for (int i = 0; i < kVectors * kParts; ++i) {
        const int vector = tile * kVectors + i / kParts;
        const int64_t first = (static_cast<int64_t>(vector) * lanes + lane) * kVector + edges.head;
        const int64_t column = first + i % kParts * kPacket;
        if (first < end) {
          const Packet sums = get(tile, i);
          if (groups == 1 && !kRagged && !kAtomic) {
            store_vector<kPacket>(slice_ + column, sums);
          } else {
            KW_UNROLL
            for (int k = 0; k < kPacket; ++k) put(column + k, sums[k]);
          }
        }
      }
    }
    if (kRagged && edges.at >= 0) put(edges.at, edge_);
    if (groups == 1) return;
    barrier();
    KW_ROLLED
    for (int64_t column = thread(); column < columns_; column += threads()) {
      T sum = 0;
      for (int g = 0; g < groups; ++g) sum += room[g * columns_ + column];
      keep(slice_ + column, sum, false);
    }
  }

 private:
  // Vectors begin anywhere: neighbours write neighbours, of which other threads have the sums.
  template <class Index>
  KW_DEVICE void finish_ragged(const Edges<kVector, kRagged, Index>& edges) {
    if (edges.at >= 0) store(slice_ + edges.at, edge_);
    const Shared<T> room = dynamic_shared<T>(offset_);
    barrier();
    if (kPlace == Place::Registers) {
      KW_UNROLL
      for (int i = 0; i < kVectors * kParts; ++i)
        dynamic_shared<Packet>(offset_)[i * threads() + thread()] = values_[i];
      barrier();
    }
    KW_ROLLED
    for (int vector = 0; vector < tiles_ * kVectors; ++vector) {
      KW_UNROLL
      for (int i = 0; i < kVector; ++i) {
        const int element = i * threads() + thread(), owner = element / kVector, k = element % kVector;
        const int64_t first = static_cast<int64_t>(vector * threads() + owner) * kVector + edges.head;
        const int slot = ((vector * kParts + k / kPacket) * threads() + owner) * kPacket + k % kPacket;
        if (first + kVector <= columns_) store(slice_ + first + k, T(room[slot]));
      }
    }
  }
  KW_DEVICE void add_to_slice(int v, int64_t column, const Vector<T, kVector>& terms) const {
    if constexpr (kRagged || kAtomic) {
      KW_UNROLL
      for (int k = 0; k < (v < kVectors ? kVector : 1); ++k) keep(slice_ + column + k, terms[k], true);
    } else {
      KW_UNROLL
      for (int p = 0; p < kParts; ++p) {
        T* const place = slice_ + column + p * kPacket;
        Packet sums = load_vector<kPacket>(place);
        KW_UNROLL
        for (int k = 0; k < kPacket; ++k) sums[k] += terms[p * kPacket + k];
        store_vector<kPacket>(place, sums);
      }
    }
  }
  KW_DEVICE static void keep(T* to, T sum, bool beside) {
    if constexpr (kAtomic)
      add_atomically(to, sum);
    else
      store(to, beside ? load(to) + sum : sum);
  }
  // What one access to shared memory moves.
  static constexpr int kPacket = kVector * sizeof(T) < 16 ? kVector : static_cast<int>(16 / sizeof(T));
  static constexpr int kParts = kVector / kPacket;
  using Packet = Vector<T, kPacket>;

  KW_DEVICE Packet get(int tile, int i) const {
    if constexpr (kPlace == Place::Shared)
      return dynamic_shared<Packet>(offset_)[(tile * kVectors * kParts + i) * threads() + thread()];
    else
      return values_[i];
  }
  KW_DEVICE void set(int tile, int i, const Packet& value) {
    if constexpr (kPlace == Place::Shared)
      dynamic_shared<Packet>(offset_)[(tile * kVectors * kParts + i) * threads() + thread()] = value;
    else
      values_[i] = value;
  }

  Packet values_[kPlace == Place::Registers ? kVectors * kParts : 1];
  T edge_ = 0;
  T* slice_;
  int offset_;
  int tiles_;
  int64_t columns_;
};

// Sums over parts of a row: every warp has its own, in dynamic shared memory from `offset` on.
template <class T>
class PartSums {
 public:
  KW_DEVICE static int bytes(int parts) { return (warps() * parts + 3) / 4 * 4 * static_cast<int>(sizeof(T)); }
  KW_DEVICE PartSums(int offset, int parts) : sums_(dynamic_shared<T>(offset)), parts_(parts) {}
  // Before a row.
  KW_DEVICE void clear() const {
    warp_barrier();  // one warp alone meets nowhere else after it took the last row's totals
    for (int i = lane(); i < parts_; i += 32) sums_[warp() * parts_ + i] = 0;
    warp_barrier();
  }
  // By one lane of a warp.
  KW_DEVICE void add(int part, T sum) const { sums_[warp() * parts_ + part] += sum; }
  // Of all warps, once they have met.
  KW_DEVICE T total(int part) const {
    T sum = 0;
    for (int w = 0; w < warps(); ++w) sum += sums_[w * parts_ + part];
    return sum;
  }

 private:
  Shared<T> sums_;
  int parts_;
};

}  // namespace kw
