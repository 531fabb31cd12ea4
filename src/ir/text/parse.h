// Reads the text form of the math (docs/math.md):
//
//   op rms_norm(x: T[rows, cols], w: W[cols]; eps = 1e-6, offset = 0)
//     ms   = mean(f32(x)^2, cols)
//     rstd = rsqrt(ms + eps)
//     y    = T(f32(x) * rstd) * (offset + w)
//   return y
//
// It is the inverse of print.h: parse(print(g)) is g with nodes, axes and symbols numbered in the order of the text.
// Every error has its place in the text; every node has its line and column as origin.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace kw::ir::text {

inline constexpr DType kDefaultType = DType::BF16;  // of a type parameter that no `types` line sets

Result<Graph> parse(std::string_view text, const std::string& file = "math");

}  // namespace kw::ir::text
