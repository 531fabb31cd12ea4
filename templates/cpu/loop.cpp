// The innermost loop, over an axis or over a tile of it.
#include "holes.h"

inline void loops() {
  // clang-format off
  // Element by element, as vector instructions where the compiler finds them.
// skeleton line
#pragma omp simd KW_CLAUSES(reductions)
for (int64_t KW_NAME(i) = KW_EXPRESSION(first); KW_NAME(i) < KW_EXPRESSION(last); ++KW_NAME(i)) {
  KW_STATEMENTS(body)
}
// end

  // Sixty-four at once where the machine has them, else likewise.
// skeleton lanes
kw::for_lanes<kByLanes>(KW_EXPRESSION(first), KW_EXPRESSION(last), [&](auto KW_NAME(i)) KW_INLINE {
  KW_STATEMENTS(body)
});
// end

  // Twice as many of 16-bit elements.
// skeleton wide_lanes
kw::for_wide_lanes<kByLanes, kAreHalves>(KW_EXPRESSION(first), KW_EXPRESSION(last), [&](auto KW_NAME(i)) KW_INLINE {
  KW_STATEMENTS(body)
});
// end
  // clang-format on
}
