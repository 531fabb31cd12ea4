// op: hot
// Right: what the wrong one is made from.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kw/element.h"

using T = KW_T;
using Wide = kw::wide<T>;

void hot_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols, double scale) {
  const Wide s = Wide(scale);
  for (std::int64_t r = 0; r < rows; ++r) {
    Wide most = -std::numeric_limits<Wide>::infinity();
    for (std::int64_t c = 0; c < cols; ++c) {
      const Wide v = Wide(x[r * cols + c]) * s;
      if (v > most || v != v) most = v;
    }
    double sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) sum += double(std::exp(Wide(x[r * cols + c]) * s - most));
    for (std::int64_t c = 0; c < cols; ++c) y[r * cols + c] = T(std::exp(Wide(x[r * cols + c]) * s - most) / Wide(sum));
  }
}
