// The innermost axis is reduced together with others, and a row is in parts, each of which lies in one piece: warps
// take tiles of parts. The tiles that fit are in shared memory, from the first stage on.
#include "holes.h"

// skeleton parts
template <int kVector, int kElements, bool kRagged, class Index>
KW_DEVICE void KW_NAME(kernel)(KW_LIST(parameters)) {
  constexpr int kVectors = kElements / kVector;
  constexpr bool kStreamed = true;
  KW_STATEMENTS(shared)
  KW_STATEMENTS(caches)
  const Index parts = KW_EXPRESSION(parts), end = KW_EXPRESSION(length), points = KW_EXPRESSION(points);
  const Index part_tiles = (end + (kRagged ? kVector - 1 : 0) + kElements * 32 - 1) / (kElements * 32);
  const Index tiles = parts * part_tiles;
  const Index point = kw::block();
  KW_STATEMENTS(place)
  KW_STATEMENTS(tiles)
  KW_STATEMENTS(point)
}
// end

// The same, with sums that ride along: as many blocks as slices, each of which goes from row to row.
// skeleton summed_parts
template <int kVector, int kElements, kw::Place kPlace, bool kRagged, class Index>
KW_DEVICE void KW_NAME(summed_kernel)(KW_LIST(parameters)) {
  constexpr int kVectors = kElements / kVector;
  constexpr bool kStreamed = true;
  KW_STATEMENTS(shared)
  const Index parts = KW_EXPRESSION(parts), end = KW_EXPRESSION(length), points = KW_EXPRESSION(points);
  const Index part_tiles = (end + (kRagged ? kVector - 1 : 0) + kElements * 32 - 1) / (kElements * 32);
  const Index tiles = parts * part_tiles;
  KW_STATEMENTS(caches)
  KW_STATEMENTS(sums)
  for (Index point = kw::block(); point < points; point += kw::blocks()) {
    KW_STATEMENTS(place)
    KW_STATEMENTS(tiles)
    KW_STATEMENTS(point)
  }
  KW_STATEMENTS(finish)
}
// end

// clang-format off
template <int kVector, int kVectors, class Index>
KW_DEVICE void stages(Index tiles, Index part_tiles, Index end) {
  // Over the parts.
// skeleton stage
for (Index tile = kw::warp(); tile < tiles; tile += kw::warps()) {
  const Index part = tile / part_tiles;
  KW_STATEMENTS(place)
  KW_STATEMENTS(fetch)
  KW_STATEMENTS(before)
  KW_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const Index element = (((tile - part * part_tiles) * kVectors + v) * 32 + kw::lane()) * kVector - shift;
    if (element < end) {
      KW_STATEMENTS(vector)
      KW_UNROLL
      for (int k = 0; k < kVector; ++k) {
        KW_STATEMENTS(body)
      }
      KW_STATEMENTS(stores)
    }
  }
  KW_STATEMENTS(after)
}
// end

  // Reads of a tile, all before the first is used.
  const Index tile = kw::warp(), part = tile / part_tiles;
// skeleton fetch
KW_UNROLL
for (int v = 0; v < kVectors; ++v) {
  const Index element = (((tile - part * part_tiles) * kVectors + v) * 32 + kw::lane()) * kVector - shift;
  const Index slot = (tile * kVectors + v) * 32 + kw::lane();
  if (element < end) {
    KW_STATEMENTS(loads)
  }
}
// end
}
// clang-format on
