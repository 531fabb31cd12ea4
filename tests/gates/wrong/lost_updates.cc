// op: total
// gate: error or deterministic
// Two threads read the sum before either has written it back.
#include <omp.h>

#include <cstdint>
#include <vector>

#include "kw/element.h"

using T = KW_T;

void total_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  std::vector<double> sums(cols);
#pragma omp parallel
  {
    for (std::int64_t c = 0; c < cols; ++c) {
      double own = 0;
      for (std::int64_t r = omp_get_thread_num(); r < rows; r += omp_get_num_threads()) own += double(x[r * cols + c]);
      const double before = sums[c];
#pragma omp barrier
      sums[c] = before + own;
#pragma omp barrier
    }
  }
  for (std::int64_t c = 0; c < cols; ++c) y[c] = T(sums[c]);
}
