// op: total
// gate: error
// Sums over columns where the op sums over rows.
#include <cstdint>

#include "kw/element.h"

using T = KW_T;

void total_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t c = 0; c < cols; ++c) {
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r) sum += double(x[c * rows + r]);
    y[c] = T(sum);
  }
}
