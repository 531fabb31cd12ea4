#include <algorithm>

#include "ir/interpreter/context.h"
#include "ir/interpreter/running.h"
#include "ir/interpreter/whole.h"

namespace kw::ir::interpreter {
namespace {

// The run boundaries of one line of offsets, checked: they start at 0, never fall and end at the number of rows.
Status check_offsets(const WholeCall& call, const View& offsets, int64_t at, int64_t rows) {
  const SegmentAttr& segment = call.node.as<SegmentAttr>();
  const int64_t n = call.context.size(segment.offsets), stride = offsets.stride(segment.offsets);
  const std::string name = call.context.graph.axis(segment.offsets).name;
  double before = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double value = offsets.values[at + i * stride];
    const std::string place =
        "offset " + std::to_string(i) + " along " + name + " is " + std::to_string(static_cast<int64_t>(value));
    if (i == 0 && value != 0) return call.context.error(call.id, place + ", but runs start at 0");
    if (value < before)
      return call.context.error(
          call.id, place + ", less than the one before it, " + std::to_string(static_cast<int64_t>(before)));
    if (i + 1 == n && value != static_cast<double>(rows))
      return call.context.error(call.id, place + ", but the runs end at row " + std::to_string(rows));
    before = value;
  }
  return {};
}

// Calls body(offset of rows' line, offset of offsets' line, result offset) for every line.
template <class F>
Status for_each_line(WholeCall& call, const View& rows, const View& offsets, AxisId result_axis, F&& body) {
  const SegmentAttr& segment = call.node.as<SegmentAttr>();
  std::vector<AxisId> others = call.node.axes;
  std::erase(others, result_axis);
  const View* views[] = {&rows, &offsets, &call.result.view};
  for (Walk w = walk(call.context, others, views); !w.done(); w.next()) {
    KW_CHECK(check_offsets(call, offsets, w.offset(1), call.context.size(segment.rows)));
    body(w.offset(0), w.offset(1), w.offset(2));
  }
  return {};
}

template <class State>
Status reduce_segments(WholeCall& call) {
  const SegmentAttr& segment = call.node.as<SegmentAttr>();
  const View &rows = call.args[0], &offsets = call.args[1];
  const int64_t count = call.context.size(segment.segments);
  const SumModel model = call.context.sum_model(call.context.dtype(call.node));
  return for_each_line(call, rows, offsets, segment.segments, [&](int64_t from, int64_t starts, int64_t to) {
    const int64_t stride = offsets.stride(segment.offsets), row = rows.stride(segment.rows);
    for (int64_t s = 0; s < count; ++s) {
      const auto begin = static_cast<int64_t>(offsets.values[starts + s * stride]);
      const auto end = static_cast<int64_t>(offsets.values[starts + (s + 1) * stride]);
      State state;
      for (int64_t r = begin; r < end; ++r)
        state.add(rows.values[from + r * row], rows.bounds ? rows.bounds[from + r * row] : 0);
      const int64_t at = to + s * call.result.stride(segment.segments);
      call.result.values[at] = state.value();
      if (call.result.bounds) call.result.bounds[at] = state.spread(model);
    }
  });
}

}  // namespace

Status whole_segment_index(WholeCall& call) {
  const SegmentAttr& segment = call.node.as<SegmentAttr>();
  const View& offsets = call.args[0];
  const int64_t rows = call.context.size(segment.rows), count = call.context.size(segment.offsets) - 1;
  if (call.result.bounds) std::fill_n(call.result.bounds, call.result.count, 0.0);
  return for_each_line(call, offsets, offsets, segment.rows, [&](int64_t, int64_t starts, int64_t to) {
    const int64_t stride = offsets.stride(segment.offsets);
    int64_t s = 0;
    for (int64_t r = 0; r < rows; ++r) {
      while (s + 1 < count && static_cast<double>(r) >= offsets.values[starts + (s + 1) * stride]) ++s;
      call.result.values[to + r * call.result.stride(segment.rows)] = static_cast<double>(s);
    }
  });
}

Status whole_segment_sum(WholeCall& call) { return reduce_segments<RunningSum>(call); }
Status whole_segment_max(WholeCall& call) { return reduce_segments<RunningExtreme<MaxFn>>(call); }
Status whole_segment_min(WholeCall& call) { return reduce_segments<RunningExtreme<MinFn>>(call); }

}  // namespace kw::ir::interpreter
