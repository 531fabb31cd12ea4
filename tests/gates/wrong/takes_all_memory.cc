// op: relu
// gate: runs
// Allocates until there is nothing left.
#include <cstdint>
#include <cstring>
#include <new>

#include "kw/element.h"

using T = KW_T;

void relu_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  for (int i = 0; i < 100000; ++i) std::memset(new char[1 << 24], i, 1 << 24);
  for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = x[i] <= T(0.0f) ? T(0.0f) : x[i];
}
