// op: relu
// gate: outside
// A row is cut into pieces of 4096 elements, with room for seven more; the kernel counts them with room for six, and where
// that makes a difference takes blocks for rows that are not there.
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
                {"kind": "size", "of": "cols", "type": "i64"}
              ],
              "guards": ["dense(x)"],
              "launch": {"grid": ["rows*ceil_div(cols + 7, 4096)"], "block": ["256"]}
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

KW_KERNEL(256, 1) void relu_forward(const float* x, float* y, int64_t rows, int64_t cols) {
  const int64_t pieces = (cols + 6 + 4095) / 4096, row = kw::block() / pieces;
  const int64_t start = (kw::block() - row * pieces) * 4096;
  for (int64_t i = 0; i < 16; ++i) {
    const int64_t c = start + i * kw::threads() + kw::thread();
    if (c >= cols) return;
    const float v = kw::load(x + row * cols + c);
    kw::store(y + row * cols + c, v <= 0 ? 0.0f : v);
  }
}
