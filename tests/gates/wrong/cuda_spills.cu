// op: relu
// gate: builds
// Right, but it keeps more in registers than its threads have.
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

KW_KERNEL(1024, 2) void relu_forward(const float* x, float* y, int64_t rows, int64_t cols) {
  const int64_t n = rows * cols;
  const int64_t i = static_cast<int64_t>(kw::block()) * kw::threads() + kw::thread();
  if (i >= n) return;
  // Neighbours that nothing comes of, but no compiler can know.
  float kept[48];
  float least = 0;
  KW_UNROLL
  for (int k = 0; k < 48; ++k) {
    kept[k] = kw::load(x + (i + k) % n);
    least = kept[k] < least ? kept[k] : least;
  }
  int smaller = 0;
  KW_UNROLL
  for (int k = 0; k < 48; ++k) smaller += kept[k] < least ? 1 : 0;
  const float v = kept[0];
  kw::store(y + i, smaller > 0 ? 1.0f : v <= 0 ? 0.0f : v);
}
