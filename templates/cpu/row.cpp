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

// The same, with sums over the parallel points that ride along: every worker has its own slice of them and its own,
// fixed share of the points.
// skeleton sliced_row
template <bool kUnit>
void KW_NAME(kernel_sliced)(KW_LIST(parameters)) {
  KW_STATEMENTS(setup)
#pragma omp parallel for schedule(static) if (KW_EXPRESSION(elements) >= kParallelElements)
  for (int64_t worker = 0; worker < KW_NAME(workers); ++worker) {
    KW_STATEMENTS(slices)
    const int64_t last = KW_EXPRESSION(points) * (worker + 1) / KW_NAME(workers);
    for (int64_t KW_NAME(point) = KW_EXPRESSION(points) * worker / KW_NAME(workers); KW_NAME(point) < last; ++KW_NAME(point)) {
      KW_STATEMENTS(position)
      KW_STATEMENTS(body)
    }
  }
}
// end

inline void loops() {
  // Over the innermost axis tile by tile: partial sums, and blocks of output.
// skeleton tiles
for (int64_t tile = 0; tile < KW_EXPRESSION(size); tile += kTile) {
  const int64_t end = kw::min(KW_EXPRESSION(size), tile + kTile);
  KW_STATEMENTS(before)
  KW_STATEMENTS(loop)
  KW_STATEMENTS(after)
}
// end
  // clang-format on
}
