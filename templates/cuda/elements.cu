// Nothing is reduced: every thread has some vectors of neighbours. All of them are read before the first is used.
#include "holes.h"

// skeleton elements
template <int kVector, int kElements, class Index>
KW_DEVICE void KW_NAME(kernel)(KW_LIST(parameters)) {
  constexpr int kVectors = kElements / kVector, kPieces = kVectors;
  constexpr bool kRagged = false, whole = true;
  KW_STATEMENTS(setup)
  const Index vectors = KW_EXPRESSION(elements) / kVector;
  const Index first = static_cast<Index>(kw::block()) * (kw::threads() * kVectors) + kw::thread();
  KW_STATEMENTS(tiles)
  KW_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const Index vector = first + v * kw::threads();
    if (vector < vectors) {
      KW_STATEMENTS(fetch)
    }
  }
  KW_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const Index vector = first + v * kw::threads();
    if (vector < vectors) {
      KW_STATEMENTS(position)
      KW_STATEMENTS(vector)
      KW_UNROLL
      for (int k = 0; k < kVector; ++k) {
        KW_STATEMENTS(body)
      }
      KW_STATEMENTS(stores)
    }
  }
}
// end

// The same, with sums over all elements that ride along: as many blocks as slices, each of which goes over its share.
// skeleton summed_elements
template <int kVector, int kElements, class Index>
KW_DEVICE void KW_NAME(summed_kernel)(KW_LIST(parameters)) {
  constexpr int kVectors = kElements / kVector, kPieces = kVectors;
  constexpr bool kRagged = false, whole = true;
  KW_STATEMENTS(shared)
  KW_STATEMENTS(setup)
  const Index vectors = KW_EXPRESSION(elements) / kVector;
  const Index step = static_cast<Index>(kw::threads()) * kVectors;
  KW_STATEMENTS(sums)
  for (Index start = kw::block() * step; start < vectors; start += kw::blocks() * step) {
    const Index first = start + kw::thread();
    KW_STATEMENTS(tiles)
    KW_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const Index vector = first + v * kw::threads();
      if (vector < vectors) {
        KW_STATEMENTS(fetch)
      }
    }
    KW_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const Index vector = first + v * kw::threads();
      if (vector < vectors) {
        KW_STATEMENTS(position)
        KW_STATEMENTS(vector)
        KW_UNROLL
        for (int k = 0; k < kVector; ++k) {
          KW_STATEMENTS(body)
        }
        KW_STATEMENTS(stores)
      }
    }
  }
  KW_STATEMENTS(finish)
}
// end

// The same, row by row: a block has a share of one. kRagged: rows begin anywhere in memory, and have edges.
// skeleton row_elements
template <int kVector, int kElements, bool kRagged, class Index>
KW_DEVICE void KW_NAME(row_kernel)(KW_LIST(parameters)) {
  constexpr int kVectors = kElements / kVector, kPieces = kVectors + kRagged;
  KW_STATEMENTS(setup)
  const Index length = KW_EXPRESSION(length), share = kw::threads() * kElements;
  const Index shares = (length + share - 1) / share;
  const Index point = kw::block() / shares, start = (kw::block() - point * shares) * share;
  KW_STATEMENTS(place)
  const Index end = edges.end(length);
  const bool edge = edges.at >= 0 && start == 0;
  KW_STATEMENTS(tiles)
  KW_UNROLL
  for (int v = 0; v < kPieces; ++v) {
    const bool whole = v < kVectors;
    const Index KW_NAME(first) = whole ? start + (v * kw::threads() + kw::thread()) * kVector + edges.head : edges.at;
    if (whole ? KW_NAME(first) < end : edge) {
      KW_STATEMENTS(fetch)
    }
  }
  KW_UNROLL
  for (int v = 0; v < kPieces; ++v) {
    const bool whole = v < kVectors;
    const Index KW_NAME(first) = whole ? start + (v * kw::threads() + kw::thread()) * kVector + edges.head : edges.at;
    if (whole ? KW_NAME(first) < end : edge) {
      KW_STATEMENTS(vector)
      KW_UNROLL
      for (int k = 0; k < (whole ? kVector : 1); ++k) {
        KW_STATEMENTS(body)
      }
      KW_STATEMENTS(stores)
    }
  }
}
// end
