// op: relu
// gate: written
// Handles eight elements at a time and forgets the rest.
#include <cstdint>

#include "kw/element.h"

using T = KW_T;

void relu_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t i = 0; i < rows * cols / 8 * 8; ++i) y[i] = x[i] <= T(0.0f) ? T(0.0f) : x[i];
}
