// op: total
// gate: deterministic
// Blocks add to one sum in any order, and the manifest does not say so.
/* kw manifest
{
  "schema": 1,
  "name": "total",
  "target": "cuda",
  "sizes": ["rows", "cols"],
  "types": {"T": ["f32"]},
  "passes": [
    {
      "name": "forward",
      "buffers": [
        {"name": "x", "role": "input", "type": "T", "shape": ["rows", "cols"]},
        {"name": "y", "role": "output", "type": "T", "shape": ["cols"]}
      ],
      "steps": [
        {"kind": "fill", "buffer": "y", "value": 0},
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "total_forward",
              "file": "total.cu",
              "arguments": [
                {"kind": "read", "of": "x"},
                {"kind": "update", "of": "y"},
                {"kind": "size", "of": "rows", "type": "i64"},
                {"kind": "size", "of": "cols", "type": "i64"}
              ],
              "guards": ["dense(x)"],
              "launch": {"grid": ["8*cols"], "block": ["128"]}
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

// Eight blocks for each column: every thread adds its rows to the sum of all.
KW_KERNEL(128, 1) void total_forward(const float* x, float* y, int64_t rows, int64_t cols) {
  const int64_t column = kw::block() % cols, first = kw::block() / cols * kw::threads() + kw::thread();
  float sum = 0;
  for (int64_t r = first; r < rows; r += 8 * kw::threads()) sum += kw::load(x + r * cols + column);
  if (first < rows) kw::add_atomically(y + column, sum);
}
