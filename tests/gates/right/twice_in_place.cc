// op: twice
// in place: x
// Right, in the memory of its input, where no two elements are one number.
/* kw manifest
{
  "schema": 1,
  "name": "twice",
  "target": "cpu",
  "sizes": ["rows", "cols"],
  "types": {"T": ["bf16", "f16", "f32", "f64"]},
  "passes": [
    {
      "name": "forward",
      "buffers": [
        {"name": "x", "role": "input", "type": "T", "shape": ["rows", "cols"]},
        {"name": "y", "role": "output", "type": "T", "shape": ["rows", "cols"], "alias": "x"}
      ],
      "steps": [
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "twice_forward",
              "file": "twice.cpp",
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

void twice_forward(const T* x, T* y, std::int64_t rows, std::int64_t cols, std::int64_t x0, std::int64_t x1,
                   std::int64_t y0, std::int64_t y1) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) {
      const T v = x[r * x0 + c * x1];
      y[r * y0 + c * y1] = T(2 * float(v));
    }
}
