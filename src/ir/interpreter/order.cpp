#include <algorithm>
#include <numeric>

#include "ir/interpreter/context.h"
#include "ir/interpreter/whole.h"

namespace kw::ir::interpreter {
namespace {

// One line of the operand along the ordered axis.
struct Line {
  const double* values;
  const double* bounds;
  int64_t stride, n;

  double value(int64_t i) const { return values[i * stride]; }
  double bound(int64_t i) const { return bounds ? bounds[i * stride] : 0; }
};

// NaN counts as larger than every number, as in PyTorch.
bool less(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

// Calls body(line, first output offset, output stride) for every line.
template <class F>
void for_each_line(WholeCall& call, AxisId axis, AxisId to, F&& body) {
  const View &x = call.args[0], &result = call.result.view;
  std::vector<AxisId> others = call.context.graph[call.node.args[0]].axes;
  std::erase(others, axis);
  const View* views[] = {&x, &result};
  const int64_t stride = to == kUnit ? 0 : result.stride(to);
  for (Walk w = walk(call.context, others, views); !w.done(); w.next())
    body(Line{x.values + w.offset(0), x.bounds ? x.bounds + w.offset(0) : nullptr, x.stride(axis),
              call.context.size(axis)},
         w.offset(1), stride);
}

// How far the index of the extreme may move: over every element that could be the extreme too.
double extreme_index_bound(const Line& line, int64_t best, double sign) {
  double farthest = 0;
  const double least = sign * line.value(best) - line.bound(best);
  for (int64_t i = 0; i < line.n; ++i) {
    if (line.bound(i) + line.bound(best) == 0) continue;
    if (sign * line.value(i) + line.bound(i) >= least)
      farthest = std::max(farthest, std::fabs(static_cast<double>(i - best)));
  }
  return farthest;
}

Status arg_extreme(WholeCall& call, bool largest) {
  const AxisId axis = call.node.as<AxisList>().axes[0];
  if (call.context.size(axis) == 0 && call.result.count > 0)
    return call.context.error(call.id, "the axis " + call.context.graph.axis(axis).name + " is empty");
  for_each_line(call, axis, kUnit, [&](const Line& line, int64_t to, int64_t) {
    int64_t best = 0;
    for (int64_t i = 1; i < line.n; ++i) {
      const double x = line.value(i), incumbent = line.value(best);
      if (std::isnan(incumbent)) break;
      if (std::isnan(x) || (largest ? x > incumbent : x < incumbent)) best = i;
    }
    call.result.values[to] = static_cast<double>(best);
    if (call.result.bounds) call.result.bounds[to] = extreme_index_bound(line, best, largest ? 1 : -1);
  });
  return {};
}

struct Ordering {
  AxisId axis, to;
  bool descending;
  bool indices;
};

// Stable, so that of equal values the first comes first in either direction.
Status order_lines(WholeCall& call, const Ordering& ordering) {
  const int64_t kept = call.context.size(ordering.to);
  if (kept > call.context.size(ordering.axis))
    return call.context.error(
        call.id, std::to_string(kept) + " of only " + std::to_string(call.context.size(ordering.axis)) + " values");
  std::vector<int64_t> order;
  for_each_line(call, ordering.axis, ordering.to, [&](const Line& line, int64_t to, int64_t stride) {
    order.resize(static_cast<size_t>(line.n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return ordering.descending ? less(line.value(b), line.value(a)) : less(line.value(a), line.value(b));
    });
    for (int64_t i = 0; i < kept; ++i) {
      const int64_t at = order[static_cast<size_t>(i)];
      call.result.values[to + i * stride] = ordering.indices ? static_cast<double>(at) : line.value(at);
    }
    if (!call.result.bounds) return;
    // Sorting moves no value by more than the largest change of any; an index may be that of any value so near.
    double widest = 0;
    for (int64_t i = 0; i < line.n; ++i) widest = std::max(widest, line.bound(i));
    for (int64_t i = 0; i < kept; ++i) {
      double bound = widest;
      if (ordering.indices && widest > 0) {
        bound = 0;
        const int64_t at = order[static_cast<size_t>(i)];
        for (int64_t step : {-1, 1})
          for (int64_t j = i + step; j >= 0 && j < line.n; j += step) {
            const int64_t other = order[static_cast<size_t>(j)];
            if (gap(line.value(other), line.value(at)) > 2 * widest) break;
            bound = std::max(bound, std::fabs(static_cast<double>(other - at)));
          }
      }
      call.result.bounds[to + i * stride] = bound;
    }
  });
  return {};
}

}  // namespace

Status whole_arg_max(WholeCall& call) { return arg_extreme(call, true); }
Status whole_arg_min(WholeCall& call) { return arg_extreme(call, false); }

Status whole_sort(WholeCall& call) {
  const SortAttr& sort = call.node.as<SortAttr>();
  return order_lines(call, {sort.axis, sort.axis, sort.descending, false});
}
Status whole_arg_sort(WholeCall& call) {
  const SortAttr& sort = call.node.as<SortAttr>();
  return order_lines(call, {sort.axis, sort.axis, sort.descending, true});
}
Status whole_top_k(WholeCall& call) {
  const TopKAttr& top = call.node.as<TopKAttr>();
  return order_lines(call, {top.axis, top.to, top.largest, false});
}
Status whole_arg_top_k(WholeCall& call) {
  const TopKAttr& top = call.node.as<TopKAttr>();
  return order_lines(call, {top.axis, top.to, top.largest, true});
}

}  // namespace kw::ir::interpreter
