#include "understand/torch/window.h"

namespace kw::understand {

using ir::AxisId;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;

TensorValue with_axis(TorchContext& context, const TensorValue& x, size_t position, std::string_view name) {
  if (x.dims[position] != kUnit) return x;
  AxisId one = context.builder.axis_like(kUnit, name, Size(1));
  TensorValue out{context.builder.broadcast(x.node, {one}), x.dims};
  out.dims[position] = one;
  return out;
}

TensorValue without_unit_axes(TorchContext& context, const TensorValue& x) {
  TensorValue out{x.node, x.dims};
  for (AxisId& axis : out.dims) {
    if (axis == kUnit || context.builder.graph().axis(axis).size != Size(1)) continue;
    out.node = context.builder.make(Op::Gather, {out.node, context.builder.integer(0)}, ir::AxisList{{axis}});
    axis = kUnit;
  }
  return out;
}

Size window_count(const Size& size, const Size& taps, int64_t before, int64_t after, int64_t stride, int64_t dilation) {
  return floor_div(size + Size(before + after) - Size(dilation) * (taps - Size(1)) - Size(1), Size(stride)) + Size(1);
}

Result<TensorValue> slide(TorchContext& context, const TensorValue& x, size_t position, AxisId taps, const Size& count,
                          int64_t stride, int64_t padding, int64_t dilation, double fill) {
  ir::GraphBuilder& builder = context.builder;
  TensorValue out = with_axis(context, x, position, "point" + std::to_string(position));
  AxisId axis = out.dims[position];
  auto hint = builder.graph().hinted(count);
  if (hint && *hint < 1)
    return bad_input("the window of " + builder.graph().size_text(builder.graph().axis(taps).size) +
                     " is longer than the padded dimension of size " +
                     builder.graph().size_text(builder.graph().axis(axis).size));
  std::string key =
      "windows " + std::to_string(stride) + " " + std::to_string(padding) + " " + std::to_string(dilation);
  AxisId moved = builder.axis_like(axis, key, count);
  KW_TRY(out.node, builder.try_make(Op::Window, {out.node, builder.constant(fill)},
                                    ir::WindowAttr{axis, moved, taps, stride, dilation, Size(padding), 1}));
  out.dims[position] = moved;
  return out;
}

}  // namespace kw::understand
