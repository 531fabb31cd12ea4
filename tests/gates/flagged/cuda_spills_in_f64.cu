// op: relu
// gate: builds
// types: all
// Right; in f64, which is not the op's own type, it keeps more in registers than its threads have.
/* kw manifest
{
  "schema": 1,
  "name": "relu",
  "target": "cuda",
  "sizes": ["rows", "cols"],
  "types": {"T": ["f32", "f64"]},
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
              "launch": {"grid": ["ceil_div(rows*cols, 1024)"], "block": ["1024"]}
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

KW_KERNEL(1024, 1) void relu_forward(const T* x, T* y, int64_t rows, int64_t cols) {
  const int64_t n = rows * cols;
  const int64_t i = static_cast<int64_t>(kw::block()) * kw::threads() + kw::thread();
  if (i >= n) return;
  // Neighbours that nothing comes of, but no compiler can know.
  T kept[30];
  T least = 0;
  KW_UNROLL
  for (int k = 0; k < 30; ++k) {
    kept[k] = kw::load(x + (i + k) % n);
    least = kept[k] < least ? kept[k] : least;
  }
  int smaller = 0;
  KW_UNROLL
  for (int k = 0; k < 30; ++k) smaller += kept[k] < least ? 1 : 0;
  const T v = kept[0];
  kw::store(y + i, smaller > 0 ? T(1) : v <= 0 ? T(0) : v);
}
