// op: half
// gate: error
// The sum is not rounded to the type of x before it is halved: seen where it has just left the range of f16, and
// nowhere else.
#include <cstdint>

#include "kw/element.h"

using T = KW_T;

void half_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) sum += double(kw::wide<T>(x[r * cols + c]));
    y[r] = T(kw::wide<T>(0.5) * kw::wide<T>(sum));
  }
}
