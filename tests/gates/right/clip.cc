// op: clip
// Right: what the wrong one is made from.
#include <cmath>
#include <cstdint>

#include "kw/element.h"

using T = KW_T;

void clip_forward(const T* x, const T* s, T* y, std::int64_t rows, std::int64_t cols) {
  const float scale = std::exp(float(*s));
  const float most = scale > 100.0f ? 100.0f : scale;
#pragma omp parallel for
  for (std::int64_t i = 0; i < rows * cols; ++i) y[i] = T(float(x[i]) * float(T(most)));
}
