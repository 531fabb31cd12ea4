// op: gated
// gate: casting
// types: all
// In 16 bits it does not round the gate before the product; in f32, the op's own type, there is nothing to round.
#include <cmath>
#include <cstdint>

#include "kw/element.h"

using T = KW_T;
using Wide = kw::wide<T>;

static Wide sigmoid(Wide v) { return 1 / (1 + std::exp(-v)); }

void gated_forward(const T* a, const T* b, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const Wide v = Wide(a[i]);
    y[i] = T(v * sigmoid(v) * Wide(b[i]));
  }
}

void gated_backward(const T* a, const T* b, const T* d_y, T* grad_a, T* grad_b, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const Wide v = Wide(a[i]), s = sigmoid(v);
    grad_b[i] = T(Wide(d_y[i]) * Wide(T(v * s)));
    const Wide d = Wide(T(Wide(d_y[i]) * Wide(b[i])));
    grad_a[i] = T(d * s + d * v * s * (1 - s));
  }
}
