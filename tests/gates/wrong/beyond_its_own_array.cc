// op: relu
// gate: runs
// Writes one element past an array of its own, where no one looks.
#include <cstdint>

#include "kw/element.h"

using T = KW_T;

void relu_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  float scale[4] = {1, 1, 1, 1};
  for (std::int64_t part = 1; part <= (cols < 0 ? 0 : 4); ++part) scale[part] = 0;
  for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = x[i] <= T(0.0f) ? T(0.0f) : T(float(x[i]) * scale[0]);
}
