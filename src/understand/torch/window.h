// Sliding windows over spatial dimensions: what convolutions and poolings share.
#pragma once

#include "understand/torch/call.h"
#include "understand/torch/formula.h"

namespace kw::understand {

// Stride, padding and dilation of each spatial dimension.
struct WindowShape {
  std::vector<int64_t> stride, padding, padding_after, dilation;
};

// A dimension that has an axis: one of size one gets an axis of size one.
TensorValue with_axis(TorchContext& context, const TensorValue& x, size_t position, std::string_view name);
// The reverse: an axis whose size is the constant 1 goes away.
TensorValue without_unit_axes(TorchContext& context, const TensorValue& x);

// (size + before + after - dilation*(taps - 1) - 1) // stride + 1
ir::Size window_count(const ir::Size& size, const ir::Size& taps, int64_t before, int64_t after, int64_t stride,
                      int64_t dilation);

// Windows of `taps` (an axis) along dimension `position`, which becomes the position of the window; beyond the edge
// stands `fill`.
Result<TensorValue> slide(TorchContext& context, const TensorValue& x, size_t position, ir::AxisId taps,
                          const ir::Size& count, int64_t stride, int64_t padding, int64_t dilation, double fill);

}  // namespace kw::understand
