// The innermost axis is reduced: every parallel point goes over its row once per stage, and finds it in the cache from
// the second stage on.
#include "holes.h"

// clang-format off
// skeleton row
template <bool kUnit>
void KW_NAME(kernel)(KW_LIST(parameters)) {
  KW_STATEMENTS(setup)
#pragma omp parallel for KW_CLAUSES(collapse) schedule(static) if (KW_EXPRESSION(elements) >= kParallelElements)
  KW_LOOPS(points) {
    KW_STATEMENTS(point)
  }
}
// end
// clang-format on

// The same, with sums over the parallel points that ride along: every worker has its own slice of them and its own,
// fixed share of the points.
// skeleton sliced_row
template <bool kUnit>
void KW_NAME(kernel_sliced)(KW_LIST(parameters)) {
  KW_STATEMENTS(setup)
#pragma omp parallel for schedule(static) if (KW_EXPRESSION(elements) >= kParallelElements)
  for (int64_t worker = 0; worker < workers; ++worker) {
    KW_STATEMENTS(slices)
    const int64_t last = KW_EXPRESSION(points) * (worker + 1) / workers;
    for (int64_t KW_NAME(point) = KW_EXPRESSION(points) * worker / workers; KW_NAME(point) < last; ++KW_NAME(point)) {
      KW_STATEMENTS(position)
      KW_STATEMENTS(body)
    }
  }
}
// end

inline void loops() {
  // One loop over the innermost axis, or over a tile of it.
  // clang-format off
// skeleton line
#pragma omp simd KW_CLAUSES(reductions)
for (int64_t KW_NAME(i) = KW_EXPRESSION(first); KW_NAME(i) < KW_EXPRESSION(last); ++KW_NAME(i)) {
  KW_STATEMENTS(body)
}
// end

  // The same tile by tile: partial sums, and a block of output that is streamed.
// skeleton tiles
for (int64_t tile = 0; tile < KW_EXPRESSION(size); tile += kTile) {
  const int64_t end = kw::min(KW_EXPRESSION(size), tile + kTile);
  KW_STATEMENTS(before)
#pragma omp simd KW_CLAUSES(reductions)
  for (int64_t KW_NAME(i) = tile; KW_NAME(i) < end; ++KW_NAME(i)) {
    KW_STATEMENTS(body)
  }
  KW_STATEMENTS(after)
}
// end
  // clang-format on
}
