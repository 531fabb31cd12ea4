#include "ir/interpreter/context.h"
#include "ir/interpreter/philox.h"
#include "ir/interpreter/whole.h"

namespace kw::ir::interpreter {
namespace {

void set_exact(WholeCall& call) {
  if (call.result.bounds) std::fill_n(call.result.bounds, call.result.count, 0.0);
}

}  // namespace

Status whole_const(WholeCall& call) {
  *call.result.values = call.node.as<Literal>().number();
  set_exact(call);
  return {};
}

Status whole_size_of(WholeCall& call) {
  KW_TRY(int64_t value, call.context.sizes.value(call.context.graph, call.node.as<SizeAttr>().size));
  *call.result.values = static_cast<double>(value);
  set_exact(call);
  return {};
}

Status whole_iota(WholeCall& call) {
  for (int64_t i = 0; i < call.result.count; ++i) call.result.values[i] = static_cast<double>(i);
  set_exact(call);
  return {};
}

Status whole_random(WholeCall& call) {
  const std::vector<AxisId>& axes = call.node.as<AxisList>().axes;
  const auto seed = static_cast<uint64_t>(static_cast<int64_t>(*call.args[0].values));
  auto counter = static_cast<uint64_t>(static_cast<int64_t>(*call.args[1].values));
  const View* views[] = {&call.result.view};
  for (Walk w = walk(call.context, axes, views); !w.done(); w.next())
    call.result.values[w.offset(0)] = philox_uniform(seed, counter++);
  set_exact(call);
  return {};
}

}  // namespace kw::ir::interpreter
