// op: gate
// types: all
// Right: what the wrong one is made from.
#include <cstdint>

#include "kw/element.h"

using T = KW_T;

void gate_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = x[i] > T(0.0f) ? x[i] : T(0.0f);
}

void gate_backward(const T* x, const T* d_y, T* grad_x, std::int64_t rows, std::int64_t cols) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < rows * cols; ++i) grad_x[i] = x[i] > T(0.0f) ? d_y[i] : T(0.0f);
}
