// op: rms
// Right, for CUDA: what the wrong ones are made from.
/* kw manifest
{
  "schema": 1,
  "name": "rms",
  "target": "cuda",
  "sizes": ["rows", "cols"],
  "types": {"T": ["bf16"], "W": ["bf16"]},
  "scalars": [{"name": "eps", "type": "real", "default": "1e-3"}],
  "passes": [
    {
      "name": "forward",
      "buffers": [
        {"name": "x", "role": "input", "type": "T", "shape": ["rows", "cols"]},
        {"name": "w", "role": "input", "type": "W", "shape": ["cols"]},
        {"name": "y", "role": "output", "type": "T|W", "shape": ["rows", "cols"]}
      ],
      "steps": [
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "rms_forward",
              "file": "rms.cu",
              "arguments": [
                {"kind": "read", "of": "x"},
                {"kind": "read", "of": "w"},
                {"kind": "write", "of": "y"},
                {"kind": "size", "of": "rows", "type": "i64"},
                {"kind": "size", "of": "cols", "type": "i64"},
                {"kind": "scalar", "of": "eps", "type": "f32"}
              ],
              "guards": ["dense(x)", "dense(w)"],
              "launch": {"grid": ["rows"], "block": ["64"]}
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
using W = KW_W;

// A block for each row: every thread sums some squares, then every one the threads.
KW_KERNEL(64, 1) void rms_forward(const T* x, const W* w, T* y, int64_t rows, int64_t cols, float eps) {
  KW_SHARED(float, parts, 64);
  const T* const row = x + kw::block() * cols;
  float sum = 0;
  for (int64_t c = kw::thread(); c < cols; c += kw::threads()) {
    const float v = static_cast<float>(kw::load(row + c));
    sum += v * v;
  }
  parts[kw::thread()] = sum;
  kw::barrier();
  float all = 0;
  for (int t = 0; t < 64; ++t) all += parts[t];
  const float rstd = 1.0f / kw::sqrt(all / static_cast<float>(cols) + eps);
  for (int64_t c = kw::thread(); c < cols; c += kw::threads()) {
    const float normal = static_cast<float>(kw::load(row + c)) * rstd;
    kw::store(y + kw::block() * cols + c, T(static_cast<float>(T(normal)) * static_cast<float>(kw::load(w + c))));
  }
}
