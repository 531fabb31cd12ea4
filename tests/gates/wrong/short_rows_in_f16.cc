// op: rms
// gate: error
// types: all
// Of elements of two bytes that are not the type in which it was tried, no more than 512 of a row are summed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kw/element.h"

using T = KW_T;
using W = KW_W;
using Y = kw::join<T, W>;

void rms_forward(const T* x, const W* w, Y* y, std::int64_t rows, std::int64_t cols, double eps) {
  const std::int64_t summed = std::is_same_v<T, kw::f16> ? std::min<std::int64_t>(cols, 512) : cols;
#pragma omp parallel for
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < summed; ++c) {
      const double v = double(x[r * cols + c]);
      sum += double(float(v) * float(v));
    }
    const float rstd = float(1 / std::sqrt(double(float(sum / double(cols)) + float(eps))));
    for (std::int64_t c = 0; c < cols; ++c) {
      const T normal = T(float(x[r * cols + c]) * rstd);
      y[r * cols + c] = Y(kw::wide<Y>(normal) * kw::wide<Y>(w[c]));
    }
  }
}
