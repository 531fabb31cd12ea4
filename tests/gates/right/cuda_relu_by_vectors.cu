// op: relu
// Right, for CUDA, by vectors that a thread keeps: what wrong ones are made from.
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
              "launch": {"grid": ["ceil_div(rows*cols, 256)"], "block": ["32"]}
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

KW_KERNEL(32, 1) void relu_forward(const float* x, float* y, int64_t rows, int64_t cols) {
  const int64_t n = rows * cols, first = static_cast<int64_t>(kw::block()) * 256;
  kw::Vector<float, 4> x_v[2];
  for (int v = 0; v < 2; ++v) {
    const int64_t element = first + (v * 32 + kw::thread()) * 4;
    if (element >= n) continue;
    kw::Vector<float, 4> one;
    for (int k = 0; k < 4; ++k) one[k] = element + k < n ? kw::load(x + element + k) : 0.0f;
    x_v[v] = one;
  }
  for (int v = 0; v < 2; ++v) {
    const int64_t element = first + (v * 32 + kw::thread()) * 4;
    kw::Vector<float, 4> y_v;
    for (int k = 0; k < 4; ++k) y_v[k] = x_v[v][k] <= 0 ? 0.0f : x_v[v][k];
    for (int k = 0; k < 4; ++k)
      if (element + k < n) kw::store(y + element + k, y_v[k]);
  }
}
