// op: gated
// gate: error
// The forward leaves an input in a variable of the device for the backward, which may belong to another call.
/* kw manifest
{
  "schema": 1,
  "name": "gated",
  "target": "cuda",
  "sizes": ["rows", "cols"],
  "types": {"T": ["f32"]},
  "passes": [
    {
      "name": "forward",
      "buffers": [
        {"name": "a", "role": "input", "type": "T", "shape": ["rows", "cols"]},
        {"name": "b", "role": "input", "type": "T", "shape": ["rows", "cols"]},
        {"name": "y", "role": "output", "type": "T", "shape": ["rows", "cols"]}
      ],
      "steps": [
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "gated_forward",
              "file": "gated.cu",
              "arguments": [
                {"kind": "read", "of": "a"},
                {"kind": "read", "of": "b"},
                {"kind": "write", "of": "y"},
                {"kind": "size", "of": "rows", "type": "i64"},
                {"kind": "size", "of": "cols", "type": "i64"}
              ],
              "guards": ["dense(a)", "dense(b)"],
              "launch": {"grid": ["ceil_div(rows*cols, 128)"], "block": ["128"]}
            }
          ]
        }
      ]
    },
    {
      "name": "backward",
      "buffers": [
        {"name": "a", "role": "input", "type": "T", "shape": ["rows", "cols"]},
        {"name": "b", "role": "input", "type": "T", "shape": ["rows", "cols"]},
        {"name": "d_y", "role": "input", "type": "T", "shape": ["rows", "cols"], "gradient_of": "y"},
        {"name": "grad_a", "role": "output", "type": "T", "shape": ["rows", "cols"], "gradient_of": "a"},
        {"name": "grad_b", "role": "output", "type": "T", "shape": ["rows", "cols"], "gradient_of": "b"}
      ],
      "steps": [
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "gated_backward",
              "file": "gated.cu",
              "arguments": [
                {"kind": "read", "of": "a"},
                {"kind": "read", "of": "b"},
                {"kind": "read", "of": "d_y"},
                {"kind": "write", "of": "grad_a"},
                {"kind": "write", "of": "grad_b"},
                {"kind": "size", "of": "rows", "type": "i64"},
                {"kind": "size", "of": "cols", "type": "i64"}
              ],
              "guards": ["dense(a)", "dense(b)", "dense(d_y)"],
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

KW_DEVICE float sigmoid(float v) { return 1.0f / (1.0f + kw::exp(-v)); }

constexpr int64_t kKept = 1 << 16;
KW_DEVICE float kept[kKept];

KW_KERNEL(128, 1) void gated_forward(const float* a, const float* b, float* y, int64_t rows, int64_t cols) {
  const int64_t i = static_cast<int64_t>(kw::block()) * kw::threads() + kw::thread();
  if (i >= rows * cols) return;
  const float v = kw::load(a + i);
  if (i < kKept) kept[i] = v;
  kw::store(y + i, v * sigmoid(v) * kw::load(b + i));
}

KW_KERNEL(128, 1)
void gated_backward(const float* a, const float* b, const float* d_y, float* grad_a, float* grad_b, int64_t rows,
                    int64_t cols) {
  const int64_t i = static_cast<int64_t>(kw::block()) * kw::threads() + kw::thread();
  if (i >= rows * cols) return;
  const float v = i < kKept ? kept[i] : kw::load(a + i), s = sigmoid(v);
  kw::store(grad_b + i, kw::load(d_y + i) * (v * s));
  const float d = kw::load(d_y + i) * kw::load(b + i);
  kw::store(grad_a + i, d * s + d * v * s * (1 - s));
}
