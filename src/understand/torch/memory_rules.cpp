// Which rule the result of each operation follows, where it is not its family's.
#include <algorithm>

#include "understand/torch/memory_order.h"

namespace kw::understand {
namespace {

struct Row {
  std::string_view name;
  MemoryRule rule;
};

using enum MemoryRule;
constexpr Row kRows[] = {
    {"contiguous", Contiguous},
    {"clone", Clone},
    {"lift_fresh_copy", Clone},
    {"detach", Same},
    {"detach_", Same},
    {"data", Same},
    {"alias", Same},
    {"cuda", Same},
    {"cpu", Same},
    {"requires_grad_", Same},
    {"positive", Same},
    // Pointwise ops that do not follow their operands.
    {"masked_fill", Contiguous},
    {"rrelu", Contiguous},
    {"logsigmoid", Contiguous},
    {"log_sigmoid", Contiguous},
    // Other ops that do.
    {"normalize", Pointwise},
    {"flip", Pointwise},
    {"glu", Pointwise},
    {"diff", Pointwise},
    {"sort", Clone},
    {"sort.stable", Clone},
    {"argsort", Clone},
    {"argsort.stable", Clone},
    {"zeros_like", Clone},
    {"ones_like", Clone},
    {"full_like", Clone},
    {"empty_like", Clone},
    {"rand_like", Clone},
    // Written into the operand, or into a copy with its strides.
    {"setitem", Same},
    {"fill", Same},
    {"fill_", Same},
    {"copy", Same},
    {"copy_", Same},
    {"zero_", Same},
    {"select_scatter", Same},
    {"slice_scatter", Same},
    // Ops that keep channels-last and no other order.
    {"cat", Format},
    {"concat", Format},
    {"concatenate", Format},
    {"roll", Format},
    {"rms_norm", Format},
    {"group_norm", Format},
    {"batch_norm", Format},
    {"constant_pad_nd", Format},
    {"max_pool2d", Format},
    {"avg_pool2d", Format},
    {"adaptive_avg_pool2d", Format},
    // Views by name that copy.
    {"repeat", Contiguous},
    {"tile", Contiguous},
    {"repeat_interleave", Contiguous},
    {"stack", Contiguous},
    {"diagonal", Unknown},
    {"diag", Unknown},
    {"meshgrid", Unknown},
    {"linear", Contiguous},
    {"mm", Contiguous},
    {"addmm", Contiguous},
};

}  // namespace

MemoryRule memory_rule(std::string_view name, MemoryRule family) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& one) { return one.name == name; });
  return row == std::end(kRows) ? family : row->rule;
}

}  // namespace kw::understand
