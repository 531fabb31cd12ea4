#include "example_manifest.h"

#include <gtest/gtest.h>

namespace kw::kernel {

const char* const kNormJson = R"json({
  "schema": 1,
  "name": "rms_norm",
  "target": "cpu",
  "generator": "by hand",
  "sizes": ["rows", "cols"],
  "types": {"T": ["bf16", "f16", "f32"], "W": ["f32"]},
  "scalars": [{"name": "eps", "type": "real", "default": "1e-6"}],
  "constraints": ["cols % 2 == 0"],
  "passes": [
    {
      "name": "forward",
      "buffers": [
        {"name": "x", "role": "input", "type": "T", "shape": ["rows", "cols"]},
        {"name": "w", "role": "input", "type": "W", "shape": ["cols"]},
        {"name": "y", "role": "output", "type": "T", "shape": ["rows", "cols"]},
        {"name": "rstd", "role": "saved", "type": "T|f32", "shape": ["rows"]}
      ],
      "steps": [
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "norm_fast",
              "file": "norm.cpp",
              "arguments": [
                {"kind": "read", "of": "x"},
                {"kind": "read", "of": "w"},
                {"kind": "write", "of": "y"},
                {"kind": "write", "of": "rstd"},
                {"kind": "size", "of": "rows", "type": "i32"},
                {"kind": "size", "of": "cols", "type": "i32"},
                {"kind": "scalar", "of": "eps", "type": "f32"}
              ],
              "guards": ["dense(x)", "aligned(x, 16)", "cols % 8 == 0"]
            },
            {
              "symbol": "norm_general",
              "file": "norm.cpp",
              "arguments": [
                {"kind": "read", "of": "x"},
                {"kind": "read", "of": "w"},
                {"kind": "write", "of": "y"},
                {"kind": "write", "of": "rstd"},
                {"kind": "size", "of": "rows"},
                {"kind": "size", "of": "cols"},
                {"kind": "stride", "of": "x", "dimension": 0},
                {"kind": "stride", "of": "x", "dimension": 1},
                {"kind": "scalar", "of": "eps", "type": "T|f32"}
              ]
            }
          ]
        }
      ]
    },
    {
      "name": "backward",
      "buffers": [
        {"name": "dy", "role": "input", "type": "T", "shape": ["rows", "cols"], "gradient_of": "y"},
        {"name": "x", "role": "input", "type": "T", "shape": ["rows", "cols"]},
        {"name": "w", "role": "input", "type": "W", "shape": ["cols"]},
        {"name": "rstd", "role": "input", "type": "T|f32", "shape": ["rows"]},
        {"name": "dx", "role": "output", "type": "T", "shape": ["rows", "cols"], "alias": "dy"},
        {"name": "dw", "role": "output", "type": "W", "shape": ["cols"], "gradient_of": "w"},
        {"name": "partial", "role": "workspace", "type": "f32", "shape": ["min(rows, 8)", "cols"]}
      ],
      "steps": [
        {"kind": "fill", "buffer": "partial", "value": 0},
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "norm_backward",
              "file": "norm.cpp",
              "arguments": [
                {"kind": "read", "of": "dy"},
                {"kind": "read", "of": "x"},
                {"kind": "read", "of": "w"},
                {"kind": "read", "of": "rstd"},
                {"kind": "write", "of": "dx"},
                {"kind": "update", "of": "partial"},
                {"kind": "size", "of": "rows"},
                {"kind": "size", "of": "cols"},
                {"kind": "size", "of": "min(rows, 8)"}
              ]
            }
          ]
        },
        {
          "kind": "kernel",
          "entries": [
            {
              "symbol": "norm_backward_finish",
              "file": "finish.cpp",
              "arguments": [
                {"kind": "read", "of": "partial"},
                {"kind": "write", "of": "dw"},
                {"kind": "size", "of": "min(rows, 8)"},
                {"kind": "size", "of": "cols"}
              ]
            }
          ]
        }
      ]
    }
  ]
}
)json";

Manifest norm_manifest() {
  auto manifest = manifest_from_json(kNormJson, "manifest.json");
  EXPECT_TRUE(manifest) << (manifest ? "" : render(manifest.error()));
  return manifest.value_or(Manifest{});
}

std::string norm_json_with(const std::string& from, const std::string& to) {
  std::string text = kNormJson;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}  // namespace kw::kernel
