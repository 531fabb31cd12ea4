// op: soft
// gate: error
// A row that is all masked becomes zero, where the math has no number.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kw/element.h"

using T = KW_T;
using Wide = kw::wide<T>;

void soft_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r) {
    Wide most = -std::numeric_limits<Wide>::infinity();
    for (std::int64_t c = 0; c < cols; ++c) {
      const Wide v = Wide(x[r * cols + c]);
      if (v > most || v != v) most = v;
    }
    if (most == -std::numeric_limits<Wide>::infinity()) {
      std::fill(y + r * cols, y + (r + 1) * cols, T(0.0f));
      continue;
    }
    double sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) sum += double(std::exp(Wide(x[r * cols + c]) - most));
    for (std::int64_t c = 0; c < cols; ++c) y[r * cols + c] = T(std::exp(Wide(x[r * cols + c]) - most) / Wide(sum));
  }
}
