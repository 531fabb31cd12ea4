// op: relu
// gate: written
// A block has all of a row as long as it grows with it, which is up to 262144 elements; what a longer row has beyond them is
// left unfinished.
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
              "launch": {"grid": ["rows"], "block": ["32*min(32, max(1, ceil_div(cols, 8192)))"]}
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

KW_KERNEL(1024, 1) void relu_forward(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < 256; ++i) {
    const int64_t c = i * kw::threads() + kw::thread();
    if (c >= cols) return;
    const float v = kw::load(x + kw::block() * cols + c);
    kw::store(y + kw::block() * cols + c, v <= 0 ? 0.0f : v);
  }
}
