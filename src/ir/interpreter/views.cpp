#include <algorithm>

#include "ir/interpreter/context.h"
#include "ir/interpreter/group.h"
#include "ir/interpreter/whole.h"

namespace kw::ir::interpreter {
namespace {

void replace_axis(View& view, AxisId from, AxisId to) {
  for (AxisId& axis : view.axes)
    if (axis == from) axis = to;
}

void drop_axis(View& view, AxisId axis) {
  for (size_t i = view.axes.size(); i-- > 0;)
    if (view.axes[i] == axis) {
      view.axes.erase(view.axes.begin() + static_cast<std::ptrdiff_t>(i));
      view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

void move_by(View& view, int64_t elements) {
  view.values += elements;
  if (view.bounds) view.bounds += elements;
}

std::vector<AxisId> without(std::vector<AxisId> axes, AxisId axis) {
  std::erase(axes, axis);
  return axes;
}

}  // namespace

Status view_broadcast(ViewCall&) { return {}; }  // an axis without a stride is a broadcast already

Status view_rename(ViewCall& call) {
  for (AxisId& axis : call.result.axes)
    for (auto [from, to] : call.node.as<RenameAttr>().pairs)
      if (axis == from) {
        axis = to;
        break;
      }
  return {};
}

Status view_slice(ViewCall& call) {
  const SliceAttr& slice = call.node.as<SliceAttr>();
  KW_TRY(int64_t start, call.context.sizes.value(call.context.graph, slice.start));
  const int64_t n = call.context.size(slice.to), whole = call.context.size(slice.from);
  const int64_t last = start + (n - 1) * slice.step;
  if (n > 0 && (start < 0 || start >= whole || last < 0 || last >= whole))
    return call.context.error(call.id, "indices " + std::to_string(start) + " to " + std::to_string(last) +
                                           " do not lie within " + call.context.graph.axis(slice.from).name +
                                           " of size " + std::to_string(whole));
  if (n > 0) move_by(call.result, start * call.operand.stride(slice.from));
  for (size_t i = 0; i < call.result.axes.size(); ++i)
    if (call.result.axes[i] == slice.from) call.result.strides[i] *= slice.step;
  replace_axis(call.result, slice.from, slice.to);
  return {};
}

Status view_split(ViewCall& call) {
  const SplitAttr& split = call.node.as<SplitAttr>();
  const auto& axes = call.operand.axes;
  if (std::find(axes.begin(), axes.end(), split.whole) == axes.end()) return {};  // broadcast along it
  const int64_t stride = call.operand.stride(split.whole);
  replace_axis(call.result, split.whole, split.inner);
  call.result.axes.push_back(split.outer);
  call.result.strides.push_back(stride * call.context.size(split.inner));
  return {};
}

Status view_merge(ViewCall& call) {
  const SplitAttr& split = call.node.as<SplitAttr>();
  const int64_t inner = call.context.size(split.inner), outer = call.context.size(split.outer);
  int64_t stride = call.operand.stride(split.inner);
  const int64_t outer_stride = call.operand.stride(split.outer);
  if (inner == 1) stride = outer_stride;
  if (inner > 1 && outer > 1 && outer_stride != stride * inner) {
    // Not one stride apart: lay the operand out so that they are.
    std::vector<AxisId> order;
    for (AxisId axis : call.context.ordered(call.context.graph[call.node.args[0]].axes))
      if (axis != split.outer && axis != split.inner) order.push_back(axis);
    order.insert(order.end(), {split.outer, split.inner});
    call.result = call.context.dense(call.operand, order).view;
    stride = 1;
  }
  drop_axis(call.result, split.outer);
  drop_axis(call.result, split.inner);
  if (stride != 0) {
    call.result.axes.push_back(split.whole);
    call.result.strides.push_back(stride);
  }
  return {};
}

namespace {

// Copies an operand to where the result holds it, in the result's type.
struct Placement {
  const View& from;
  int64_t start;              // in the result, in elements
  std::vector<int64_t> step;  // of the result, per axis of the operand
  std::vector<int64_t> read;  // of the operand, likewise
};

void place(WholeCall& call, size_t operand, const std::vector<AxisId>& axes, const Placement& placement) {
  Context& context = call.context;
  const View& from = placement.from;
  const Conversion conversion = conversion_of(context, call.node, operand);
  const bool converts = conversion.to != DType::None;
  for (Walk w(context.sizes_of(axes), {placement.read, placement.step}); !w.done(); w.next()) {
    double value = from.values[w.offset(0)], bound = from.bounds ? from.bounds[w.offset(0)] : 0;
    if (converts) convert(conversion, &value, call.result.bounds ? &bound : nullptr, 1);
    call.result.values[placement.start + w.offset(1)] = value;
    if (call.result.bounds) call.result.bounds[placement.start + w.offset(1)] = bound;
  }
}

}  // namespace

Status whole_pad(WholeCall& call) {
  const SliceAttr& pad = call.node.as<SliceAttr>();
  KW_TRY(int64_t start, call.context.sizes.value(call.context.graph, pad.start));
  const int64_t n = call.context.size(pad.from), whole = call.context.size(pad.to);
  if (n > 0 && (start < 0 || start + (n - 1) * pad.step >= whole))
    return call.context.error(call.id, "positions " + std::to_string(start) + " to " +
                                           std::to_string(start + (n - 1) * pad.step) + " do not lie within " +
                                           call.context.graph.axis(pad.to).name + " of size " + std::to_string(whole));
  const std::vector<AxisId>& all = call.node.axes;
  place(call, 1, all, {call.args[1], 0, strides_of(call.result.view, all), strides_of(call.args[1], all)});
  std::vector<AxisId> axes = call.context.graph[call.node.args[0]].axes;
  std::vector<int64_t> steps;
  for (AxisId axis : axes)
    steps.push_back(axis == pad.from ? call.result.stride(pad.to) * pad.step : call.result.stride(axis));
  place(call, 0, axes, {call.args[0], start * call.result.stride(pad.to), steps, strides_of(call.args[0], axes)});
  return {};
}

Status whole_concat(WholeCall& call) {
  const ConcatAttr& concat = call.node.as<ConcatAttr>();
  int64_t start = 0;
  const std::vector<AxisId> others = without(call.node.axes, concat.to);
  for (size_t i = 0; i < call.args.size(); ++i) {
    std::vector<AxisId> axes = others;
    axes.push_back(concat.from[i]);
    std::vector<int64_t> steps = strides_of(call.result.view, others);
    steps.push_back(call.result.stride(concat.to));
    // The axis that this part joins may be one that another part keeps: along that one this part is constant.
    std::vector<int64_t> read = strides_of(call.args[i], axes);
    for (size_t d = 0; d < others.size(); ++d)
      if (others[d] == concat.from[i]) read[d] = 0;
    place(call, i, axes, {call.args[i], start * call.result.stride(concat.to), steps, read});
    start += call.context.size(concat.from[i]);
  }
  return {};
}

}  // namespace kw::ir::interpreter
