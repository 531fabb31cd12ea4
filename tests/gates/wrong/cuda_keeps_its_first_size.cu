// op: total
// gate: fresh
// Every thread sums as many rows as there were when it ran first.
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
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "total_forward",
              "file": "total.cu",
              "arguments": [
                {"kind": "read", "of": "x"},
                {"kind": "write", "of": "y"},
                {"kind": "size", "of": "rows", "type": "i64"},
                {"kind": "size", "of": "cols", "type": "i64"}
              ],
              "guards": ["dense(x)"],
              "launch": {"grid": ["cols"], "block": ["128"]}
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

// A block for each column: every thread sums some rows, thread 0 the threads.
KW_KERNEL(128, 1) void total_forward(const float* x, float* y, int64_t rows, int64_t cols) {
  KW_SHARED(float, parts, 128);
  constexpr int64_t kKept = 1 << 20;
  static int64_t first_rows[kKept];
  const int64_t self = static_cast<int64_t>(kw::block()) * kw::threads() + kw::thread();
  if (self < kKept && first_rows[self] == 0) first_rows[self] = rows;
  const int64_t end = self < kKept && first_rows[self] < rows ? first_rows[self] : rows;
  float sum = 0;
  for (int64_t r = kw::thread(); r < end; r += kw::threads()) sum += kw::load(x + r * cols + kw::block());
  parts[kw::thread()] = sum;
  kw::barrier();
  if (kw::thread() > 0) return;
  float all = 0;
  for (int t = 0; t < 128; ++t) all += parts[t];
  kw::store(y + kw::block(), all);
}
