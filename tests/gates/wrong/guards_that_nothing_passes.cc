// op: relu
// gate: interface
// types: all
// For more rows than anyone can try it does what it likes.
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
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "relu_forward_huge",
              "file": "relu.cpp",
              "arguments": [
                {"kind": "read", "of": "x"},
                {"kind": "write", "of": "y"},
                {"kind": "size", "of": "rows", "type": "i64"},
                {"kind": "size", "of": "cols", "type": "i64"},
                {"kind": "stride", "of": "x", "dimension": 0, "type": "i64"},
                {"kind": "stride", "of": "x", "dimension": 1, "type": "i64"},
                {"kind": "stride", "of": "y", "dimension": 0, "type": "i64"},
                {"kind": "stride", "of": "y", "dimension": 1, "type": "i64"}
              ],
              "guards": ["rows > 1000000000"]
            },
            {
              "symbol": "relu_forward",
              "file": "relu.cpp",
              "arguments": [
                {"kind": "read", "of": "x"},
                {"kind": "write", "of": "y"},
                {"kind": "size", "of": "rows", "type": "i64"},
                {"kind": "size", "of": "cols", "type": "i64"},
                {"kind": "stride", "of": "x", "dimension": 0, "type": "i64"},
                {"kind": "stride", "of": "x", "dimension": 1, "type": "i64"},
                {"kind": "stride", "of": "y", "dimension": 0, "type": "i64"},
                {"kind": "stride", "of": "y", "dimension": 1, "type": "i64"}
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

void relu_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x0, std::int64_t x1,
                  std::int64_t y0, std::int64_t y1) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) {
      const T v = x[r * x0 + c * x1];
      y[r * y0 + c * y1] = v <= T(0.0f) ? T(0.0f) : v;
    }
}

void relu_forward_huge(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x0, std::int64_t x1,
                       std::int64_t y0, std::int64_t y1) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) {
      const T v = x[r * x0 + c * x1];
      y[r * y0 + c * y1] = v;
    }
}
