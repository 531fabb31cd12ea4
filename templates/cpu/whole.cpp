// Everything is reduced, or there is only one element.
#include "holes.h"

// skeleton whole
template <bool kUnit>
void KW_NAME(kernel)(KW_LIST(parameters)) {
  KW_STATEMENTS(setup)
  KW_STATEMENTS(stages)
}
// end

// A fixed number of chunks, whatever the number of threads: the result is the same to the bit.
inline void stage() {
  // clang-format off
// skeleton chunks
KW_STATEMENTS(partials)
#pragma omp parallel for schedule(static) if (KW_EXPRESSION(elements) >= kParallelElements)
for (int64_t chunk = 0; chunk < kChunks; ++chunk) {
  KW_STATEMENTS(start)
  for (int64_t block = blocks * chunk / kChunks; block < blocks * (chunk + 1) / kChunks; ++block) {
    const int64_t tile = block % tiles * kTile, end = kw::min(KW_EXPRESSION(size), tile + kTile);
    KW_STATEMENTS(position)
    KW_STATEMENTS(before)
    KW_STATEMENTS(loop)
    KW_STATEMENTS(after)
  }
  KW_STATEMENTS(finish)
}
KW_STATEMENTS(combine)
// end
  // clang-format on
}
