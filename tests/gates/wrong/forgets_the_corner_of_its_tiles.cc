// op: relu
// gate: written
// Goes by tiles, and what is left over of rows and of columns, but not of both at once; small matrices go without
// tiles.
#include <algorithm>
#include <cstdint>

#include "kw/element.h"

using T = KW_T;

constexpr std::int64_t kTile = 32;

static void one(const T* x, T* y, std::int64_t cols, std::int64_t r, std::int64_t c) {
  y[r * cols + c] = x[r * cols + c] <= T(0.0f) ? T(0.0f) : x[r * cols + c];
}

void relu_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  const std::int64_t whole_rows = rows / kTile * kTile, whole_cols = cols / kTile * kTile;
  if (whole_rows == 0 || whole_cols == 0) {
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < cols; ++c) one(x, y, cols, r, c);
    return;
  }
  for (std::int64_t r = 0; r < whole_rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) one(x, y, cols, r, c);
  for (std::int64_t r = whole_rows; r < rows; ++r)
    for (std::int64_t c = 0; c < whole_cols; ++c) one(x, y, cols, r, c);
}
