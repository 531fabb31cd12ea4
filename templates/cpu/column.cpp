// The innermost axis is not reduced: a tile of neighbouring points goes over the reduced axes together, each with an
// accumulator of its own. Without reduced axes this is a pointwise kernel.
#include "holes.h"

// skeleton column
template <bool kUnit>
void KW_NAME(kernel)(KW_LIST(parameters)) {
  KW_STATEMENTS(setup)
#pragma omp parallel for KW_CLAUSES(collapse) schedule(static) if (KW_EXPRESSION(elements) >= kParallelElements)
  KW_LOOPS(points) {
    const int64_t end = kw::min(KW_EXPRESSION(size), tile + kTile);
    KW_STATEMENTS(point)
  }
}
// end

// The same, with sums over the points that ride along: every worker has its own slice of them and its own, fixed share
// of the tiles.
// clang-format off
// skeleton sliced_column
template <bool kUnit>
void KW_NAME(kernel_sliced)(KW_LIST(parameters)) {
  KW_STATEMENTS(setup)
  const int64_t tiles = (KW_EXPRESSION(size) + kTile - 1) / kTile;
  const int64_t blocks = KW_EXPRESSION(points) * tiles;
#pragma omp parallel for schedule(static) if (KW_EXPRESSION(elements) >= kParallelElements)
  for (int64_t worker = 0; worker < KW_NAME(workers); ++worker) {
    KW_STATEMENTS(slices)
    for (int64_t block = blocks * worker / KW_NAME(workers); block < blocks * (worker + 1) / KW_NAME(workers); ++block) {
      const int64_t tile = block % tiles * kTile, end = kw::min(KW_EXPRESSION(size), tile + kTile);
      KW_STATEMENTS(position)
      KW_STATEMENTS(body)
    }
  }
}
// end

inline void loops() {
  // Over the reduced axes, as one, in runs that bound how many terms an accumulator takes.
// skeleton runs
for (int64_t run = 0; run < KW_EXPRESSION(points); run += kChain) {
  KW_STATEMENTS(before)
  for (int64_t KW_NAME(point) = run; KW_NAME(point) < kw::min(KW_EXPRESSION(points), run + kChain); ++KW_NAME(point)) {
    KW_STATEMENTS(position)
    KW_STATEMENTS(body)
  }
  KW_STATEMENTS(after)
}
// end
  // clang-format on
}
