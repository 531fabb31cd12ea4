// op: relu
// gate: error or deterministic
// Returns what the stack happens to hold.
#include <cstdint>

#include "kw/element.h"

using T = KW_T;

void relu_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  volatile unsigned char stack[256];
  for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = T(float(stack[i % 256]) + 3.0f + float(x[0]) * 0);
}
