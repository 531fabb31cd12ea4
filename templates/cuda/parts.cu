// The innermost axis is reduced together with others, and a row is in parts, each of which lies in one piece: warps
// take tiles of parts. The tiles that fit are in shared memory, every thread's vectors in places of its own: once the
// last stage has taken them, those of the block's next row are on their way there.
#include "holes.h"

// skeleton parts
template <int kVector, int kElements, bool kRagged, class Index>
KW_DEVICE void KW_NAME(kernel)(KW_LIST(parameters)) {
  constexpr int kVectors = kElements / kVector, kPieces = kVectors + kRagged;
  constexpr bool kStreamed = true, kAhead = kVector > 1;
  KW_STATEMENTS(shared)
  KW_STATEMENTS(caches)
  const Index parts = KW_EXPRESSION(parts), length = KW_EXPRESSION(length), points = KW_EXPRESSION(points);
  const Index part_tiles = (length + kElements * 32 - 1) / (kElements * 32);
  const Index end = kw::Edges<kVector, kRagged, Index>::end(length);
  const Index tiles = parts * part_tiles, tiles_here = kAhead ? cached / (kElements * 32) : 0;
  const kw::Divisor<kAhead, Index> part_of(part_tiles);
  KW_STATEMENTS(ahead)
  for (Index point = kw::block(); point < points; point += kw::blocks()) {
    KW_STATEMENTS(place)
    KW_STATEMENTS(tiles)
    KW_STATEMENTS(point)
  }
}
// end

// The same, with sums that ride along: as many blocks as slices, each of which goes from row to row.
// skeleton summed_parts
template <int kVector, int kElements, kw::Place kPlace, bool kRagged, class Index>
KW_DEVICE void KW_NAME(summed_kernel)(KW_LIST(parameters)) {
  constexpr int kVectors = kElements / kVector, kPieces = kVectors + kRagged;
  constexpr bool kStreamed = true, kAhead = kVector > 1;
  KW_STATEMENTS(shared)
  const Index parts = KW_EXPRESSION(parts), length = KW_EXPRESSION(length), points = KW_EXPRESSION(points);
  const Index part_tiles = (length + kElements * 32 - 1) / (kElements * 32);
  const Index end = kw::Edges<kVector, kRagged, Index>::end(length);
  const Index tiles = parts * part_tiles, tiles_here = kAhead ? cached / (kElements * 32) : 0;
  const kw::Divisor<kAhead, Index> part_of(part_tiles);
  KW_STATEMENTS(caches)
  KW_STATEMENTS(sums)
  KW_STATEMENTS(ahead)
  for (Index point = kw::block(); point < points; point += kw::blocks()) {
    KW_STATEMENTS(place)
    KW_STATEMENTS(tiles)
    KW_STATEMENTS(point)
  }
  KW_STATEMENTS(finish)
}
// end

// clang-format off
template <int kVector, int kVectors, int kPieces, class Index>
KW_DEVICE void stages(Index tiles, Index part_tiles, kw::Divisor<true, Index> part_of, Index end,
                      kw::Edges<kVector, true, Index> edges, bool edge) {
  // Over the parts.
// skeleton stage
for (Index tile = kw::warp(); tile < tiles; tile += kw::warps()) {
  const Index part = part_of(tile), in_part = tile - part * part_tiles;
  KW_STATEMENTS(place)
  KW_STATEMENTS(arrive)
  KW_STATEMENTS(fetch)
  KW_STATEMENTS(next)
  KW_STATEMENTS(before)
  KW_UNROLL
  for (int v = 0; v < kPieces; ++v) {
    const bool whole = v < kVectors;
    const Index element = whole ? ((in_part * kVectors + v) * 32 + kw::lane()) * kVector + edges.head : edges.at;
    if (whole ? element < end : edge) {
      KW_STATEMENTS(vector)
      KW_UNROLL
      for (int k = 0; k < (whole ? kVector : 1); ++k) {
        KW_STATEMENTS(body)
      }
      KW_STATEMENTS(stores)
    }
  }
  KW_STATEMENTS(after)
}
// end

  // Reads of a tile, all before the first is used.
  const Index tile = kw::warp(), in_part = tile % part_tiles, tiles_here = 0;
// skeleton fetch
const bool here = tile < tiles_here;
if (here) {
  KW_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const Index element = ((in_part * kVectors + v) * 32 + kw::lane()) * kVector + edges.head;
    const Index slot = (tile * kVectors + v) * 32 + kw::lane();
    if (element < end) {
      KW_STATEMENTS(copies)
    }
  }
}
KW_UNROLL
for (int v = 0; v < kPieces; ++v) {
  const bool whole = v < kVectors;
  const Index element = whole ? ((in_part * kVectors + v) * 32 + kw::lane()) * kVector + edges.head : edges.at;
  if (whole ? !here && element < end : edge) {
    KW_STATEMENTS(loads)
  }
}
KW_STATEMENTS(others)
// end
}
// clang-format on
