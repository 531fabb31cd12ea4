// op: relu
// gate: error
// The kernel is right; the manifest fills the output and never calls it.
/* kw manifest
{
  "schema": 1,
  "name": "relu",
  "target": "cpu",
  "sizes": ["rows", "cols"],
  "types": {"T": ["bf16", "f16", "f32", "f64"]},
  "passes": [
    {
      "name": "forward",
      "buffers": [
        {"name": "x", "role": "input", "type": "T", "shape": ["rows", "cols"]},
        {"name": "y", "role": "output", "type": "T", "shape": ["rows", "cols"], "strides_like": ["x"]}
      ],
      "steps": [
        {"kind": "fill", "buffer": "y", "value": 0}
      ]
    }
  ]
}
*/

#include <cstdint>

#include "kw/element.h"

using T = KW_T;

void relu_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x0, std::int64_t x1,
                  std::int64_t y0, std::int64_t y1) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) {
      const T v = x[r * x0 + c * x1];
      y[r * y0 + c * y1] = v <= T(0.0f) ? T(0.0f) : v;
    }
}
