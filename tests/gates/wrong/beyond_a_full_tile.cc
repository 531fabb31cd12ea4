// op: relu
// gate: runs
// Clears one element more of a tile than a row has: past its own array where the tile is full, and only there.
#include <algorithm>
#include <cstdint>

#include "kw/element.h"

using T = KW_T;

constexpr std::int64_t kTile = 1024;

void relu_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t start = 0; start < cols; start += kTile) {
      const std::int64_t n = std::min(kTile, cols - start);
      float tile[kTile];
      for (std::int64_t c = 0; c <= n; ++c) tile[c] = 0;
      for (std::int64_t c = 0; c < n; ++c) tile[c] += float(x[r * cols + start + c]);
      for (std::int64_t c = 0; c < n; ++c) y[r * cols + start + c] = T(tile[c] <= 0 ? 0.0f : tile[c]);
    }
}
