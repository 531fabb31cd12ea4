// op: total
// gate: deterministic
// Every thread sums a share of its own: the result depends on how many there are.
#include <omp.h>

#include <cstdint>

#include "kw/element.h"

using T = KW_T;

void total_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t c = 0; c < cols; ++c) {
    const std::int64_t parts = omp_get_max_threads();
    kw::wide<T> sum = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      kw::wide<T> own = 0;
      for (std::int64_t r = part; r < rows; r += parts) own += kw::wide<T>(x[r * cols + c]);
      sum += own;
    }
    y[c] = T(sum);
  }
}
