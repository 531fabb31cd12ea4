// op: relu
// gate: strides
// Right in every element, but its output is dense where PyTorch gives a transposed one.
/* kw manifest
{
  "schema": 1,
  "name": "relu",
  "target": "cuda",
  "sizes": ["rows", "cols"],
  "types": {"T": ["f32"]},
  "passes": [
    {
      "name": "forward",
      "buffers": [
        {"name": "x", "role": "input", "type": "T", "shape": ["rows", "cols"]},
        {"name": "y", "role": "output", "type": "T", "shape": ["rows", "cols"]}
      ],
      "steps": [
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "relu_forward",
              "file": "relu.cu",
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
              "launch": {"grid": ["ceil_div(rows*cols, 128)"], "block": ["128"]}
            }
          ]
        }
      ]
    }
  ]
}
*/
#include "kw/math.h"
#include "kw/memory.h"

KW_KERNEL(128, 1)
void relu_forward(const float* x, float* y, int64_t rows, int64_t cols, int64_t x0, int64_t x1, int64_t y0,
                  int64_t y1) {
  const int64_t i = static_cast<int64_t>(kw::block()) * kw::threads() + kw::thread();
  if (i >= rows * cols) return;
  const int64_t r = i / cols, c = i % cols;
  const float v = kw::load(x + r * x0 + c * x1);
  kw::store(y + r * y0 + c * y1, v <= 0 ? 0.0f : v);
}
