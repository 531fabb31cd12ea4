#include <algorithm>

#include "ir/interpreter/context.h"
#include "ir/interpreter/group.h"
#include "ir/interpreter/running.h"
#include "ir/interpreter/whole.h"

namespace kw::ir::interpreter {
namespace {

// Which element of the axis a tap of a window reads; -1 outside or between dilated inputs.
struct WindowIndex {
  WindowAttr attr;
  int64_t pad_before, size;

  int64_t operator()(int64_t out, int64_t tap) const {
    const int64_t p = out * attr.stride + tap * attr.dilation - pad_before;
    if (p < 0 || p % attr.input_dilation != 0) return -1;
    const int64_t i = p / attr.input_dilation;
    return i < size ? i : -1;
  }
};

Result<WindowIndex> window_index(const WholeCall& call) {
  const WindowAttr& attr = call.node.as<WindowAttr>();
  KW_TRY(int64_t pad, call.context.sizes.value(call.context.graph, attr.pad_before));
  return WindowIndex{attr, pad, call.context.size(attr.axis)};
}

}  // namespace

Status whole_window(WholeCall& call) {
  KW_TRY(const WindowIndex index, window_index(call));
  const WindowAttr& attr = index.attr;
  const View &x = call.args[0], &result = call.result.view;
  double fill = *call.args[1].values, fill_bound = call.args[1].bounds ? *call.args[1].bounds : 0;
  const Conversion conversion = conversion_of(call.context, call.node, 1);
  if (conversion.to != DType::None) convert(conversion, &fill, call.result.bounds ? &fill_bound : nullptr, 1);
  const int64_t outs = call.context.size(attr.out), taps = call.context.size(attr.tap);
  const int64_t from = x.stride(attr.axis), to_out = result.stride(attr.out), to_tap = result.stride(attr.tap);
  std::vector<AxisId> others = call.node.axes;
  std::erase(others, attr.out);
  std::erase(others, attr.tap);
  const View* views[] = {&x, &result};
  for (Walk w = walk(call.context, others, views); !w.done(); w.next())
    for (int64_t out = 0; out < outs; ++out)
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t i = index(out, tap), to = w.offset(1) + out * to_out + tap * to_tap;
        const int64_t at = w.offset(0) + i * from;
        call.result.values[to] = i < 0 ? fill : x.values[at];
        if (call.result.bounds) call.result.bounds[to] = i < 0 ? fill_bound : x.bounds ? x.bounds[at] : 0;
      }
  return {};
}

Status whole_fold(WholeCall& call) {
  KW_TRY(const WindowIndex index, window_index(call));
  const WindowAttr& attr = index.attr;
  const View &y = call.args[0], &result = call.result.view;
  const int64_t outs = call.context.size(attr.out), taps = call.context.size(attr.tap);
  std::vector<RunningSum> sums;
  const SumModel model = call.context.sum_model(call.context.dtype(call.node));
  std::vector<AxisId> others = call.node.axes;
  std::erase(others, attr.axis);
  const View* views[] = {&y, &result};
  for (Walk w = walk(call.context, others, views); !w.done(); w.next()) {
    sums.assign(static_cast<size_t>(index.size), {});
    for (int64_t out = 0; out < outs; ++out)
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t i = index(out, tap);
        if (i < 0) continue;
        const int64_t at = w.offset(0) + out * y.stride(attr.out) + tap * y.stride(attr.tap);
        sums[static_cast<size_t>(i)].add(y.values[at], y.bounds ? y.bounds[at] : 0);
      }
    for (int64_t i = 0; i < index.size; ++i) {
      const int64_t to = w.offset(1) + i * result.stride(attr.axis);
      const RunningSum& sum = sums[static_cast<size_t>(i)];
      call.result.values[to] = sum.value();
      if (call.result.bounds) call.result.bounds[to] = sum.spread(model);
    }
  }
  return {};
}

}  // namespace kw::ir::interpreter
