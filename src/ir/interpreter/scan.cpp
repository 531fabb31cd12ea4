#include <algorithm>

#include "ir/interpreter/context.h"
#include "ir/interpreter/running.h"
#include "ir/interpreter/whole.h"

namespace kw::ir::interpreter {
namespace {

// Runs `State` along the scanned axis: each output is what the state says after (or, exclusive, before) its own
// element. A State has add(x, e), value() and spread(model).
template <class State>
Status scan_axis(WholeCall& call) {
  const ScanAttr& scan = call.node.as<ScanAttr>();
  const View &x = call.args[0], &result = call.result.view;
  const int64_t n = call.context.size(scan.axis);
  const int64_t from = x.stride(scan.axis), to = result.stride(scan.axis);
  const SumModel model = call.context.sum_model(call.context.dtype(call.node));
  std::vector<AxisId> others = call.node.axes;
  std::erase(others, scan.axis);
  const View* views[] = {&x, &result};
  for (Walk w = walk(call.context, others, views); !w.done(); w.next()) {
    State state;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = scan.reverse ? n - 1 - k : k;
      const int64_t in = w.offset(0) + i * from, out = w.offset(1) + i * to;
      const double bound = x.bounds ? x.bounds[in] : 0;
      if (!scan.exclusive) state.add(x.values[in], bound);
      call.result.values[out] = state.value();
      if (call.result.bounds) call.result.bounds[out] = state.spread(model);
      if (scan.exclusive) state.add(x.values[in], bound);
    }
  }
  return {};
}

}  // namespace

Status whole_cumsum(WholeCall& call) { return scan_axis<RunningSum>(call); }
Status whole_cumprod(WholeCall& call) { return scan_axis<RunningProduct>(call); }
Status whole_cummax(WholeCall& call) { return scan_axis<RunningExtreme<MaxFn>>(call); }
Status whole_cummin(WholeCall& call) { return scan_axis<RunningExtreme<MinFn>>(call); }
Status whole_cumlogsumexp(WholeCall& call) { return scan_axis<RunningLogSumExp>(call); }

}  // namespace kw::ir::interpreter
