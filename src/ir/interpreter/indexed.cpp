#include <algorithm>

#include "ir/interpreter/context.h"
#include "ir/interpreter/group.h"
#include "ir/interpreter/whole.h"

namespace kw::ir::interpreter {
namespace {

Failure out_of_range(const WholeCall& call, AxisId axis, double index) {
  return call.context.error(call.id, "index " + std::to_string(static_cast<int64_t>(index)) + " is out of range for " +
                                         call.context.graph.axis(axis).name + " of size " +
                                         std::to_string(call.context.size(axis)));
}

bool within(double index, int64_t size) { return index >= 0 && index < static_cast<double>(size); }

// How far the gathered value may move when its index may: over every element that the index might name.
double gather_bound(const View& data, int64_t first, int64_t stride, int64_t size, double index, double spread) {
  const auto at = static_cast<int64_t>(index);
  const double value = data.values[first + at * stride];
  if (spread == 0) return data.bounds ? data.bounds[first + at * stride] : 0;
  const auto low = static_cast<int64_t>(std::max(0.0, index - spread));
  const auto high = static_cast<int64_t>(std::min(static_cast<double>(size - 1), index + spread));
  double bound = 0;
  for (int64_t i = low; i <= high; ++i)
    bound = std::max(bound,
                     gap(data.values[first + i * stride], value) + (data.bounds ? data.bounds[first + i * stride] : 0));
  return bound;
}

std::vector<AxisId> united(const std::vector<AxisId>& a, const std::vector<AxisId>& b) {
  std::vector<AxisId> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

}  // namespace

Status whole_gather(WholeCall& call) {
  const AxisId axis = call.node.as<AxisList>().axes[0];
  const View &data = call.args[0], &index = call.args[1];
  const int64_t size = call.context.size(axis), stride = data.stride(axis);
  const std::vector<AxisId> axes = call.context.ordered(call.node.axes);
  // The indexed axis may also be one of the index's own: there it numbers results, not data.
  std::vector<int64_t> data_strides = strides_of(data, axes);
  for (size_t d = 0; d < axes.size(); ++d)
    if (axes[d] == axis) data_strides[d] = 0;
  Walk w(call.context.sizes_of(axes),
         {std::move(data_strides), strides_of(index, axes), strides_of(call.result.view, axes)});
  for (; !w.done(); w.next()) {
    const double i = index.values[w.offset(1)];
    if (!within(i, size)) return out_of_range(call, axis, i);
    call.result.values[w.offset(2)] = data.values[w.offset(0) + static_cast<int64_t>(i) * stride];
    if (call.result.bounds)
      call.result.bounds[w.offset(2)] =
          gather_bound(data, w.offset(0), stride, size, i, index.bounds ? index.bounds[w.offset(1)] : 0);
  }
  return {};
}

namespace {

// A value on its way to its place: scatters visit theirs in ascending order of axis ids, the last varying fastest.
struct Scatter {
  AxisId axis;
  std::vector<AxisId> walked;                 // every axis of index and value, and the base's they broadcast over
  std::vector<int64_t> index, value, result;  // strides over `walked`
};

Scatter scatter_of(const WholeCall& call) {
  const Graph& graph = call.context.graph;
  Scatter scatter{.axis = call.node.as<AxisList>().axes[0], .walked = {}, .index = {}, .value = {}, .result = {}};
  const std::vector<AxisId> sources = united(graph[call.node.args[1]].axes, graph[call.node.args[2]].axes);
  std::vector<AxisId> batch = call.node.axes;
  std::erase(batch, scatter.axis);
  scatter.walked = united(sources, batch);
  scatter.index = strides_of(call.args[1], scatter.walked);
  scatter.value = strides_of(call.args[2], scatter.walked);
  scatter.result = strides_of(call.result.view, scatter.walked);
  for (size_t d = 0; d < scatter.walked.size(); ++d)
    if (scatter.walked[d] == scatter.axis) scatter.result[d] = 0;
  return scatter;
}

// Calls body(result offset, value, bound, index is uncertain) for every value.
template <class F>
Status for_each_value(WholeCall& call, F&& body) {
  const Scatter scatter = scatter_of(call);
  const View &index = call.args[1], &value = call.args[2];
  const int64_t size = call.context.size(scatter.axis), stride = call.result.stride(scatter.axis);
  const Conversion conversion = conversion_of(call.context, call.node, 2);
  Walk w(call.context.sizes_of(scatter.walked), {scatter.index, scatter.value, scatter.result});
  for (; !w.done(); w.next()) {
    const double i = index.values[w.offset(0)];
    if (!within(i, size)) return out_of_range(call, scatter.axis, i);
    double x = value.values[w.offset(1)], e = value.bounds ? value.bounds[w.offset(1)] : 0;
    if (conversion.to != DType::None) convert(conversion, &x, call.result.bounds ? &e : nullptr, 1);
    const bool uncertain = index.bounds && index.bounds[w.offset(0)] > 0;
    body(w.offset(2) + static_cast<int64_t>(i) * stride, x, e, uncertain);
    if (uncertain && call.result.bounds)  // it may land anywhere along the axis
      for (int64_t j = 0; j < size; ++j) call.result.bounds[w.offset(2) + j * stride] = kInfinity;
  }
  return {};
}

void start_from_base(WholeCall& call) {
  const Store base = call.context.dense(call.args[0], call.result.view.axes);
  std::copy_n(base.values, base.count, call.result.values);
  if (call.result.bounds) std::copy_n(base.bounds, base.count, call.result.bounds);
}

}  // namespace

Status whole_scatter_add(WholeCall& call) {
  start_from_base(call);
  std::vector<RunningSum> sums(static_cast<size_t>(call.result.count));
  for (int64_t i = 0; i < call.result.count; ++i)
    sums[static_cast<size_t>(i)].add(call.result.values[i], call.result.bounds ? call.result.bounds[i] : 0);
  KW_CHECK(
      for_each_value(call, [&](int64_t to, double x, double e, bool) { sums[static_cast<size_t>(to)].add(x, e); }));
  const SumModel model = call.context.sum_model(call.context.dtype(call.node));
  for (int64_t i = 0; i < call.result.count; ++i) {
    const RunningSum& sum = sums[static_cast<size_t>(i)];
    call.result.values[i] = sum.value();
    if (call.result.bounds) call.result.bounds[i] = std::isinf(call.result.bounds[i]) ? kInfinity : sum.spread(model);
  }
  return {};
}

Status whole_scatter_set(WholeCall& call) {
  start_from_base(call);
  return for_each_value(call, [&](int64_t to, double x, double e, bool) {
    call.result.values[to] = x;
    if (call.result.bounds && std::isfinite(call.result.bounds[to])) call.result.bounds[to] = e;
  });
}

}  // namespace kw::ir::interpreter
