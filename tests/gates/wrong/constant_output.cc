// op: relu
// gate: error
// Zero, whatever the input is.
#include <cstdint>

#include "kw/element.h"

using T = KW_T;

void relu_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = T(0.0f);
}
