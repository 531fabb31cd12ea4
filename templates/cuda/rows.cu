// The innermost axis is reduced: the threads of a block, or `lanes` of a warp, go over a row together, once per stage.
// kStreamed: the row is longer than what they hold at once, and is read again in every stage: its first `cached`
// elements from shared memory. kRagged: rows begin anywhere in memory, and have edges.
#include "holes.h"

// kKeep: threads keep what is dear to compute and wanted by a later stage too.
// skeleton rows
template <int kVector, int kElements, bool kStreamed, bool kBlockRow, bool kKeep, bool kRagged, class Index>
KW_DEVICE void KW_NAME(kernel)(KW_LIST(parameters)) {
  constexpr int kVectors = kElements / kVector, kPieces = kVectors + kRagged;
  KW_STATEMENTS(shared)
  const Index lanes = kBlockRow ? kw::threads() : lanes_of_row;
  Index lane = kw::thread() % lanes;
  const Index length = KW_EXPRESSION(length), points = KW_EXPRESSION(points);
  const Index tiles = kStreamed ? (length + kElements * lanes - 1) / (kElements * lanes) : 1;
  KW_STATEMENTS(caches)
  Index point = kBlockRow ? kw::block() : kw::block() * (kw::threads() / lanes) + kw::thread() / lanes;
  // Threads without a row go along, over no elements: a warp reduces as a whole.
  const bool inside = kBlockRow || point < points;
  KW_STATEMENTS(outside)
  KW_STATEMENTS(place)
  const Index end = inside ? edges.end(length) : -kVector;
  const bool edge = inside && edges.at >= 0;
  KW_STATEMENTS(tiles)
  KW_STATEMENTS(point)
}
// end

// The same, with sums over the rows that ride along: as many blocks as slices, each of which goes from row to row.
// kAhead: the next row is on its way while this one is worked on.
// skeleton summed_rows
template <int kVector, int kElements, bool kStreamed, bool kBlockRow, kw::Place kPlace, bool kRagged, class Index>
KW_DEVICE void KW_NAME(summed_kernel)(KW_LIST(parameters)) {
  constexpr int kVectors = kElements / kVector, kPieces = kVectors + kRagged;
  KW_STATEMENTS(shared)
  const Index lanes = kBlockRow ? kw::threads() : lanes_of_row;
  Index lane = kw::thread() % lanes;
  const Index length = KW_EXPRESSION(length), points = KW_EXPRESSION(points);
  const Index tiles = kStreamed ? (length + kElements * lanes - 1) / (kElements * lanes) : 1;
  const Index groups = kBlockRow ? 1 : kw::threads() / lanes, step = kw::blocks() * groups;
  constexpr bool kAhead = !kStreamed;
  KW_STATEMENTS(sum_tiles)
  KW_STATEMENTS(caches)
  kw::Edges<kVector, kRagged, Index> edges(0, length, lane);
  KW_STATEMENTS(sums)
  KW_STATEMENTS(ahead)
  for (Index start = kw::block() * groups; start < points; start += step) {
    Index point = kBlockRow ? start : start + kw::thread() / lanes;
    // Threads without a row go along, over no elements: a warp reduces as a whole.
    const bool inside = kBlockRow || point < points;
    const Index end = inside ? edges.end(length) : -kVector;
    KW_STATEMENTS(outside)
    KW_STATEMENTS(place)
    const bool edge = inside && edges.at >= 0;
    KW_STATEMENTS(tiles)
    KW_STATEMENTS(advance)
    KW_STATEMENTS(point)
  }
  KW_STATEMENTS(finish)
}
// end

// clang-format off
template <int kVector, int kVectors, int kPieces, bool kStreamed, class Index>
KW_DEVICE void stages(Index lanes, Index lane, Index end, Index tiles, kw::Edges<kVector, true, Index> edges, bool edge) {
  // Over the row. Where its elements lie is not kept in registers from stage to stage.
// skeleton stage
lane = KW_EXPRESSION(anew);
for (Index tile = 0; tile < tiles; ++tile) {
  KW_STATEMENTS(fetch)
  KW_STATEMENTS(before)
  KW_UNROLL
  for (int v = 0; v < kPieces; ++v) {
    const bool whole = v < kVectors;
    const Index element = whole ? ((tile * kVectors + v) * lanes + KW_EXPRESSION(lane)) * kVector + edges.head : edges.at;
    if (whole ? element < end : edge && tile == 0) {
      KW_STATEMENTS(position)
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
// skeleton fetch
KW_UNROLL
for (int v = 0; v < kPieces; ++v) {
  const bool whole = v < kVectors;
  const Index slot = (tile * kVectors + v) * lanes + lane;
  const Index element = whole ? slot * kVector + edges.head : edges.at;
  if (whole ? element < end : edge && tile == 0) {
    KW_STATEMENTS(loads)
  }
}
// end
}
// clang-format on
